// The life of a call on a GPU, seen through a fake driver: what a miss may do, what a warm call may not, capture,
// policies, threads and a second process's start.
#include "capi/fake_gpu.hpp"

#include "support/cpu_time.hpp"
#include "support/scoped_env.hpp"
#include "support/temp_dir.hpp"
#include "support/tool_process.hpp"

#include <gtest/gtest.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <new>
#include <random>
#include <set>
#include <sstream>
#include <thread>
#include <utility>
#include <vector>

namespace {
std::atomic<int64_t> g_allocations{0};
}
// Counts every allocation of this program, so that a test can say "none".
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  g_allocations.fetch_add(1, std::memory_order_relaxed);
  return std::malloc(bytes ? bytes : 1);
}
void* operator new(size_t bytes) {
  if (void* p = operator new(bytes, std::nothrow)) return p;
  throw std::bad_alloc();
}
// Not inlined, or the compiler takes a free() of what new gave for a mistake.
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, size_t) noexcept { std::free(p); }

namespace hstujit {
namespace {

using test::TempDir;

TEST_F(FakeGpu, AWarmCallIsOneLaunchAndNothingElse) {
  open("");
  const hstu_layer_norm_args args = norm();
  ASSERT_EQ(hstu_layer_norm(context_, &args, nullptr), HSTU_OK) << hstu_last_error();
  fake_->set_recording(0);
  const int64_t calls = fake_->calls(nullptr), allocations = g_allocations.load();
  for (int i = 0; i < 100; ++i) ASSERT_EQ(hstu_layer_norm(context_, &args, nullptr), HSTU_OK);
  EXPECT_EQ(g_allocations.load() - allocations, 0);
  EXPECT_EQ(fake_->calls(nullptr) - calls, 100);
  EXPECT_EQ(fake_->calls("cuLaunchKernelEx"), 101);
}

TEST_F(FakeGpu, ACallIsLaunchedOnItsOwnStreamWhicheverCameBefore) {
  open("");
  const hstu_layer_norm_args args = norm();
  const auto one = reinterpret_cast<CUstream>(x_), other = reinterpret_cast<CUstream>(y_);
  for (const CUstream stream : {one, one, one, other, other, one, CUstream{}, other, CUstream{}}) {
    ASSERT_EQ(hstu_layer_norm(context_, &args, stream), HSTU_OK) << hstu_last_error();
    EXPECT_EQ(fake_->last_launch().config.hStream, stream);
  }
}

TEST_F(FakeGpu, ACallIsLaunchedWithItsOwnArgumentsWhicheverCameBefore) {
  // More calls than a thread remembers, so that they take each other's places.
  constexpr size_t kParams = 64;
  std::vector<hstu_layer_norm_args> calls;
  for (int i = 0; i < 200; ++i) {
    calls.push_back(norm(1 + i % 3));
    calls.back().x.data = x_ + 4 * i;
  }
  fake_->set_params_bytes(kParams);
  const auto params_of = [&](const hstu_layer_norm_args& args) {
    EXPECT_EQ(hstu_layer_norm(context_, &args, nullptr), HSTU_OK) << hstu_last_error();
    const fake_launch last = fake_->last_launch();
    return std::string(reinterpret_cast<const char*>(last.params), kParams);
  };
  open("");
  std::vector<std::string> expected;
  for (const hstu_layer_norm_args& args : calls) expected.push_back(params_of(args));
  EXPECT_EQ(std::set<std::string>(expected.begin(), expected.end()).size(), calls.size());
  for (size_t i = 0; i < calls.size(); ++i) {
    const void* const x = calls[i].x.data;
    EXPECT_NE(expected[i].find(std::string(reinterpret_cast<const char*>(&x), sizeof x)), std::string::npos) << i;
  }
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    const size_t call = random() % (i % 2 ? 5 : calls.size());
    ASSERT_EQ(params_of(calls[call]), expected[call]) << i;
  }
  fake_->set_params_bytes(0);
}

TEST_F(FakeGpu, ACallOnOtherBuffersEachTimeAllocatesNothing) {
  open("");
  hstu_layer_norm_args args = norm();
  ASSERT_EQ(hstu_layer_norm(context_, &args, nullptr), HSTU_OK) << hstu_last_error();
  fake_->set_recording(0);
  const int64_t calls = fake_->calls(nullptr), allocations = g_allocations.load();
  for (int i = 0; i < 200; ++i) {
    args.x.data = x_ + 32 * (i % 100);
    ASSERT_EQ(hstu_layer_norm(context_, &args, nullptr), HSTU_OK) << hstu_last_error();
  }
  EXPECT_EQ(g_allocations.load() - allocations, 0);
  EXPECT_EQ(fake_->calls(nullptr) - calls, 200);
}

TEST_F(FakeGpu, ACallOfAKnownShapeIsStillChecked) {
  open("");
  hstu_layer_norm_args args = norm();
  for (int i = 0; i < 5; ++i) {
    args.x.data = x_ + 32 * i;
    ASSERT_EQ(hstu_layer_norm(context_, &args, nullptr), HSTU_OK) << hstu_last_error();
  }
  hstu_layer_norm_args bad = args;
  bad.x.data = nullptr;
  EXPECT_EQ(hstu_layer_norm(context_, &bad, nullptr), HSTU_ERROR_INVALID_ARGUMENT);
  bad.x.data = reinterpret_cast<char*>(x_) + 1;
  EXPECT_EQ(hstu_layer_norm(context_, &bad, nullptr), HSTU_ERROR_INVALID_ARGUMENT) << "misaligned";
  bad.x.data = y_ + 4;
  EXPECT_EQ(hstu_layer_norm(context_, &bad, nullptr), HSTU_ERROR_INVALID_ARGUMENT) << "x and y overlap";
}

TEST_F(FakeGpu, LaunchingAPlanIsOneLaunchAndNothingElse) {
  open("");
  const hstu_layer_norm_args args = norm(8), fewer = norm(7);
  hstu_layer_norm_args moved = args;
  moved.x.data = x_ + 1024;
  hstu_plan* plan = nullptr;
  ASSERT_EQ(hstu_plan_get(&plan, context_, "layer_norm", &args, nullptr), HSTU_OK) << hstu_last_error();
  fake_->set_recording(0);
  const int64_t calls = fake_->calls(nullptr), allocations = g_allocations.load();
  for (int i = 0; i < 100; ++i)
    for (const hstu_layer_norm_args* a :
         {static_cast<const hstu_layer_norm_args*>(nullptr), &args, &fewer, &std::as_const(moved)})
      ASSERT_EQ(hstu_plan_launch(plan, a, nullptr), HSTU_OK) << hstu_last_error();
  EXPECT_EQ(g_allocations.load() - allocations, 0);
  EXPECT_EQ(fake_->calls(nullptr) - calls, 400);
  hstu_plan_release(plan);
}

/// How a child of this process ends that runs `prepare` freely and then `work` with no system call but read and write.
int status_without_system_calls(const std::function<void()>& prepare, const std::function<bool()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    prepare();
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) _exit(77);
    syscall(SYS_exit, work() ? 0 : 1);  // _exit() asks for all threads to end, which is one call too many
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

TEST_F(FakeGpu, WarmCallsAndLaunchesMakeNoSystemCalls) {
  if (test::sanitizer_share(2) > 1) GTEST_SKIP() << "a sanitizer's runtime makes system calls of its own";
  hstu_layer_norm_args args = norm(8), moved = args;
  moved.x.data = x_ + 1024;
  hstu_plan* plan = nullptr;
  const auto prepare = [&] {
    open("");
    hstu_layer_norm(context_, &args, nullptr);
    hstu_layer_norm(context_, &moved, nullptr);
    hstu_plan_get(&plan, context_, "layer_norm", &args, nullptr);
    fake_->set_recording(0);
  };
  const auto warm = [&] {
    bool right = true;
    for (int i = 0; i < 1000; ++i)
      for (const hstu_layer_norm_args* a : {&args, &moved})
        right = right && hstu_layer_norm(context_, a, nullptr) == HSTU_OK &&
                hstu_plan_launch(plan, a, nullptr) == HSTU_OK && hstu_plan_launch(plan, nullptr, nullptr) == HSTU_OK;
    return right;
  };
  const int watched = status_without_system_calls([] {}, [] { return getppid() > 0; });
  if (WIFEXITED(watched) && WEXITSTATUS(watched) == 77) GTEST_SKIP() << "this kernel has no seccomp";
  EXPECT_TRUE(WIFSIGNALED(watched)) << "a system call is noticed";
  EXPECT_EQ(status_without_system_calls(prepare, warm), 0);
}

TEST_F(FakeGpu, ARecordedCallAllocatesNothingAndTellsWhatWasAsked) {
  const TempDir dir;
  const std::string file = dir.str() + "/traffic.json";
  open("");
  const hstu_layer_norm_args args = norm();
  int64_t left_out = -1;
  EXPECT_EQ(hstu_context_write_traffic(context_, file.c_str(), &left_out), HSTU_ERROR_INVALID_ARGUMENT);
  ASSERT_EQ(hstu_layer_norm(context_, &args, nullptr), HSTU_OK) << hstu_last_error();
  ASSERT_EQ(hstu_context_record_traffic(context_, 1), HSTU_OK);
  const int64_t allocations = g_allocations.load();
  for (int i = 0; i < 100; ++i) ASSERT_EQ(hstu_layer_norm(context_, &args, nullptr), HSTU_OK);
  EXPECT_EQ(g_allocations.load() - allocations, 0);
  ASSERT_EQ(hstu_context_record_traffic(context_, 0), HSTU_OK);
  ASSERT_EQ(hstu_layer_norm(context_, &args, nullptr), HSTU_OK) << "not counted any more";
  ASSERT_EQ(hstu_context_write_traffic(context_, file.c_str(), &left_out), HSTU_OK) << hstu_last_error();
  EXPECT_EQ(left_out, 0);
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  EXPECT_NE(text.str().find("\"op\":\"layer_norm\",\"count\":100,"), std::string::npos) << text.str();
  const std::string link = dir.str() + "/link";
  std::filesystem::create_symlink("target.json", link);
  ASSERT_EQ(hstu_context_write_traffic(context_, link.c_str(), nullptr), HSTU_OK) << hstu_last_error();
  EXPECT_TRUE(std::filesystem::is_symlink(link)) << "its target got the contents";
  EXPECT_EQ(std::filesystem::file_size(link), text.str().size());
  EXPECT_EQ(hstu_context_write_traffic(context_, (dir.str() + "/traffic.json/no").c_str(), nullptr), HSTU_ERROR_STORE);
}

TEST_F(FakeGpu, PrintsTheCostOfAWarmCall) {
  open("");
  const hstu_layer_norm_args args = norm();
  ASSERT_EQ(hstu_layer_norm(context_, &args, nullptr), HSTU_OK) << hstu_last_error();
  fake_->set_recording(0);
  constexpr int kRounds = 40, kCalls = 5'000;
  double ns = 1e9;  // of the quietest round: others use this machine, too
  for (int round = 0; round < kRounds; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kCalls; ++i) hstu_layer_norm(context_, &args, nullptr);
    const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - begin;
    ns = std::min(ns, spent.count() / kCalls);
  }
  std::printf("warm call on a driver that does nothing: %.0f ns\n", ns);
  RecordProperty("warm_call_ns", std::to_string(ns));
  EXPECT_LT(ns, 2000 * test::sanitizer_share(100))
      << "far over the 300 ns that a warm call may add, even for a busy machine";
}

