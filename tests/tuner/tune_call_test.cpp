// A call tuned with the real family, compiler and records; only the device is the fake one, whose layer norm is the
// reference.
#include "tuner/tune_call.hpp"

#include "launch/module.hpp"
#include "norm/row_norm.h"
#include "operators/operators.hpp"
#include "records/choose.hpp"
#include "support/nvrtc.hpp"
#include "support/use_fake_driver.hpp"

#include <gtest/gtest.h>

#include <atomic>

namespace hstujit {
namespace {

constexpr int64_t kDim = 64;

/// layer_norm on "device" memory; blocks of 256 threads are the fastest.
double run_layer_norm(const CUlaunchConfig* config, const char*, void** params, void*) {
  const auto& p = *static_cast<const hstu::RowNormParams*>(params[0]);
  hstu_layer_norm_args args{};
  args.struct_size = sizeof args;
  args.x = hstu_matrix(p.x, HSTU_DTYPE_BF16, p.rows, kDim);
  args.out = hstu_matrix(p.y, HSTU_DTYPE_BF16, p.rows, kDim);
  prepare(args);
  operator_of(Op::layer_norm).reference(&args, nullptr);
  return config->blockDimX == 256 ? 40 : 60;
}

TEST(TuneCall, LeavesARecordThatTheNextChoiceTakes) {
  HSTU_NEEDS_NVRTC();
  const fake_driver_controls& controls = test::use_fake_driver();
  CUcontext context = nullptr;
  driver().check(driver().cuDevicePrimaryCtxRetain(&context, 0), "context");
  const CurrentContext current(driver(), context);
  controls.set_launch_hook(run_layer_norm, nullptr);
  DeviceFacts facts = device_facts(driver(), 0);
  facts.l2_bytes = 0;

  hstu_layer_norm_args args{};
  args.struct_size = sizeof args;
  args.x = hstu_matrix(reinterpret_cast<void*>(uintptr_t{1} << 30), HSTU_DTYPE_BF16, 128, kDim);
  args.out = hstu_matrix(reinterpret_cast<void*>(uintptr_t{1} << 40), HSTU_DTYPE_BF16, 128, kDim);
  const Problem problem = prepare(args);

  Jit jit({});
  Records records(RecordsOptions{"", ""});
  std::atomic<bool> cancel{false};
  TuneOptions options;
  options.cancel = &cancel;
  options.budget_ms = 600'000;  // not what ends it, however slowly this machine compiles
  double best = 1;
  options.progress = [&](const TuneProgress& p) {
    best = p.best_seconds;
    cancel = best < 50e-6;  // all that this test waits for
  };
  const TuneResult result = tune_call(driver(), facts, jit, records, problem, &args, options);
  EXPECT_NEAR(best, 40e-6, 1e-9);
  EXPECT_NE(result.record.trial.config.find("threads=256"), std::string::npos) << result.record.trial.config;
  EXPECT_EQ(result.record.trial.timing.median_ns, 40'000);
  EXPECT_EQ(result.record.evidence.device, facts.name);
  EXPECT_EQ(result.record.evidence.compiler.substr(0, 6), "NVRTC ");
  EXPECT_EQ(result.record.evidence.kernels.size(), 32u);
  EXPECT_GT(result.record.trial.registers, 0);

  const Choice choice = choose(records, problem, facts, false);
  EXPECT_EQ(choice.from, Choice::From::record);
  EXPECT_EQ(text(*choice.family, choice.config), result.record.trial.config);
}

TEST(TuneCall, TheDigestOfTheSourcesIsThatOfTheFamilysKernel) {
  KernelSources sources;
  const Family* norm = family_named("layer_norm_sm80");
  const Family* product = family_named("addmm_sm80");
  ASSERT_TRUE(norm && product);
  EXPECT_EQ(kernels_digest({norm}, sources), kernels_digest({norm}, sources));
  EXPECT_NE(kernels_digest({norm}, sources), kernels_digest({product}, sources));
  EXPECT_NE(kernels_digest({norm}, sources), kernels_digest({norm, product}, sources));
}

}  // namespace
}  // namespace hstujit
