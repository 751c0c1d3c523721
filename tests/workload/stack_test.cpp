// A stack runs through the C API and computes what its mathematics says.
#include "support/error.hpp"
#include "support/source_dir.hpp"
#include "workload/stack_check.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <ostream>

namespace hstujit {
namespace {

struct DestroyContext {
  void operator()(hstu_context* context) const { hstu_context_destroy(context); }
};
using ContextPointer = std::unique_ptr<hstu_context, DestroyContext>;

ContextPointer cpu_context() {
  hstu_context_options options{};
  options.struct_size = sizeof options;
  options.device = "cpu";
  options.store_path = "";
  hstu_context* context = nullptr;
  EXPECT_EQ(hstu_context_create(&context, &options), HSTU_OK) << hstu_last_error();
  return ContextPointer(context);
}

Workload workload(const std::string& dtype, const std::string& more, int layers = 2) {
  return parse_workload(R"({"format": "hstujit-workload-1", "name": "t", "dtype": ")" + dtype + R"(",
    "sequences": {"batch": 4, "history": {"kind": "explicit", "lengths": [9, 0, 1, 14]}, "targets": 3},
    "stack": {"layers": )" +
                        std::to_string(layers) +
                        R"(, "embedding_dim": 24, "num_heads": 3, "attn_dim": 8, "hidden_dim": 16)" + more + "}}");
}

StackCheck run_and_check(const Workload& w) {
  const ContextPointer context = cpu_context();
  const std::unique_ptr<Memory> memory = host_memory();
  const Stack stack(expand_stack(w), *memory, 1);
  stack.set_up(context.get(), nullptr);
  stack.run(context.get(), nullptr);
  return check_stack(w, stack);
}

struct Variant {
  const char* name;
  const char* dtype;
  const char* more;