TEST_F(FakeGpu, AMissDuringCaptureIsRefusedAndTouchesNothing) {
  open("");
  const hstu_layer_norm_args args = norm();
  fake_->set_capture_status(CU_STREAM_CAPTURE_STATUS_ACTIVE);
  EXPECT_EQ(hstu_layer_norm(context_, &args, nullptr), HSTU_ERROR_STREAM_CAPTURING);
  EXPECT_EQ(fake_->calls_unsafe_in_capture(), 0);
  EXPECT_EQ(counters().compiles, 0);
  fake_->set_capture_status(CU_STREAM_CAPTURE_STATUS_NONE);
  EXPECT_EQ(hstu_layer_norm(context_, &args, nullptr), HSTU_OK) << hstu_last_error();
  fake_->set_capture_status(CU_STREAM_CAPTURE_STATUS_ACTIVE);
  EXPECT_EQ(hstu_layer_norm(context_, &args, nullptr), HSTU_OK) << hstu_last_error();
  EXPECT_EQ(fake_->calls_unsafe_in_capture(), 0);
}

/// What is launched, without time for compiling what never runs.
class FakeGpuStack : public StackCalls {
  const test::ScopedEnv nvrtc_{"HSTUJIT_LIBNVRTC", test::fake_nvrtc_path().c_str()};
};

