// A record is anybody's: a configuration that does not compile, load or launch gives way to the default, which is
// counted, and told of once.
#include "capi/fake_gpu.hpp"
#include "support/captured_log.hpp"
#include "support/scoped_env.hpp"
#include "support/source_dir.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace hstujit {
namespace {

namespace fs = std::filesystem;
using test::TempDir;

class UnusableRecord : public FakeGpu {
 protected:
  void SetUp() override {
    FakeGpu::SetUp();
    tune_by_hand(store_.str(), norm());
  }
  hstu_status call(int64_t rows = 4) {
    const hstu_layer_norm_args args = norm(rows);
    return hstu_layer_norm(context_, &args, nullptr);
  }
  void expect_default(int64_t misses = 1) {
    EXPECT_EQ(counters().unusable_records, misses);
    EXPECT_GE(counters().default_plans, 1);
    EXPECT_EQ(log_->lines(), 1) << log_->str();
    EXPECT_NE(log_->str().find("the default runs instead"), std::string::npos) << log_->str();
  }
  hstu_context* open_and_listen(hstu_miss_policy policy = HSTU_MISS_DEFAULT) {
    open(store_.str(), policy);
    log_.emplace();
    return context_;
  }

  TempDir store_;
  std::optional<test::CapturedLog> log_;
};

TEST_F(UnusableRecord, ASoundOneIsUsed) {
  open_and_listen();
  ASSERT_EQ(call(), HSTU_OK) << hstu_last_error();
  EXPECT_EQ(counters().tuned_plans, 1);
  EXPECT_EQ(counters().unusable_records, 0);
  EXPECT_EQ(log_->str(), "");
}

TEST_F(UnusableRecord, ThatDoesNotLoadGivesWay) {
  open_and_listen();
  fake_->fail_calls("cuModuleLoadData", CUDA_ERROR_INVALID_IMAGE, 1);
  ASSERT_EQ(call(), HSTU_OK) << hstu_last_error();
  expect_default();
  ASSERT_EQ(call(), HSTU_OK) << hstu_last_error();
  expect_default();
}

TEST_F(UnusableRecord, ThatDoesNotLaunchGivesWay) {
  open_and_listen();
  fake_->fail_calls("cuLaunchKernelEx", CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, 1);
  ASSERT_EQ(call(), HSTU_OK) << hstu_last_error();
  expect_default();
  EXPECT_EQ(fake_->launches(), 1);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(call(), HSTU_OK) << hstu_last_error();
  EXPECT_EQ(fake_->launches(), 4);
  expect_default();
}

TEST_F(UnusableRecord, ThatDoesNotLaunchGivesWayInAPlanToo) {
  open_and_listen();
  const hstu_layer_norm_args args = norm();
  hstu_plan* plan = nullptr;
  ASSERT_EQ(hstu_plan_get(&plan, context_, "layer_norm", &args, nullptr), HSTU_OK) << hstu_last_error();
  fake_->fail_calls("cuLaunchKernelEx", CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, 1);
  ASSERT_EQ(hstu_plan_launch(plan, nullptr, nullptr), HSTU_OK) << hstu_last_error();
  expect_default();
  ASSERT_EQ(hstu_plan_launch(plan, nullptr, nullptr), HSTU_OK) << hstu_last_error();
  EXPECT_EQ(fake_->launches(), 2);
  hstu_plan_release(plan);
}

TEST_F(UnusableRecord, ThatDoesNotLaunchGivesWayWhereItsPlanWasMadeBefore) {
  open_and_listen();
  const hstu_layer_norm_args args = norm();
  hstu_plan* plan = nullptr;
  ASSERT_EQ(hstu_plan_get(&plan, context_, "layer_norm", &args, nullptr), HSTU_OK) << hstu_last_error();
  fake_->fail_calls("cuLaunchKernelEx", CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, 1);
  ASSERT_EQ(call(), HSTU_OK) << hstu_last_error();
  expect_default();
  hstu_plan_release(plan);
}

TEST_F(UnusableRecord, IsNotBlamedForADeviceThatIsGone) {
  open_and_listen();
  fake_->fail_calls("cuLaunchKernelEx", CUDA_ERROR_LAUNCH_FAILED, -1);
  EXPECT_EQ(call(), HSTU_ERROR_DEVICE);
  EXPECT_EQ(counters().unusable_records, 0);
  fake_->fail_calls("cuLaunchKernelEx", CUDA_ERROR_LAUNCH_FAILED, 0);
  ASSERT_EQ(call(), HSTU_OK) << hstu_last_error();
  EXPECT_EQ(counters().unusable_records, 0);
  open_and_listen();
  fake_->fail_calls("cuModuleLoadData", CUDA_ERROR_INVALID_IMAGE, -1);
  EXPECT_EQ(call(), HSTU_ERROR_DEVICE);
  EXPECT_EQ(counters().unusable_records, 0);
}

TEST_F(UnusableRecord, IsNotExchangedOnceAllIsFrozen) {
  open_and_listen();
  const hstu_layer_norm_args args = norm();
  hstu_plan* plan = nullptr;
  ASSERT_EQ(hstu_plan_get(&plan, context_, "layer_norm", &args, nullptr), HSTU_OK) << hstu_last_error();
  ASSERT_EQ(hstu_context_freeze(context_), HSTU_OK);
  fake_->fail_calls("cuLaunchKernelEx", CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, 1);
  EXPECT_EQ(call(), HSTU_ERROR_DEVICE);
  EXPECT_EQ(counters().unusable_records, 0);
  hstu_plan_release(plan);
}

TEST_F(UnusableRecord, GivesWayInTheBackgroundToo) {
  open_and_listen(HSTU_MISS_ASYNC);
  fake_->fail_calls("cuModuleLoadData", CUDA_ERROR_INVALID_IMAGE, 1);
  EXPECT_EQ(call(), HSTU_ERROR_NOT_READY);
  ASSERT_EQ(hstu_context_finish(context_), HSTU_OK);
  ASSERT_EQ(call(), HSTU_OK) << hstu_last_error();
  EXPECT_EQ(counters().failed_preparations, 0);
  expect_default();
}

using UnusableRecordOfAStack = StackCalls;

TEST_F(UnusableRecordOfAStack, GivesWayInItsStep) {
  const TempDir store;
  const auto address = [](int i) { return reinterpret_cast<void*>(uintptr_t{1 + static_cast<unsigned>(i)} << 36); };
  hstu_layer_norm_args first_step{};
  first_step.struct_size = sizeof first_step;
  first_step.x = hstu_matrix(address(0), HSTU_DTYPE_BF16, kRows, kDim);
  first_step.out = hstu_matrix(address(1), HSTU_DTYPE_BF16, kRows, kDim);
  first_step.weight = hstu_vector(address(2), HSTU_DTYPE_BF16, kDim);
  first_step.bias = hstu_vector(address(3), HSTU_DTYPE_BF16, kDim);
  tune_by_hand(store.str(), first_step);
  hstu_stack_args args = stack();
  open(store.str());
  ASSERT_EQ(hstu_stack(context_, &args, nullptr), HSTU_OK) << hstu_last_error();
  ASSERT_EQ(counters().tuned_plans, 1) << "the record is of a step of this stack";
  const int64_t launches = fake_->launches();
  for (const int before : {0, 1}) {  // with its plan made by the stack, and before it
    open(store.str());
    const int64_t start = fake_->launches();
    hstu_plan* plan = nullptr;
    if (before > 0) { EXPECT_EQ(hstu_plan_get(&plan, context_, "layer_norm", &first_step, nullptr), HSTU_OK); }
    fake_->fail_calls("cuLaunchKernelEx", CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, 1);
    ASSERT_EQ(hstu_stack(context_, &args, nullptr), HSTU_OK) << hstu_last_error();
    EXPECT_EQ(counters().unusable_records, 1);
    EXPECT_EQ(fake_->launches() - start, launches) << "no step twice, none left out";
    ASSERT_EQ(hstu_stack(context_, &args, nullptr), HSTU_OK) << hstu_last_error();
    EXPECT_EQ(fake_->launches() - start, 2 * launches);
    hstu_plan_release(plan);
  }
}

/// The record's configuration has other threads than the default; the kernel's source refuses them.
TEST_F(UnusableRecord, ThatDoesNotCompileGivesWay) {
  hstu_layer_norm_args args = norm();
  const Problem problem = prepare(args);
  const DeviceFacts facts = *facts_of_target("sm_90a");
  const Family& family = *families_for(problem, facts).front();
  const Config standard = family.default_config(problem, facts);
  const int threads = family.resources(problem, standard).threads;
  const Space space = enumerate(family, problem, facts);
  const auto other = std::ranges::find_if(
      space.points(), [&](const Config& c) { return family.resources(problem, c).threads != threads; });
  ASSERT_NE(other, space.points().end());

  const TempDir folder;
  fs::copy(test::source_dir() / "kernels", folder.path() / "kernels", fs::copy_options::recursive);
  const fs::path file = folder.path() / "kernels" / family.header();
  std::ostringstream source;
  source << std::ifstream(file).rdbuf();
  std::string text = source.str();
  const std::string start = "(const __grid_constant__ tile::NormParams<Config> p) {";
  ASSERT_NE(text.find(start), std::string::npos) << file;
  text.insert(text.find(start) + start.size(),
              "\n  static_assert(Config::kThreads == " + std::to_string(threads) + ", \"refused by a test\");\n");
  std::ofstream(file) << text;
  const test::ScopedEnv kernels("HSTUJIT_KERNELS", (folder.path() / "kernels").string().c_str());

  const TempDir store;
  tune_by_hand(store.str(), norm(), &*other);
  open(store.str());
  log_.emplace();
  ASSERT_EQ(call(), HSTU_OK) << hstu_last_error();
  expect_default();
  EXPECT_NE(log_->str().find("refused by a test"), std::string::npos) << log_->str();
  EXPECT_LT(log_->str().size(), 1500u);
}

}  // namespace
}  // namespace hstujit
