// The GPU bench on the fake driver: its kernels are the reference operators, with defects and times to order.
#include "tuner/gpu_bench.hpp"

#include "support/error.hpp"
#include "support/use_fake_driver.hpp"
#include "tuner/fixtures.hpp"
#include "tuner/tune.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

namespace hstujit {
namespace {

constexpr int32_t kDefects[] = {0, 1, 2, 3, 4, 5};
constexpr Knob kKnobs[] = {{"defect", kDefects, ""}};

/// What the toy kernel gets: the host runs it, so it can have the call itself.
struct ToyParams {
  const void* args;
  Op op;
  Config config;
};

void bind_toy(const void* args, const Problem& problem, const Config& config, const DeviceFacts&, Launch& launch) {
  launch.emplace<ToyParams>() = {args, problem.op, config};
  launch.block[0] = 128;
}

Family toy() {
  Family f{};
  f.name = "toy_sm80";
  f.min_compute_capability = 80;
  f.knobs = kKnobs;
  f.covers = [](const Problem&, const DeviceFacts&) { return true; };
  f.default_config = [](const Problem&, const DeviceFacts&) { return Config{}; };
  f.resources = [](const Problem&, const Config&) { return Resources{128, 1024, 32, 1}; };
  f.write_config = [](ConfigText&, const Problem&, const Config&) {};
  f.bind = bind_toy;
  return f;
}
const Family kToy = toy();

class BenchOnFakeGpu : public testing::Test {
 protected:
  void SetUp() override {
    driver().check(driver().cuDevicePrimaryCtxRetain(&context_, 0), "context");
    driver().check(driver().cuCtxPushCurrent(context_), "current");
    facts_ = device_facts(driver(), 0);
    facts_.l2_bytes = 4096;
    options_.scratch_bytes = 4096;  // nothing here has a cache
    controls_.set_launch_hook(run_toy, this);
    bytes_before_ = controls_.live_bytes();
    handles_before_ = controls_.live_handles();
  }
  void TearDown() override {
    EXPECT_EQ(controls_.live_bytes(), bytes_before_);
    EXPECT_EQ(controls_.live_handles(), handles_before_);
    CUcontext popped = nullptr;
    driver().cuCtxPopCurrent(&popped);
    driver().cuDevicePrimaryCtxRelease(0);
  }

  /// The "kernel": the reference, then the defect that the configuration stands for.
  static double run_toy(const CUlaunchConfig*, const char*, void** params, void* user) {
    auto& test = *static_cast<BenchOnFakeGpu*>(user);
    const auto& p = *static_cast<const ToyParams*>(params[0]);
    const Operator& op = operator_of(p.op);
    std::vector<std::byte> args(static_cast<const std::byte*>(p.args),
                                static_cast<const std::byte*>(p.args) + op.args_size);
    op.reference(args.data(), nullptr);
    for (const TensorSlot& slot : op.tensors)
      if (slot.role == TensorRole::output && present(tensor_at(args.data(), slot)))
        test.damage(tensor_at(args.data(), slot), p.config[0]);
    ++test.launches_;
    return test.time_us_ ? test.time_us_(p.config) : 50.0;
  }

  void damage(hstu_tensor& t, int32_t defect) const {
    auto* bits = static_cast<uint16_t*>(t.data);
    const auto row = [&](int64_t r) { return bits + r * t.stride[0]; };
    if (defect == 1) row(t.shape[0] - 1)[0] = 0x7f00;                                     // one enormous element
    if (defect == 2) std::fill_n(row(t.shape[0] / 2), t.shape[t.rank - 1], uint16_t{0});  // a row of zeros
    if (defect == 3 && t.shape[0] % 16 != 0) row(t.shape[0] - 1)[1] = 0xffff;             // a ragged tail left undone
    if (defect == 4) bits[unused_row_ * t.stride[0]] = 0;                                 // a row outside all sequences
    if (defect == 5) row(0)[0] ^= 1;                                                      // one rounding the other way
  }

  Candidate candidate(int32_t defect) const {
    auto kernel = std::make_shared<CompiledKernel>();
    kernel->name = "toy " + std::to_string(defect);
    kernel->entry = "toy";
    kernel->binary = "cubin";
    kernel->compiler = "NVRTC test";
    return {&kToy, Config{{defect}}, defect == 0, kernel};
  }

  /// layer_norm of [rows, 32] bf16; no buffer of the caller's is needed.
  hstu_layer_norm_args norm(int64_t rows) const {
    hstu_layer_norm_args args{};
    args.struct_size = sizeof args;
    args.x = hstu_matrix(reinterpret_cast<void*>(256), HSTU_DTYPE_BF16, rows, 32);
    args.out = hstu_matrix(reinterpret_cast<void*>(uintptr_t{1} << 40), HSTU_DTYPE_BF16, rows, 32);
    return args;
  }