TEST_F(FakeGpuStack, AWarmCallIsFiveLaunchesALayerAndNothingElse) {
  open("");
  const hstu_stack_args args = stack();
  ASSERT_EQ(hstu_stack(context_, &args, nullptr), HSTU_OK) << hstu_last_error();
  fake_->set_recording(0);
  const int64_t calls = fake_->calls(nullptr), allocations = g_allocations.load();
  for (int i = 0; i < 100; ++i) ASSERT_EQ(hstu_stack(context_, &args, nullptr), HSTU_OK);
  EXPECT_EQ(g_allocations.load() - allocations, 0);
  EXPECT_EQ(fake_->calls(nullptr) - calls, 100 * 2 * 5);
}

// Rows and columns enough for their tiles, on a device that has them (the fake one does).
TEST_F(FakeGpuStack, LaunchingItsPlanIsItsLaunchesAndNothingElse) {
  open("");
  const hstu_stack_args stack_args = stack();
  hstu_plan* plan = nullptr;
  ASSERT_EQ(hstu_plan_get(&plan, context_, "stack", &stack_args, nullptr), HSTU_OK) << hstu_last_error();
  const auto launch = [&](const hstu_stack_args* args) {
    ASSERT_EQ(hstu_plan_launch(plan, args, nullptr), HSTU_OK) << hstu_last_error();
  };
  launch(nullptr);
  fake_->set_recording(0);
  for (const hstu_stack_args* args : {static_cast<const hstu_stack_args*>(nullptr), &stack_args}) {
    launch(args);
    const int64_t calls = fake_->calls(nullptr), allocations = g_allocations.load();
    for (int i = 0; i < 100; ++i) launch(args);
    EXPECT_EQ(g_allocations.load() - allocations, 0);
    EXPECT_EQ(fake_->calls(nullptr) - calls, 100 * 5 * stack_args.num_layers);
  }
  hstu_plan_release(plan);
}

