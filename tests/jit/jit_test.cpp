// From memory, from the store, from the system store, or compiled: who answers when, and what it costs.
#include "jit/jit.hpp"

#include "cuda/nvrtc.hpp"
#include "jit/compiler_memo.hpp"
#include "jit/disk_store.hpp"
#include "jit/tiny_kernel.hpp"
#include "specialise/kernel_sources.hpp"
#include "support/error.hpp"
#include "support/files.hpp"
#include "support/log.hpp"
#include "support/nvrtc.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <iostream>
#include <thread>
#include <vector>

namespace hstujit {
namespace {

namespace fs = std::filesystem;
using test::TinyKernels;

class JitTest : public testing::Test {
 protected:
  void SetUp() override { HSTU_NEEDS_NVRTC(); }

  JitOptions options() const {
    return {.store_path = dir_.str() + "/store",
            .system_store_path = "",
            .kernels_path = kernels_.folder(),
            .nvrtc_path = Environment::read().libnvrtc};
  }
  JitOptions without_nvrtc() const {
    JitOptions out = options();
    out.nvrtc_path = "/nowhere/libnvrtc.so.13";
    return out;
  }
  JitOptions with_system_store() const {
    JitOptions out = options();
    out.system_store_path = dir_.str() + "/system";
    return out;
  }
  std::vector<fs::path> entries(const std::string& store = "store") const {
    std::vector<fs::path> out;
    std::error_code none;
    for (fs::recursive_directory_iterator it(dir_.path() / store / "kernels", none), end; !none && it != end;
         it.increment(none))
      if (it->is_regular_file()) out.push_back(it->path());
    return out;
  }
  // Lets the store's only entry look as if another NVRTC had made it.
  void pretend_other_compiler(const JitOptions& where) const {
    const Source source = TinyKernels::source(1);
    const KernelKey key(source, KernelSources(kernels_.folder()).closure(source.header).digest);
    const std::string folder = where.store_path;
    CompiledKernel kernel = *Jit(where).obtain(source);
    fs::remove_all(folder + "/kernels");
    kernel.compiler = "NVRTC 12.8 another";
    DiskStore(folder, DiskStore::Access::read_write).publish(key, kernel);
  }

  TinyKernels kernels_;
  test::TempDir dir_;
};

void expect(const JitCounters& counters, int64_t compiles, int64_t store_hits, int64_t memory_hits) {
  EXPECT_EQ(counters.compiles, compiles);
  EXPECT_EQ(counters.store_hits, store_hits);
  EXPECT_EQ(counters.memory_hits, memory_hits);
}

template <class Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), HSTU_ERROR_COMPILE);
    return error.message();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

TEST_F(JitTest, CompilesOnceThenRemembersThenLoads) {
  const Source source = TinyKernels::source(1);
  Jit first(options());
  EXPECT_EQ(first.find(source), nullptr);
  const auto compiled = first.obtain(source);
  EXPECT_EQ(first.obtain(source), compiled);
  EXPECT_EQ(first.find(source), compiled);
  expect(first.counters(), 1, 0, 2);

  Jit second(options());
  const auto loaded = second.obtain(source);
  EXPECT_EQ(loaded->binary, compiled->binary);
  EXPECT_EQ(loaded->entry, compiled->entry);
  EXPECT_EQ(loaded->log, compiled->log);
  EXPECT_EQ(loaded->registers, compiled->registers);
  expect(second.counters(), 0, 1, 0);
}

TEST_F(JitTest, FindLoadsFromTheStore) {
  Jit(options()).obtain(TinyKernels::source(1));
  Jit jit(options());
  EXPECT_NE(jit.find(TinyKernels::source(1)), nullptr);
  EXPECT_EQ(jit.find(TinyKernels::source(2)), nullptr);
  expect(jit.counters(), 0, 1, 0);
}

