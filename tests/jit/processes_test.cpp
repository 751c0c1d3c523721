// Several processes on one store. Children are this program again (`--child ...`), because a fresh process is the
// point: forked ones would inherit a loaded NVRTC.
#include "jit/jit.hpp"
#include "jit/tiny_kernel.hpp"
#include "support/files.hpp"
#include "support/nvrtc.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <thread>
#include <vector>

namespace hstujit {
namespace {

// A child's exit status: how often it compiled, and what went wrong or was seen.
constexpr int kCompilesMask = 0x0f, kNvrtcLoaded = 0x10, kFailed = 0x20;

struct Task {
  std::string store, kernels, gate;  ///< gate: start work when this file exists; "" at once
  int threads = 1;
};

bool nvrtc_is_mapped() {
  std::string maps;
  read_file("/proc/self/maps", maps);
  return maps.find("libnvrtc.so") != std::string::npos;
}

void wait_for(const std::string& gate) {
  FileStamp stamp;
  while (!gate.empty() && stamp_of(gate, stamp) != 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

// All threads ask for the same kernel at once.
int work(const Task& task) {
  Jit jit({.store_path = task.store,
           .system_store_path = "",
           .kernels_path = task.kernels,
           .nvrtc_path = Environment::read().libnvrtc});
  wait_for(task.gate);
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < task.threads; ++i)
    threads.emplace_back([&] {
      try {
        if (jit.obtain(test::TinyKernels::source(1))->binary.empty()) ++failures;
      } catch (const Error&) { ++failures; }
    });
  for (std::thread& thread : threads) thread.join();
  return static_cast<int>(jit.counters().compiles & kCompilesMask) | (nvrtc_is_mapped() ? kNvrtcLoaded : 0) |
         (failures ? kFailed : 0);
}

pid_t start(const Task& task) {
  const std::string threads = std::to_string(task.threads);
  const pid_t child = fork();
  if (child != 0) return child;
  execl("/proc/self/exe", "jit_test", "--child", task.store.c_str(), task.kernels.c_str(), task.gate.c_str(),
        threads.c_str(), nullptr);
  _exit(kFailed);
}

int status_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : kFailed;
}

class Processes : public testing::Test {
 protected:
  void SetUp() override { HSTU_NEEDS_NVRTC(); }
  Task task(int threads) const { return {dir_.str() + "/store", kernels_.folder(), dir_.str() + "/gate", threads}; }
  void open_gate() const { test::write_file(task(1).gate, ""); }

  test::TinyKernels kernels_;
  test::TempDir dir_;
};

TEST_F(Processes, ColdStormCompilesExactlyOnce) {
  std::vector<pid_t> children;
  for (int i = 0; i < 16; ++i) children.push_back(start(task(8)));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // most wait at the gate by now
  open_gate();
  int compiles = 0;
  for (const pid_t child : children) {
    const int status = status_of(child);
    EXPECT_FALSE(status & kFailed);
    compiles += status & kCompilesMask;
  }
  EXPECT_EQ(compiles, 1);
}

// Nobody can write, nor take a lock: everybody compiles for itself, once a process, and nobody fails.
TEST_F(Processes, ColdStormWithoutAStoreFailsNobody) {
  test::write_file(dir_.path() / "file", "not a folder");
  Task nowhere = task(8);
  nowhere.store = dir_.str() + "/file/store";
  open_gate();
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) children.push_back(start(nowhere));
  for (const pid_t child : children) EXPECT_EQ(status_of(child), 1 | kNvrtcLoaded);
}

TEST_F(Processes, WarmStartDoesNotLoadNvrtc) {
  open_gate();
  EXPECT_EQ(status_of(start(task(1))), 1 | kNvrtcLoaded);
  EXPECT_EQ(status_of(start(task(4))), 0);
}

TEST_F(Processes, AKilledCompilerHoldsNobodyUp) {
  open_gate();
  for (int i = 0; i < 10; ++i) {
    const pid_t victim = start(task(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(20 + 10 * i));
    kill(victim, SIGKILL);
    status_of(victim);
    const int status = status_of(start(task(2)));
    EXPECT_FALSE(status & kFailed);
    EXPECT_LE(status & kCompilesMask, 1);
    std::filesystem::remove_all(task(1).store + "/kernels");
  }
}

}  // namespace

int run_child(char** arguments) { return work({arguments[0], arguments[1], arguments[2], std::atoi(arguments[3])}); }

}  // namespace hstujit

// Used instead of GoogleTest's own, for the whole program.
int main(int count, char** arguments) {
  if (count == 6 && std::string(arguments[1]) == "--child") return hstujit::run_child(arguments + 2);
  testing::InitGoogleTest(&count, arguments);
  return RUN_ALL_TESTS();
}