TEST_F(FakeGpuStack, StagesAreOneLaunchWhereTheyFillTheDevice) {
  open("");
  for (const auto& [rows, embedding, first, output] : {std::tuple{100000, 256, 1, 1},
                                                       {1000, 256, 0, 0},
                                                       {100000, 384, 1, 1},
                                                       {100000, 192, 1, 0},
                                                       {100000, 640, 0, 1},
                                                       {20000, 384, 0, 1}}) {
    hstu_stack_args args = stack(rows, embedding);
    const int launches = 5 - first - output, without_first = 5 - output, without_output = 5 - first;
    const auto count = [&] {
      EXPECT_EQ(hstu_stack(context_, &args, nullptr), HSTU_OK) << hstu_last_error();
      const int64_t before = fake_->launches();
      EXPECT_EQ(hstu_stack(context_, &args, nullptr), HSTU_OK);
      return fake_->launches() - before;
    };
    EXPECT_EQ(count(), 2 * launches) << rows << " x " << embedding;
    args.output.activation = HSTU_ACTIVATION_SIGMOID;
    EXPECT_EQ(count(), 2 * without_output) << "no such product";
    args.output.activation = HSTU_ACTIVATION_NONE;
    const std::vector<hstu_layer_weights> given(args.layers, args.layers + 2);
    const auto shifted = [](hstu_tensor& weight) { weight.data = static_cast<std::byte*>(weight.data) + 2; };
    std::vector<hstu_layer_weights> weights = given;
    args.layers = weights.data();
    args.layer_size = sizeof(hstu_layer_weights);
    shifted(weights[1].output_weight);
    EXPECT_EQ(count(), launches + without_output) << "a weight that TMA cannot read";
    std::swap(weights[0], weights[1]);
    EXPECT_EQ(count(), 2 * without_output) << "attention of all layers is the first one's";
    weights = given;
    shifted(weights[0].uvqk_weight);
    EXPECT_EQ(count(), without_first + launches) << "a weight that TMA cannot read";
    std::swap(weights[0], weights[1]);
    EXPECT_EQ(count(), launches + without_first);
  }
}