TEST_F(JitTest, RecallsWhatObtainWouldNotCompile) {
  const Source source = TinyKernels::source(1);
  pretend_other_compiler(options());
  Jit jit(options());
  EXPECT_EQ(jit.recall(source), nullptr) << "another compiler's";
  const auto compiled = jit.obtain(source);
  EXPECT_EQ(jit.recall(source), compiled);
  expect(jit.counters(), 1, 0, 1);
  Jit second(options());
  ASSERT_NE(second.recall(source), nullptr);
  EXPECT_EQ(second.recall(TinyKernels::source(2)), nullptr);
  expect(second.counters(), 0, 1, 0);
}

TEST_F(JitTest, WithoutAStoreKeepsKernelsInMemory) {
  JitOptions memory_only = options();
  memory_only.store_path = "";
  Jit jit(memory_only);
  const auto kernel = jit.obtain(TinyKernels::source(1));
  EXPECT_EQ(jit.obtain(TinyKernels::source(1)), kernel);
  expect(jit.counters(), 1, 0, 1);
}

TEST_F(JitTest, ThreadsShareOneCompilation) {
  Jit jit(options());
  std::vector<std::shared_ptr<const CompiledKernel>> got(8);
  std::vector<std::thread> threads;
  for (auto& kernel : got) threads.emplace_back([&] { kernel = jit.obtain(TinyKernels::source(1)); });
  for (std::thread& thread : threads) thread.join();
  ASSERT_NE(got[0], nullptr);
  for (const auto& kernel : got) EXPECT_EQ(kernel, got[0]);
  expect(jit.counters(), 1, 0, 7);
}

TEST_F(JitTest, TwoContextsOfAProcessShareTheStore) {
  Jit a(options()), b(options());
  std::thread other([&] { a.obtain(TinyKernels::source(1)); });
  b.obtain(TinyKernels::source(1));
  other.join();
  EXPECT_EQ(a.counters().compiles + b.counters().compiles, 1);
}

TEST_F(JitTest, AChangedKernelSourceIsCompiledAnew) {
  Jit(options()).obtain(TinyKernels::source(1));
  test::write_file(fs::path(kernels_.folder()) / "prim/add.cuh",
                   "#pragma once\ntemplate <class C> __device__ float add(float x) { return x - C::kValue; }\n");
  Jit jit(options());
  jit.obtain(TinyKernels::source(1));
  expect(jit.counters(), 1, 0, 0);
  EXPECT_EQ(entries().size(), 2u);
}

TEST_F(JitTest, ADamagedEntryIsCompiledAgain) {
  Jit(options()).obtain(TinyKernels::source(1));
  ASSERT_EQ(entries().size(), 1u);
  fs::resize_file(entries()[0], 100);
  Jit jit(options());
  EXPECT_EQ(jit.find(TinyKernels::source(1)), nullptr);
  jit.obtain(TinyKernels::source(1));
  expect(jit.counters(), 1, 0, 0);
  Jit after(options());
  after.obtain(TinyKernels::source(1));
  expect(after.counters(), 0, 1, 0);
}

TEST_F(JitTest, AStoreThatCannotBeWrittenFailsNoCall) {
  test::write_file(dir_.path() / "file", "not a folder");
  JitOptions unwritable = options();
  unwritable.store_path = dir_.str() + "/file/store";
  Jit jit(unwritable);
  EXPECT_NE(jit.obtain(TinyKernels::source(1)), nullptr);
  EXPECT_NE(jit.obtain(TinyKernels::source(2)), nullptr);
  expect(jit.counters(), 2, 0, 0);
}

TEST_F(JitTest, ALockFileThatCannotBeHadFailsNoCall) {
  fs::create_directories(options().store_path + "/kernels.lock");  // a folder in the lock's place
  Jit jit(options());
  jit.obtain(TinyKernels::source(1));
  expect(jit.counters(), 1, 0, 0);
  EXPECT_EQ(entries().size(), 1u);
}

