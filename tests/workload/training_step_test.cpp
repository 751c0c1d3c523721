// A training step as calls: the same gradients as the two chains give, and a check that sees what is wrong.
#include "support/error.hpp"
#include "workload/gradient_check.hpp"
#include "workload/stack_args.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>

namespace hstujit {
namespace {

Workload workload(const std::string& dtype, const std::string& more = "") {
  return parse_workload(R"({"format": "hstujit-workload-1", "name": "t", "dtype": ")" + dtype + R"(",
    "sequences": {"batch": 4, "history": {"kind": "explicit", "lengths": [9, 0, 1, 14]}, "targets": 3},
    "stack": {"layers": 2, "embedding_dim": 24, "num_heads": 3, "attn_dim": 8, "hidden_dim": 16)" +
                        more + "}}");
}

class TrainingStep : public testing::Test {
 protected:
  void SetUp() override {
    hstu_context_options options{};
    options.struct_size = sizeof options;
    options.device = "cpu";
    options.store_path = "";
    ASSERT_EQ(hstu_context_create(&context_, &options), HSTU_OK) << hstu_last_error();
  }
  void TearDown() override { hstu_context_destroy(context_); }

  hstu_context* context_ = nullptr;
  std::unique_ptr<Memory> memory_ = host_memory();
};

TEST_F(TrainingStep, HasTheGradientsOfAllParametersAndOfX) {
  const Calls calls = training_step(workload("bf16"), chain::Fusing(chain::FusedStages{}));
  EXPECT_EQ(gradients_of(calls).size(), 1u + 2 * 7);
  EXPECT_EQ(calls.calls.size(), 2u * 5 + 2 * 10);
}

TEST_F(TrainingStep, GivesTheGradientsOfTheTwoChains) {
  for (const char* more : {"", R"(, "weights_transposed": true)"}) {
    const Workload w = workload("bf16", more);
    const Stack step(training_step(w, chain::Fusing(chain::FusedStages{})), *memory_, 1);
    step.run(context_, nullptr);
    std::vector<std::vector<double>> expected;
    for (const std::string& name : gradients_of(step.calls())) {
      expected.push_back(step.read(name));
      const Buffer& buffer = step.calls().buffers[static_cast<size_t>(step.calls().find(name))];
      std::memset(step.base(name), 0xff, static_cast<size_t>(buffer.bytes()));
    }
    const StackArgs args(w, step, StackUse::training);
    ASSERT_EQ(hstu_stack(context_, &args.args(), nullptr), HSTU_OK) << hstu_last_error();
    ASSERT_EQ(hstu_stack_backward(context_, &args.backward(), nullptr), HSTU_OK) << hstu_last_error();
    size_t at = 0;
    for (const std::string& name : gradients_of(step.calls())) EXPECT_EQ(step.read(name), expected[at++]) << name;
  }
}

TEST_F(TrainingStep, IsCheckedAgainstF32) {
  for (const char* dtype : {"bf16", "f16", "f32"}) {
    const Workload w = workload(dtype);
    const Stack step(training_step(w, chain::Fusing(chain::FusedStages{})), *memory_, 1);
    step.run(context_, nullptr);
    const GradientCheck check = check_gradients(w, step, context_);
    EXPECT_TRUE(check.passed()) << dtype << ": " << check.worst << " " << check.relative_error;
    EXPECT_EQ(check.gradients, 15);
  }
}

TEST_F(TrainingStep, AWrongGradientFailsTheCheckByName) {
  const Workload w = workload("bf16");
  const Stack step(training_step(w, chain::Fusing(chain::FusedStages{})), *memory_, 1);
  step.run(context_, nullptr);
  const char* const name = "gradients.1.output_norm_bias";
  auto* const elements = static_cast<uint16_t*>(step.base(name));
  elements[3] = 0x42c8;  // 100
  const GradientCheck wrong = check_gradients(w, step, context_);
  EXPECT_FALSE(wrong.passed());
  EXPECT_EQ(wrong.worst, name);
  elements[3] = 0x7fff;  // NaN
  EXPECT_FALSE(check_gradients(w, step, context_).passed());
}

TEST_F(TrainingStep, ProjectionsInFp8HaveNoGradientYet) {
  try {
    training_step(workload("bf16", R"(, "projections": "e4m3")"), chain::Fusing(chain::FusedStages{}));
    FAIL() << "it has one";
  } catch (const Error& error) { EXPECT_EQ(error.status(), HSTU_ERROR_UNSUPPORTED) << error.message(); }
}

}  // namespace
}  // namespace hstujit