// The output stage likewise, where its sums may be fast.
TEST_F(FakeGpuStack, TheOutputStageInFp8IsOneLaunchWhereItFillsTheDevice) {
  open("");
  for (const auto& [rows, embedding, launches] :
       {std::tuple{100000, 256, 4}, {1000, 256, 5}, {100000, 384, 5}, {100000, 512, 4}}) {
    hstu_stack_args args = in_fp8(stack(rows, embedding, 256));
    const auto count = [&] {
      EXPECT_EQ(hstu_stack(context_, &args, nullptr), HSTU_OK) << hstu_last_error();
      const int64_t before = fake_->launches();
      EXPECT_EQ(hstu_stack(context_, &args, nullptr), HSTU_OK);
      return fake_->launches() - before;
    };
    EXPECT_EQ(count(), 2 * 5) << "exact sums";
    args.fp8_accumulation = HSTU_FP8_ACCUMULATE_FAST;
    EXPECT_EQ(count(), 2 * launches) << rows << " x " << embedding;
    args.output.activation = HSTU_ACTIVATION_SIGMOID;
    EXPECT_EQ(count(), 2 * 5) << "no such product";
  }
}

using Launches = std::vector<std::vector<std::byte>>;  // the first bytes of each one's parameters

/// What a call of the stack launches.
Launches launches_of(const fake_driver_controls& fake, hstu_context* context, const hstu_stack_args& args) {
  Launches out;
  const auto note = [](const CUlaunchConfig*, const char*, void** params, void* user) {
    constexpr ptrdiff_t kBytes = sizeof(Launch::params);
    const auto* bytes = static_cast<const std::byte*>(params[0]);
    static_cast<Launches*>(user)->emplace_back(bytes, bytes + kBytes);
    return 1.0;
  };
  fake.set_launch_hook(note, &out);
  EXPECT_EQ(hstu_stack(context, &args, nullptr), HSTU_OK) << hstu_last_error();
  fake.set_launch_hook(nullptr, nullptr);
  return out;
}

// A thread keeps what it bound last; another one has nothing to keep.
TEST_F(FakeGpuStack, WhatIsKeptFromTheCallBeforeServesTheSameArgumentsOnly) {
  test::TempDir store;
  open(store.path());
  hstu_stack_args args = stack();
  std::vector<hstu_layer_weights> weights(args.layers, args.layers + args.num_layers);
  args.layers = weights.data();
  args.layer_size = sizeof(hstu_layer_weights);
  const Launches first = launches_of(*fake_, context_, args);
  ASSERT_EQ(first.size(), 10u);
  EXPECT_EQ(launches_of(*fake_, context_, args), first);

  const hstu_stack_args other = stack();
  const std::pair<const char*, std::function<void()>> changes[] = {
      {"weights of a layer", [&] { weights[1].norm_weight = other.layers[1].norm_weight; }},
      {"input", [&] { args.x.data = other.x.data; }},
      {"workspace", [&] { args.workspace = other.workspace; }},
      {"alpha", [&] { args.attention.alpha = 0.5f; }},
      {"eps", [&] { args.eps = 0.1f; }},
      {"layers", [&] { args.num_layers = 1; }},
  };
  Launches before = first;
  for (const auto& [name, change] : changes) {
    change();
    const Launches here = launches_of(*fake_, context_, args);
    Launches elsewhere;
    std::thread([&] { elsewhere = launches_of(*fake_, context_, args); }).join();
    EXPECT_NE(here, before) << name;
    EXPECT_EQ(here, elsewhere) << name;
    before = here;
  }
}