  const fake_driver_controls& controls_ = test::use_fake_driver();
  CUcontext context_ = nullptr;
  DeviceFacts facts_;
  GpuBenchOptions options_;
  std::function<double(const Config&)> time_us_;
  int launches_ = 0;
  int64_t unused_row_ = 0;
  int64_t bytes_before_ = 0, handles_before_ = 0;
};

/// A gradient whose call adds to dbias, in the tuner's own buffers and workspace.
TEST_F(BenchOnFakeGpu, RestoresWhatTheCallAddsToBeforeEachRun) {
  auto args = sized<hstu_layer_norm_backward_args>();
  const auto at = [](int index) {
    return reinterpret_cast<void*>(uintptr_t{1} << 40 | static_cast<uintptr_t>(index) << 20);
  };
  args.forward.x = hstu_matrix(at(0), HSTU_DTYPE_BF16, 64, 32);
  args.forward.weight = hstu_vector(at(1), HSTU_DTYPE_BF16, 32);
  args.forward.bias = hstu_vector(at(2), HSTU_DTYPE_BF16, 32);
  args.dout = hstu_matrix(at(3), HSTU_DTYPE_BF16, 64, 32);
  args.dbias = hstu_vector(at(4), HSTU_DTYPE_F32, 32);
  args.workspace = at(5);
  args.workspace_size = operator_of(Op::layer_norm_backward).workspace->bytes(&args);
  args.accumulate = 1;
  const Problem problem = prepare(args);
  GpuBench bench(driver(), facts_, problem, &args, options_);
  EXPECT_TRUE(bench.verify(candidate(0)).right);
  bench.measure(candidate(0), 7);
  const Verdict again = bench.verify(candidate(0));
  EXPECT_TRUE(again.right) << again.why;
}

TEST_F(BenchOnFakeGpu, ReportsTheTimeOfTheKernelAlone) {
  auto args = norm(64);
  const Problem problem = prepare(args);
  GpuBench bench(driver(), facts_, problem, &args, options_);
  const Sample sample = bench.measure(candidate(0), 7);
  ASSERT_EQ(sample.seconds.size(), 7u);
  for (const double s : sample.seconds) EXPECT_NEAR(s, 50e-6, 1e-9);
  EXPECT_EQ(launches_, 2 + 7);  // after two to warm up
}

TEST_F(BenchOnFakeGpu, EvictsTheCacheBeforeEveryRun) {
  auto args = norm(64);
  const Problem problem = prepare(args);
  GpuBench bench(driver(), facts_, problem, &args, options_);
  const int64_t before = controls_.calls("cuMemsetD8Async");
  bench.measure(candidate(0), 7);
  EXPECT_EQ(controls_.calls("cuMemsetD8Async") - before, launches_);
}

TEST_F(BenchOnFakeGpu, AveragesShortRuns) {
  int n = 0;
  time_us_ = [&](const Config&) { return 4.0 + n++ % 2; };
  auto args = norm(64);
  const Problem problem = prepare(args);
  GpuBench bench(driver(), facts_, problem, &args, options_);
  const std::vector<double> seconds = bench.measure(candidate(0), 5).seconds;
  EXPECT_EQ(seconds.size(), 5u);
  for (const double s : seconds) EXPECT_NEAR(s, 4.5e-6, 1e-9);
  EXPECT_EQ(launches_, 2 + 5 * 8);
}

TEST_F(BenchOnFakeGpu, AcceptsWhatIsRightAndRejectsWhatIsWrong) {
  auto args = norm(64);
  const Problem problem = prepare(args);
  GpuBench bench(driver(), facts_, problem, &args, options_);
  const Verdict standard = bench.verify(candidate(0));
  EXPECT_TRUE(standard.right) << standard.why;
  EXPECT_TRUE(bench.verify(candidate(5)).right);
  EXPECT_FALSE(bench.verify(candidate(1)).right);
  EXPECT_FALSE(bench.verify(candidate(2)).right);
  EXPECT_TRUE(bench.verify(candidate(0)).right);
}

TEST_F(BenchOnFakeGpu, TriesARaggedShapeBesidesTheCallersOwn) {
  auto args = norm(64);
  const Problem problem = prepare(args);
  GpuBench bench(driver(), facts_, problem, &args, options_);
  ASSERT_TRUE(bench.verify(candidate(0)).right);
  const Verdict verdict = bench.verify(candidate(3));  // right for 64 rows, not for all
  EXPECT_FALSE(verdict.right);
  EXPECT_NE(verdict.why.find("edge case"), std::string::npos) << verdict.why;
}

TEST_F(BenchOnFakeGpu, ADefaultThatTheReferenceContradictsIsWrong) {
  auto args = norm(64);
  const Problem problem = prepare(args);
  GpuBench bench(driver(), facts_, problem, &args, options_);
  Candidate broken = candidate(2);
  broken.standard = true;
  const Verdict verdict = bench.verify(broken);
  EXPECT_FALSE(verdict.right);
  EXPECT_NE(verdict.why.find("reference"), std::string::npos) << verdict.why;
}

TEST_F(BenchOnFakeGpu, ANonDefaultCandidateCannotSetTheStandard) {
  auto args = norm(64);
  const Problem problem = prepare(args);
  GpuBench bench(driver(), facts_, problem, &args, options_);
  EXPECT_THROW(bench.verify(candidate(1)), Error);
}

TEST_F(BenchOnFakeGpu, WatchesRowsOutsideOfSequences) {
  std::vector<int64_t> offsets = {0, 5, 5, 17, 40, 49}, targets = {1, 0, 3, 9, 2};
  hstu_attention_args args{};
  args.struct_size = sizeof args;
  constexpr int64_t kRows = 64, kHeads = 2, kDim = 16;
  hstu_tensor* tensors[] = {&args.q, &args.k, &args.v, &args.out};
  for (size_t i = 0; i < 4; ++i)
    *tensors[i] = hstu_heads(reinterpret_cast<void*>((i + 1) << 32), HSTU_DTYPE_BF16, kRows, kHeads, kDim);
  args.seq_offsets = hstu_vector(offsets.data(), HSTU_DTYPE_I64, 6);
  args.mask.num_targets = hstu_vector(targets.data(), HSTU_DTYPE_I64, 5);
  args.max_seq_len = 32;
  const Problem problem = prepare(args);
  GpuBench bench(driver(), facts_, problem, &args, options_);
  const Verdict standard = bench.verify(candidate(0));
  ASSERT_TRUE(standard.right) << standard.why;
  EXPECT_TRUE(bench.verify(candidate(5)).right);
  unused_row_ = 60;
  const Verdict outside = bench.verify(candidate(4));
  EXPECT_FALSE(outside.right);
  EXPECT_NE(outside.why.find("row 120"), std::string::npos) << outside.why;
  EXPECT_EQ(offsets[5], 49);  // the caller's integers are copied, not changed
}

TEST_F(BenchOnFakeGpu, WithoutRowsThereIsNothingToTune) {
  auto args = norm(0);
  const Problem problem = prepare(args);
  GpuBench bench(driver(), facts_, problem, &args, options_);
  EXPECT_FALSE(bench.verify(candidate(0)).right);
}

TEST_F(BenchOnFakeGpu, KnowsADeadDevice) {
  auto args = norm(64);
  const Problem problem = prepare(args);
  GpuBench bench(driver(), facts_, problem, &args, options_);
  EXPECT_TRUE(bench.alive());
  controls_.fail_calls("cuStreamSynchronize", CUDA_ERROR_ILLEGAL_ADDRESS, -1);
  EXPECT_THROW(bench.verify(candidate(0)), Error);
  EXPECT_FALSE(bench.alive());
}

TEST_F(BenchOnFakeGpu, SaysThatMemoryIsShort) {
  auto args = norm(64);
  const Problem problem = prepare(args);
  controls_.fail_calls("cuMemAlloc", CUDA_ERROR_OUT_OF_MEMORY, 1);
  try {
    const GpuBench bench(driver(), facts_, problem, &args, options_);
    FAIL();
  } catch (const Error& e) { EXPECT_EQ(e.status(), HSTU_ERROR_OUT_OF_MEMORY); }
}

TEST_F(BenchOnFakeGpu, TunesACallFromEndToEnd) {
  time_us_ = [](const Config& c) { return c[0] == 5 ? 30.0 : c[0] == 2 ? 10.0 : 50.0; };
  auto args = norm(64);
  const Problem problem = prepare(args);
  Records records(RecordsOptions{"", ""});
  {
    GpuBench bench(driver(), facts_, problem, &args, options_);
    const TuneTask task{problem, facts_, {&kToy}, {facts_.name, "", "digest", "0.1.0", driver().version}};
    const TuneResult result = tune(task, records, bench, [&](const Source& source) {
      auto kernel = std::make_shared<CompiledKernel>();
      kernel->name = source.name;
      kernel->entry = "toy";
      kernel->binary = "cubin";
      kernel->compiler = "NVRTC test";
      return kernel;
    });
    EXPECT_EQ(result.record.trial.config, "defect=5");
    EXPECT_EQ(result.record.trial.timing.median_ns, 30'000);
    EXPECT_EQ(result.record.standard_ns, 50'000);
    EXPECT_GE(result.failed, 3);
  }
  EXPECT_TRUE(records.find(problem, facts_.device_class()));
}

}  // namespace
}  // namespace hstujit