  friend void PrintTo(const Variant& variant, std::ostream* out) { *out << variant.name; }
};
class StackOnCpu : public testing::TestWithParam<Variant> {};

TEST_P(StackOnCpu, AgreesWithTheMathematics) {
  const StackCheck check = run_and_check(workload(GetParam().dtype, GetParam().more));
  EXPECT_TRUE(check.passed()) << check.relative_error << " > " << check.tolerance;
  EXPECT_GT(check.relative_error, 0) << "rounded results never agree exactly";
}

INSTANTIATE_TEST_SUITE_P(
    Variants, StackOnCpu,
    testing::Values(Variant{"F32", "f32", ""}, Variant{"F16", "f16", ""}, Variant{"Bf16", "bf16", ""},
                    Variant{"Plain", "f32", R"(, "concat_ux": false)"},
                    Variant{"Window", "f32", R"(, "max_attn_len": 4, "min_full_attn_seq_len": 2)"},
                    Variant{"Contextual", "f32", R"(, "contextual_seq_len": 2, "max_attn_len": 3)"},
                    Variant{"Scale", "f32", R"(, "alpha": 0.7, "scaling_seqlen": 11, "max_seq_len": 40, "eps": 0.01)"}),
    [](const auto& param_info) { return std::string(param_info.param.name); });

class QuantisedStack : public testing::TestWithParam<Variant> {};

TEST_P(QuantisedStack, AgreesWithTheMathematicsThatQuantisesAlike) {
  const StackCheck check =
      run_and_check(workload(GetParam().dtype, R"(, "projections": "e4m3")" + std::string(GetParam().more)));
  EXPECT_TRUE(check.passed()) << check.relative_error << " > " << check.tolerance << ", or "
                              << check.quantisation_error.value_or(1) << " > " << check.quantisation_tolerance;
  EXPECT_LE(check.relative_error, 1e-6) << "the reference rounds where this does";
  EXPECT_GT(check.quantisation_error.value_or(0), 0.01);
}

INSTANTIATE_TEST_SUITE_P(Variants, QuantisedStack,
                         testing::Values(Variant{"F32", "f32", ""}, Variant{"F16", "f16", ""},
                                         Variant{"Bf16", "bf16", ""},
                                         Variant{"Plain", "bf16", R"(, "concat_ux": false)"},
                                         Variant{"Fast", "bf16", R"(, "accumulation": "fast")"}),
                         [](const auto& param_info) { return std::string(param_info.param.name); });

// As devices have it that make the output stage so: rows of it have other scales.
TEST(QuantisedStackWithOutputStagesOfOneCall, AgreesWithTheMathematicsThatQuantisesAlike) {
  const ContextPointer context = cpu_context();
  const std::unique_ptr<Memory> memory = host_memory();
  for (const char* const dtype : {"f16", "bf16"}) {
    const Workload w = workload(dtype, R"(, "projections": "e4m3", "accumulation": "fast")");
    ASSERT_TRUE(can_be_fused(w).output);
    const Stack stack(expand_stack(w, {.output = true}), *memory, 1);
    stack.set_up(context.get(), nullptr);
    stack.run(context.get(), nullptr);
    const StackCheck check = check_stack(w, stack);
    EXPECT_TRUE(check.passed()) << check.relative_error << " > " << check.tolerance << ", or "
                                << check.quantisation_error.value_or(1) << " > " << check.quantisation_tolerance;
    EXPECT_LE(check.relative_error, 2e-3) << "but for values that statistics in f32 move to a neighbour";
    EXPECT_GT(check.quantisation_error.value_or(0), 0.01);
  }
  EXPECT_FALSE(can_be_fused(workload("bf16", R"(, "projections": "e4m3")")).output) << "exact sums";
}

TEST(StackCheck, NoticesWhatIsWrongWithQuantisedProjections) {
  const ContextPointer context = cpu_context();
  const std::unique_ptr<Memory> memory = host_memory();
  const std::string fp8 = R"(, "projections": "e4m3")";
  const Workload w = workload("bf16", fp8), other = workload("bf16", fp8 + R"(, "max_attn_len": 6)");
  const Stack stack(expand_stack(w), *memory, 1);
  EXPECT_FALSE(check_stack(w, stack).passed());
  stack.set_up(context.get(), nullptr);
  EXPECT_FALSE(check_stack(w, stack).passed());
  stack.run(context.get(), nullptr);
  EXPECT_TRUE(check_stack(w, stack).passed());
  EXPECT_FALSE(check_stack(other, stack).passed());
  static_cast<float*>(stack.base("layers.1.output_weight_descale"))[5] *= 1.5f;
  EXPECT_FALSE(check_stack(w, stack).passed()) << "a scale that the product has not used";
}

/// A twin that reads the same weights as they are.
TEST(Stack, WithoutQuantisationIsThatOfItsTransposedWeights) {
  const ContextPointer context = cpu_context();
  const std::unique_ptr<Memory> memory = host_memory();
  const Workload w = workload("bf16", R"(, "projections": "e4m3")"),
                 twin = workload("bf16", R"(, "weights_transposed": true)");
  const Stack quantised(expand_stack(w), *memory, 1), exact(expand_stack(twin), *memory, 1);
  quantised.set_up(context.get(), nullptr);
  quantised.run(context.get(), nullptr);
  exact.run(context.get(), nullptr);
  EXPECT_TRUE(check_stack(twin, exact).passed());
  EXPECT_EQ(expected_result(w, quantised), expected_result(twin, exact));
  const StackCheck check = check_stack(w, quantised);
  EXPECT_NEAR(relative_error(quantised.result(), exact.result()), *check.quantisation_error, 5e-3);
}

TEST(StackCheck, NoticesAnotherMask) {
  const ContextPointer context = cpu_context();
  const std::unique_ptr<Memory> memory = host_memory();
  const Workload w = workload("f32", ""), other = workload("f32", R"(, "max_attn_len": 6)");
  const Stack stack(expand_stack(w), *memory, 1);
  stack.run(context.get(), nullptr);
  EXPECT_TRUE(check_stack(w, stack).passed());
  EXPECT_FALSE(check_stack(other, stack).passed());
}

TEST(StackCheck, FailsForAStackThatNeverRan) {
  const std::unique_ptr<Memory> memory = host_memory();
  const Workload w = workload("bf16", "");
  const Stack stack(expand_stack(w), *memory, 1);
  EXPECT_FALSE(check_stack(w, stack).passed());
}

TEST(StackCheck, FailsForNan) {
  EXPECT_FALSE((StackCheck{std::nan(""), 1, std::nullopt, 0}.passed()));
  EXPECT_FALSE((StackCheck{0, 1, std::nullopt, 0, std::nan(""), 1}.passed()));
  EXPECT_TRUE(std::isnan(element_error(std::vector{1.0, std::nan("")}, std::vector{1.0, 1.0}, 2)));
}

/// Of many rows, in whose norm it does not show.
TEST(StackCheck, NoticesOneWrongElement) {
  const ContextPointer context = cpu_context();
  const std::unique_ptr<Memory> memory = host_memory();
  for (const char* const more : {"", R"(, "projections": "e4m3")"})
    for (const char* const dtype : {"bf16", "f16", "f32"}) {
      const Workload w = workload(dtype, more, 1);
      const Stack stack(expand_stack(w), *memory, 1);
      stack.set_up(context.get(), nullptr);
      stack.run(context.get(), nullptr);
      const StackCheck right = check_stack(w, stack);
      EXPECT_TRUE(right.passed()) << dtype << more << ": " << right.element_error;
      EXPECT_LE(right.element_error, right.element_tolerance / 4) << dtype << more;
      const std::vector<double> expected = expected_result(w, stack);
      std::vector<double> got = expected;
      got[5 * 24 + 7] = -got[5 * 24 + 8];
      EXPECT_GT(element_error(got, expected, 24), right.element_tolerance) << dtype << more;
    }
}

TEST(Stack, RunsTwiceWithTheSameResult) {
  const ContextPointer context = cpu_context();
  const std::unique_ptr<Memory> memory = host_memory();
  const Stack stack(expand_stack(workload("bf16", "", 3)), *memory, 1);
  stack.run(context.get(), nullptr);
  const std::vector<double> first = stack.result();
  stack.run(context.get(), nullptr);
  EXPECT_EQ(stack.result(), first);
}

TEST(Stack, RepeatsLargeBuffersWithAPeriodThatShiftsRows) {
  Calls calls;
  calls.buffers.push_back({"big", HSTU_DTYPE_BF16, 3'500'000, Buffer::Content::random, 0, 1, {}});
  const std::unique_ptr<Memory> memory = host_memory();
  const std::vector<double> values = Stack(calls, *memory, 1).read("big");
  for (size_t i = 1'000'003; i < values.size(); ++i) ASSERT_EQ(values[i], values[i - 1'000'003]) << i;
  EXPECT_FALSE(std::equal(values.begin(), values.begin() + 512, values.begin() + 512 * 1954));
}

TEST(Stack, PutsTheCallInFrontOfTheLibrarysMessage) {
  const std::unique_ptr<Memory> memory = host_memory();
  const Stack stack(expand_stack(workload("bf16", "")), *memory, 1);
  try {
    stack.run(2, nullptr, nullptr);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), HSTU_ERROR_INVALID_ARGUMENT);
    EXPECT_TRUE(error.message().starts_with("attention: context = NULL")) << error.message();
  }
}

TEST(Stack, RefusesUnknownBuffers) {
  const std::unique_ptr<Memory> memory = host_memory();
  const Stack stack(expand_stack(workload("bf16", "")), *memory, 1);
  EXPECT_THROW(stack.read("y"), Error);
}

TEST(SmallVersion, KeepsTheLayerAndShrinksTheTraffic) {
  const Workload w = read_workload(test::source_dir() / "tools/workloads/dlrm_v3.json");
  const Workload small = small_version(w);
  EXPECT_EQ(small.stack->hidden_dim, w.stack->hidden_dim);
  EXPECT_EQ(small.stack->layers, 2);
  EXPECT_LT(cost_of(expand_stack(small).calls[1], expand_stack(small)).flops, 1e9);
}

}  // namespace
}  // namespace hstujit
