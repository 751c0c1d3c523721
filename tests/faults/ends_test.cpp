// Main returns while kernels are compiled behind it, and processes are copied while threads are inside: the end is
// orderly, and the copy can go on.
#include "support/nvrtc.hpp"
#include "support/temp_dir.hpp"
#include "support/tool_process.hpp"

#include <hstujit/hstujit.h>

#include <execinfo.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace hstujit::test {
namespace {

using std::chrono::milliseconds;

hstu_context* context_on(const char* device, const std::string& store, hstu_miss_policy policy = HSTU_MISS_DEFAULT) {
  hstu_context_options options{};
  options.struct_size = sizeof options;
  options.device = device;
  options.store_path = store.c_str();
  options.system_store_path = "";
  options.miss_policy = policy;
  hstu_context* context = nullptr;
  return hstu_context_create(&context, &options) == HSTU_OK ? context : nullptr;
}

/// Needs no memory behind its tensors on a device that computes nothing.
hstu_status norm(hstu_context* context, int64_t dim) {
  hstu_layer_norm_args args{};
  args.struct_size = sizeof args;
  args.x = hstu_matrix(reinterpret_cast<void*>(uintptr_t{1} << 40), HSTU_DTYPE_BF16, 4, dim);
  args.out = hstu_matrix(reinterpret_cast<void*>(uintptr_t{1} << 41), HSTU_DTYPE_BF16, 4, dim);
  return hstu_layer_norm(context, &args, nullptr);
}

/// Wait status of a child process that runs this, for 30 seconds at most.
template <class Body>
int status_of_child(const Body& body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(30);
    body();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

std::string text_of(int status) {
  return WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "exit " + std::to_string(WEXITSTATUS(status));
}

/// Looked for in a child, since nothing of the library may have begun in this process.
bool child_has_nvrtc() {
  return status_of_child([] { _exit(has_nvrtc() ? 0 : 1); }) == 0;
}

constexpr int kExits = 40;

/// main's end after so many of these milliseconds: from before NVRTC is open to the third kernel.
milliseconds moment(int exit) { return milliseconds(exit * 9); }

TEST(ReturnFromMain, WaitsForWhatTheBackgroundCompiles) {
  if (!child_has_nvrtc()) GTEST_SKIP() << "NVRTC is not installed";
  for (int i = 0; i < kExits; ++i) {
    const int status = status_of_child([&] {
      setenv("HSTUJIT_LIBCUDA", fake_driver_path().c_str(), 1);
      hstu_context* const context = context_on("cuda:0", "", HSTU_MISS_ASYNC);
      for (int64_t dim = 64; dim <= 512; dim += 64)
        if (norm(context, dim) != HSTU_ERROR_NOT_READY) _exit(9);
      std::this_thread::sleep_for(moment(i));
      std::exit(0);
    });
    EXPECT_EQ(status, 0) << "exit " << i << ": " << text_of(status);
  }
}

TEST(ReturnFromMain, WaitsForCallsOfOtherThreads) {
  if (!child_has_nvrtc()) GTEST_SKIP() << "NVRTC is not installed";
  for (int i = 0; i < kExits / 4; ++i) {
    const int status = status_of_child([&] {
      hstu_context* const context = context_on("sm_90a", "");
      for (int t = 0; t < 2; ++t)
        std::thread([=] {
          for (int64_t dim = 64 + t; dim < 1000; dim += 8)
            if (const hstu_status got = norm(context, dim); got != HSTU_OK && got != HSTU_ERROR_NOT_READY) _exit(9);
        }).detach();
      std::this_thread::sleep_for(4 * moment(i));
      std::exit(0);
    });
    EXPECT_EQ(status, 0) << "exit " << i << ": " << text_of(status);
  }
}

TEST(ReturnFromMain, LeavesCompilationsToNobody) {
  if (!child_has_nvrtc()) GTEST_SKIP() << "NVRTC is not installed";
  const int status = status_of_child([] {
    static hstu_context* context = context_on("sm_90a", "");
    // Comes after the library's own waiting, which is registered when NVRTC is opened.
    std::atexit([] { _exit(norm(context, 128) == HSTU_ERROR_NOT_READY && *hstu_last_error() ? 0 : 7); });
    if (norm(context, 64) != HSTU_OK) _exit(8);
    std::exit(1);
  });
  EXPECT_EQ(status, 0) << text_of(status);
}

/// What a sanitizer keeps of its own does not come through fork() while other threads are in it.
constexpr bool kForksAmongThreads =
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    false;
#else
    true;
#endif

TEST(Fork, WhileThreadsAreInsideLeavesTheChildAllThatItNeeds) {
  if (!kForksAmongThreads) GTEST_SKIP() << "a sanitizer is in here";
  const TempDir stores;
  const int status = status_of_child([&] {
    setenv("HSTUJIT_LIBCUDA", fake_driver_path().c_str(), 1);
    setenv("HSTUJIT_LIBNVRTC", fake_nvrtc_path().c_str(), 1);
    setenv("HSTUJIT_LOG", "debug", 1);
    dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
    std::atomic<bool> done{false};
    const std::string store = stores.str() + "/store";
    std::vector<std::thread> threads;
    for (const char* device : {"cuda:0", "sm_90a", "sm_80"})
      threads.emplace_back([&, device] {
        for (int64_t dim = 64; !done; dim += 8) {
          hstu_context* const context = context_on(device, store);
          norm(context, dim % 4096);
          hstu_context_destroy(context);
        }
      });
    int wrong = 0;
    constexpr int kForks = 60;
    for (int i = 0; i < kForks && wrong == 0; ++i) {
      std::this_thread::sleep_for(milliseconds(i % 7));
      wrong = status_of_child([&] {
        alarm(60);  // long enough on a machine that does much else
        hstu_context* const own = context_on("sm_90a", i % 2 ? store : stores.str() + "/other");
        if (!own || norm(own, 64) != HSTU_OK) _exit(5);
        hstu_context_destroy(own);
      });
    }
    done = true;
    for (std::thread& thread : threads) thread.join();
    if (wrong != 0) _exit(WIFSIGNALED(wrong) ? 100 + WTERMSIG(wrong) : WEXITSTATUS(wrong));
  });
  EXPECT_EQ(status, 0) << text_of(status);
}

TEST(Fork, AChildMayCompileThoughAllOfItsParentsSlotsAreTaken) {
  if (!kForksAmongThreads) GTEST_SKIP() << "a sanitizer is in here";
  if (!child_has_nvrtc()) GTEST_SKIP() << "NVRTC is not installed";
  const int status = status_of_child([] {
    hstu_context* const context = context_on("sm_90a", "");
    std::atomic<int> calling{0};
    for (int t = 0; t < 20; ++t)  // more than there are slots on any machine
      std::thread([&, t] {
        ++calling;
        norm(context, 64 + 8 * t);
      }).detach();
    while (calling < 20) std::this_thread::yield();
    std::this_thread::sleep_for(milliseconds(50));
    const int child = status_of_child([] {
      alarm(20);
      setenv("HSTUJIT_LIBNVRTC", fake_nvrtc_path().c_str(), 1);  // NVRTC's own locks are its own matter
      hstu_context* const own = context_on("sm_90a", "");
      if (!own || norm(own, 1024) != HSTU_OK) _exit(5);
      std::exit(0);  // and does not wait for what only the parent compiles
    });
    _exit(child == 0 ? 0 : 6);
  });
  EXPECT_EQ(status, 0) << text_of(status);
}

}  // namespace
}  // namespace hstujit::test