TEST_F(FakeGpuStack, WhatIsKeptOfADestroyedContextServesNoOther) {
  test::TempDir store;
  open(store.path());
  const hstu_stack_args args = stack();
  ASSERT_EQ(hstu_stack(context_, &args, nullptr), HSTU_OK) << hstu_last_error();
  open(store.path());
  ASSERT_EQ(hstu_stack(context_, &args, nullptr), HSTU_OK) << hstu_last_error();
  EXPECT_GT(counters().plans, 0);
}

TEST_F(FakeGpuStack, IsCapturedOnceItsKernelsAreLoadedAndRefusedBefore) {
  open("");
  const hstu_stack_args args = stack();
  fake_->set_capture_status(CU_STREAM_CAPTURE_STATUS_ACTIVE);
  EXPECT_EQ(hstu_stack(context_, &args, nullptr), HSTU_ERROR_STREAM_CAPTURING);
  EXPECT_NE(std::string(hstu_last_error()).find("layers[0]: layer norm"), std::string::npos) << hstu_last_error();
  fake_->set_capture_status(CU_STREAM_CAPTURE_STATUS_NONE);
  ASSERT_EQ(hstu_stack(context_, &args, nullptr), HSTU_OK) << hstu_last_error();
  const int64_t launches = fake_->launches();
  fake_->set_capture_status(CU_STREAM_CAPTURE_STATUS_ACTIVE);
  EXPECT_EQ(hstu_stack(context_, &args, nullptr), HSTU_OK) << hstu_last_error();
  EXPECT_EQ(fake_->launches() - launches, 10);
  EXPECT_EQ(fake_->calls_unsafe_in_capture(), 0);
}

TEST_F(FakeGpuStack, LaunchesNothingWhenALaterLayerIsWrong) {
  open("");
  hstu_stack_args args = stack();
  ASSERT_EQ(hstu_stack(context_, &args, nullptr), HSTU_OK) << hstu_last_error();
  const int64_t launches = fake_->launches();
  hstu_layer_weights layers[2] = {args.layers[0], args.layers[1]};
  layers[1].uvqk_bias.dtype = HSTU_DTYPE_I32;
  args.layers = layers;
  args.layer_size = sizeof(hstu_layer_weights);
  EXPECT_EQ(hstu_stack(context_, &args, nullptr), HSTU_ERROR_UNSUPPORTED_DTYPE);
  EXPECT_EQ(fake_->launches(), launches);
}

TEST_F(FakeGpu, FailPolicyNeverCompilesButTakesWhatTheStoreHas) {
  const TempDir store;
  const hstu_layer_norm_args args = norm();
  open(store.str(), HSTU_MISS_FAIL);
  EXPECT_EQ(hstu_layer_norm(context_, &args, nullptr), HSTU_ERROR_NOT_READY);
  EXPECT_EQ(counters().compiles, 0);
  open(store.str());
  ASSERT_EQ(hstu_layer_norm(context_, &args, nullptr), HSTU_OK) << hstu_last_error();
  open(store.str(), HSTU_MISS_FAIL);
  EXPECT_EQ(hstu_layer_norm(context_, &args, nullptr), HSTU_OK) << hstu_last_error();
}

TEST_F(FakeGpu, ASecondStartCompilesNothing) {
  const TempDir store;
  const hstu_layer_norm_args args = norm();
  open(store.str());
  ASSERT_EQ(hstu_layer_norm(context_, &args, nullptr), HSTU_OK) << hstu_last_error();
  EXPECT_EQ(counters().compiles, 1);
  open(store.str());
  ASSERT_EQ(hstu_layer_norm(context_, &args, nullptr), HSTU_OK) << hstu_last_error();
  EXPECT_EQ(counters().compiles, 0);
  EXPECT_EQ(counters().store_hits, 1);
}