TEST_F(JitTest, KernelsThatNeedADifferentTargetAreDifferentKernels) {
  Jit jit(options());
  EXPECT_NE(jit.obtain(TinyKernels::source(1, "sm_80"))->binary, jit.obtain(TinyKernels::source(1, "sm_90a"))->binary);
  EXPECT_NE(jit.obtain(TinyKernels::source(1, "compute_80"))->binary.find(".entry"), std::string::npos);
  expect(jit.counters(), 3, 0, 0);
}

// ---- Errors

TEST_F(JitTest, ACompileErrorKeepsTheUnitAndTriesAgain) {
  Source source = TinyKernels::source(1);
  source.unit += "static_assert(sizeof(int) == 5, \"host and device disagree\");\n";
  Jit jit(options());
  const std::string message = message_of([&] { jit.obtain(source); });
  EXPECT_NE(message.find("host and device disagree"), std::string::npos) << message;
  EXPECT_NE(message.find("--gpu-architecture=sm_80"), std::string::npos) << message;
  const std::string marker = "The unit is kept in ";
  ASSERT_NE(message.find(marker), std::string::npos) << message;
  std::string kept;
  ASSERT_EQ(read_file(message.substr(message.find(marker) + marker.size()), kept), 0) << message;
  EXPECT_TRUE(kept.starts_with(source.unit)) << kept;
  EXPECT_NE(kept.find("host and device disagree"), std::string::npos);
  message_of([&] { jit.obtain(source); });
  expect(jit.counters(), 0, 0, 0);
}

TEST_F(JitTest, WithoutAStoreACompileErrorShowsTheUnit) {
  JitOptions memory_only = options();
  memory_only.store_path = "";
  Source source = TinyKernels::source(1);
  source.unit += "this is not C++\n";
  const std::string message = message_of([&] { Jit(memory_only).obtain(source); });
  EXPECT_NE(message.find("this is not C++"), std::string::npos) << message;
}

TEST_F(JitTest, WaitingThreadsGetTheErrorToo) {
  Source source = TinyKernels::source(1);
  source.unit += "this is not C++\n";
  Jit jit(options());
  std::atomic<int> errors{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      try {
        jit.obtain(source);
      } catch (const Error&) { ++errors; }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(errors, 4);
}

TEST_F(JitTest, MissingNvrtcSaysWhatIsNeeded) {
  const std::string message = message_of([&] { Jit(without_nvrtc()).obtain(TinyKernels::source(1)); });
  for (const char* part : {"tiny sm_80 value=1", "/nowhere/libnvrtc.so.13", "HSTUJIT_LIBNVRTC"})
    EXPECT_NE(message.find(part), std::string::npos) << message;
}

// ---- Which compiler's kernel

TEST_F(JitTest, MissingNvrtcTakesAnyCompilersKernel) {
  Jit(options()).obtain(TinyKernels::source(1));
  Jit jit(without_nvrtc());
  EXPECT_NE(jit.obtain(TinyKernels::source(1)), nullptr);
  expect(jit.counters(), 0, 1, 0);
}

TEST_F(JitTest, AnotherNvrtcCompilesAnew) {
  pretend_other_compiler(options());
  Jit jit(options());
  jit.obtain(TinyKernels::source(1));
  expect(jit.counters(), 1, 0, 0);
  EXPECT_EQ(entries().size(), 2u);
}

TEST_F(JitTest, FindTakesAnyCompilersKernel) {
  pretend_other_compiler(options());
  Jit jit(options());
  ASSERT_NE(jit.find(TinyKernels::source(1)), nullptr);
  EXPECT_EQ(jit.find(TinyKernels::source(1))->compiler, "NVRTC 12.8 another");
}

TEST_F(JitTest, TheSystemStoreServesAnyCompilersKernelAndIsNotWritten) {
  JitOptions shipping = options();
  shipping.store_path = with_system_store().system_store_path;
  pretend_other_compiler(shipping);
  const size_t before = entries("system").size();
  Jit jit(with_system_store());
  EXPECT_EQ(jit.obtain(TinyKernels::source(1))->compiler, "NVRTC 12.8 another");
  jit.obtain(TinyKernels::source(2));
  expect(jit.counters(), 1, 1, 0);
  EXPECT_EQ(entries("system").size(), before);
  EXPECT_EQ(entries("store").size(), 1u);
}

TEST_F(JitTest, TheWritableStoreComesBeforeTheSystemStore) {
  JitOptions shipping = options();
  shipping.store_path = with_system_store().system_store_path;
  pretend_other_compiler(shipping);
  Jit(options()).obtain(TinyKernels::source(1));
  EXPECT_NE(Jit(with_system_store()).obtain(TinyKernels::source(1))->compiler, "NVRTC 12.8 another");
}

TEST_F(JitTest, AReplacedNvrtcIsNoticed) {
  JitOptions through_link = options();
  through_link.nvrtc_path = dir_.str() + "/libnvrtc.so";
  const std::string real = nvrtc_at(Environment::read().libnvrtc).library.path();
  fs::create_symlink(real, through_link.nvrtc_path);
  Jit(through_link).obtain(TinyKernels::source(1));
  const auto recalled = [&] {
    return CompilerMemo(through_link.store_path + "/compilers", through_link.nvrtc_path).recall();
  };
  EXPECT_EQ(recalled(), nvrtc_at(Environment::read().libnvrtc).identity);
  fs::remove(through_link.nvrtc_path);
  EXPECT_EQ(recalled(), std::nullopt);
  test::write_file(through_link.nvrtc_path, "another file");
  EXPECT_EQ(recalled(), std::nullopt);
}

TEST_F(JitTest, ADamagedMemoIsNoMemo) {
  const CompilerMemo memo(dir_.str() + "/compilers", "");
  ASSERT_EQ(memo.remember("/proc/self/exe", "NVRTC 13.0 abc"), 0);
  ASSERT_EQ(memo.recall(), "NVRTC 13.0 abc");
  for (const char* damaged : {"", "{", "[]", "{\"library\": 3, \"stamp\": \"\", \"identity\": \"\"}"}) {
    for (const auto& file : fs::directory_iterator(dir_.path() / "compilers")) test::write_file(file.path(), damaged);
    EXPECT_EQ(memo.recall(), std::nullopt) << damaged;
  }
}

// ---- What it tells and costs

TEST_F(JitTest, LogsOneLinePerKernel) {
  set_log_level("info");
  testing::internal::CaptureStderr();
  Jit(options()).obtain(TinyKernels::source(1));
  Jit(options()).obtain(TinyKernels::source(1));
  log().flush();
  const std::string lines = testing::internal::GetCapturedStderr();
  set_log_level("off");
  EXPECT_EQ(std::ranges::count(lines, '\n'), 2) << lines;
  EXPECT_NE(lines.find("miss, compiled in"), std::string::npos) << lines;
  EXPECT_NE(lines.find("hit in the store"), std::string::npos) << lines;
}

double median_ms(std::vector<double> ms) {
  std::ranges::sort(ms);
  return ms[ms.size() / 2];
}

TEST_F(JitTest, WarmFindIsFarBelowAMillisecond) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> cold, warm;
  for (int value = 0; value < 5; ++value) cold.push_back(Jit(options()).obtain(TinyKernels::source(value))->compile_ms);
  for (int round = 0; round < 41; ++round) {
    const Clock::time_point start = Clock::now();
    Jit jit(options());
    ASSERT_NE(jit.find(TinyKernels::source(round % 5)), nullptr);
    warm.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }
  std::cout << fmt::format("[ figures  ] tiny kernel: cold compile {:.1f} ms, new Jit and warm find {:.3f} ms\n",
                           median_ms(cold), median_ms(warm));
  EXPECT_LT(median_ms(warm), 1.0);
}

}  // namespace
}  // namespace hstujit