TEST_F(FakeGpu, ThreadsThatMissOnOneProblemCompileItOnce) {
  open("");
  const hstu_layer_norm_args args = norm();
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 16; ++t)
    threads.emplace_back([&] {
      if (hstu_layer_norm(context_, &args, nullptr) != HSTU_OK) failures.fetch_add(1);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures.load(), 0);
  EXPECT_EQ(counters().compiles, 1);
  EXPECT_EQ(counters().plans, 1);
  EXPECT_EQ(fake_->calls("cuLaunchKernelEx"), 16);
}

TEST_F(FakeGpu, RowCountsOfOneBucketShareAPlan) {
  open("");
  for (const int64_t rows : {5, 6, 7, 8}) {
    const hstu_layer_norm_args args = norm(rows);
    ASSERT_EQ(hstu_layer_norm(context_, &args, nullptr), HSTU_OK) << hstu_last_error();
  }
  EXPECT_EQ(counters().plans, 1);
  const hstu_layer_norm_args more = norm(9);
  ASSERT_EQ(hstu_layer_norm(context_, &more, nullptr), HSTU_OK) << hstu_last_error();
  EXPECT_EQ(counters().plans, 2);
}

TEST_F(FakeGpu, ZeroRowsNeedNoKernel) {
  open("");
  const hstu_layer_norm_args args = norm(0);
  EXPECT_EQ(hstu_layer_norm(context_, &args, nullptr), HSTU_OK) << hstu_last_error();
  EXPECT_EQ(counters().compiles, 0);
  EXPECT_EQ(fake_->calls("cuLaunchKernelEx"), 0);
}

TEST_F(FakeGpu, AThreadWithoutACurrentContextIsServed) {
  fake_->set_launch_needs_context(1);
  open("");
  const hstu_layer_norm_args args = norm();
  EXPECT_EQ(hstu_layer_norm(context_, &args, nullptr), HSTU_OK) << hstu_last_error();
  EXPECT_EQ(hstu_layer_norm(context_, &args, nullptr), HSTU_OK) << hstu_last_error();
  fake_->set_launch_needs_context(0);
}

TEST_F(FakeGpu, AFailedLaunchIsADeviceErrorThatNamesTheKernel) {
  open("");
  const hstu_layer_norm_args args = norm();
  ASSERT_EQ(hstu_layer_norm(context_, &args, nullptr), HSTU_OK) << hstu_last_error();
  fake_->fail_calls("cuLaunchKernelEx", CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, 1);
  EXPECT_EQ(hstu_layer_norm(context_, &args, nullptr), HSTU_ERROR_DEVICE);
  EXPECT_NE(std::string(hstu_last_error()).find("layer_norm"), std::string::npos) << hstu_last_error();
}

TEST_F(FakeGpu, AFailedLoadIsReportedAndTheNextCallTriesAgain) {
  open("");
  const hstu_layer_norm_args args = norm();
  fake_->fail_calls("cuModuleLoadData", CUDA_ERROR_NO_BINARY_FOR_GPU, 1);
  EXPECT_EQ(hstu_layer_norm(context_, &args, nullptr), HSTU_ERROR_DEVICE);
  EXPECT_EQ(hstu_layer_norm(context_, &args, nullptr), HSTU_OK) << hstu_last_error();
}

TEST_F(FakeGpu, DestroyGivesEverythingBack) {
  const int64_t handles = fake_->live_handles();
  open("");
  const hstu_layer_norm_args args = norm();
  ASSERT_EQ(hstu_layer_norm(context_, &args, nullptr), HSTU_OK) << hstu_last_error();
  hstu_context_destroy(context_);
  context_ = nullptr;
  EXPECT_EQ(fake_->live_handles(), handles);
  EXPECT_EQ(fake_->live_bytes(), 0);
}

TEST_F(FakeGpu, AnAbsentDeviceIsNamed) {
  hstu_context_options options{};
  options.struct_size = sizeof options;
  options.device = "cuda:7";
  hstu_context* context = nullptr;
  EXPECT_EQ(hstu_context_create(&context, &options), HSTU_ERROR_DEVICE);
  EXPECT_NE(std::string(hstu_last_error()).find("cuda:7"), std::string::npos) << hstu_last_error();
  EXPECT_EQ(context, nullptr);
}

}  // namespace
}  // namespace hstujit
