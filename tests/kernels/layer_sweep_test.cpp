// A stack of layers as one call on the device in every element type: right by the mathematics written down a second
// time, and the numbers of its operators one by one.
#include "support/device_call.hpp"
#include "workload/stack.hpp"
#include "workload/stack_args.hpp"
#include "workload/stack_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace hstujit {
namespace {

struct Case {
  const char* dtype;
  int hidden_dim;  ///< of 64 the operators write in place
  const char* more = "";
};
constexpr const char *kFp8 = R"(, "projections": "e4m3")",
                     *kFastFp8 = R"(, "projections": "e4m3", "accumulation": "fast")";

Workload workload(const Case& c) {
  return parse_workload(fmt::format(
      R"({{"format": "hstujit-workload-1", "name": "t", "dtype": "{}",
    "sequences": {{"batch": 5, "history": {{"kind": "explicit", "lengths": [90, 0, 1, 140, 64]}}, "targets": 3}},
    "stack": {{"layers": 2, "embedding_dim": 48, "num_heads": 2, "attn_dim": 32, "hidden_dim": {}{}}}}})",
      c.dtype, c.hidden_dim, c.more));
}

/// The operators' results, which are there, are right, and the call writes the same bits.
void expect_right_and_equal(const Workload& w, const Stack& stack, const hstu_stack_args& args, Memory& memory) {
  const std::vector<double> expected = stack.result();
  const StackCheck check = check_stack(w, stack);
  EXPECT_TRUE(check.passed()) << check.relative_error << " of " << check.tolerance << ", or "
                              << check.quantisation_error.value_or(0) << " of " << check.quantisation_tolerance
                              << ", or of an element " << check.element_error << " of " << check.element_tolerance;
  const auto bytes = static_cast<size_t>(extent_bytes(args.out));
  memory.upload(args.out.data, std::string(bytes, '\xff').data(), bytes);
  ASSERT_EQ(hstu_stack(test::test_device()->context, &args, nullptr), HSTU_OK) << hstu_last_error();
  memory.synchronise();
  EXPECT_EQ(stack.result(), expected);
}

class StackOnDevice : public testing::TestWithParam<Case> {};

TEST_P(StackOnDevice, IsRightAndEqualsItsOperators) {
  HSTU_NEEDS_DEVICE();
  const test::TestDevice& device = *test::test_device();
  const Workload w = workload(GetParam());
  const std::unique_ptr<Memory> memory = device.memory();
  const Stack stack(expand_stack(w), *memory, 1);
  stack.set_up(device.context, nullptr);
  stack.run(device.context, nullptr);
  const StackArgs args(w, stack);
  if (device.compile_only) {
    ASSERT_EQ(hstu_stack(device.context, &args.args(), nullptr), HSTU_OK) << hstu_last_error();
    GTEST_SKIP() << "compiled, not run";
  }
  memory->synchronise();
  expect_right_and_equal(w, stack, args.args(), *memory);
}

// Rows and columns enough for stages to be one product where the device has it: the output stage, the first, or both.
// Its layers are then one launch less each, and the numbers those of gated_addmm, gated_fp8_gemm and norm_addmm.
struct LargeCase {
  const char *dtype, *layers;
  int batch = 48;
};
constexpr const char *kMany = R"("embedding_dim": 2176, "num_heads": 2, "attn_dim": 32, "hidden_dim": 32)",
                     *kRows = R"("embedding_dim": 64, "num_heads": 2, "attn_dim": 32, "hidden_dim": 32)",
                     *kRowsOfBoth = R"("embedding_dim": 256, "num_heads": 1, "attn_dim": 32, "hidden_dim": 64)",
                     *kManyInFp8 = R"("embedding_dim": 1280, "num_heads": 2, "attn_dim": 32, "hidden_dim": 192,
                     "projections": "e4m3", "accumulation": "fast")";
class LargeStackOnDevice : public testing::TestWithParam<LargeCase> {};

TEST_P(LargeStackOnDevice, IsRightAndEqualsItsOperators) {
  HSTU_NEEDS_DEVICE();
  const test::TestDevice& device = *test::test_device();
  if (device.cpu) GTEST_SKIP() << "too much for the reference";
  const Workload w = parse_workload(fmt::format(
      R"({{"format": "hstujit-workload-1", "name": "t", "dtype": "{}",
    "sequences": {{"batch": {}, "history": {{"kind": "uniform", "from": 60, "to": 120, "seed": 1}}, "targets": 3}},
    "stack": {{"layers": 2, {}}}}})",
      GetParam().dtype, GetParam().batch, GetParam().layers));
  const std::unique_ptr<Memory> memory = device.memory();
  const Stack stack(stack_on(device.facts(), w), *memory, 1);
  const StackArgs args(w, stack);
  stack.set_up(device.context, nullptr);
  stack.run(device.context, nullptr);
  ASSERT_EQ(hstu_stack(device.context, &args.args(), nullptr), HSTU_OK) << hstu_last_error();
  if (device.compile_only) GTEST_SKIP() << "compiled, not run";
  stack.run(device.context, nullptr);
  memory->synchronise();
  expect_right_and_equal(w, stack, args.args(), *memory);
}

const auto kNameOfLarge = [](const auto& info) { return std::string(info.param.dtype); };
constexpr int kManySequences = 400;
INSTANTIATE_TEST_SUITE_P(ManyRows, LargeStackOnDevice,
                         testing::Values(LargeCase{"f16", kRows, kManySequences},
                                         LargeCase{"bf16", kRowsOfBoth, kManySequences}),
                         kNameOfLarge);
INSTANTIATE_TEST_SUITE_P(Types, LargeStackOnDevice, testing::Values(LargeCase{"f16", kMany}, LargeCase{"bf16", kMany}),
                         kNameOfLarge);
INSTANTIATE_TEST_SUITE_P(Fp8, LargeStackOnDevice, testing::Values(LargeCase{"bf16", kManyInFp8}), kNameOfLarge);

const auto kNameOf = [](const auto& info) { return fmt::format("{}_{}", info.param.dtype, info.param.hidden_dim); };
INSTANTIATE_TEST_SUITE_P(Types, StackOnDevice,
                         testing::Values(Case{"f32", 16}, Case{"f32", 64}, Case{"f16", 64}, Case{"bf16", 64}), kNameOf);
INSTANTIATE_TEST_SUITE_P(Fp8, StackOnDevice,
                         testing::Values(Case{"f32", 16, kFp8}, Case{"f16", 64, kFp8}, Case{"bf16", 64, kFp8}),
                         kNameOf);
INSTANTIATE_TEST_SUITE_P(FastFp8, StackOnDevice, testing::Values(Case{"bf16", 64, kFastFp8}), kNameOf);

/// The launches that a thread keeps are of the weights that its last call had.
TEST(QuantisedStackOnDevice, TakesOtherFp8Weights) {
  HSTU_NEEDS_RESULTS();
  const test::TestDevice& device = *test::test_device();
  const Workload w = workload({"bf16", 64, kFp8});
  const std::unique_ptr<Memory> memory = device.memory();
  const Stack stack(expand_stack(w), *memory, 1), other(expand_stack(w), *memory, 2);
  const StackArgs args(w, stack), others(w, other);
  stack.set_up(device.context, nullptr);
  other.set_up(device.context, nullptr);
  hstu_fp8_layer_weights place[2];
  const auto run = [&](const hstu_fp8_layer_weights* weights) {
    std::copy(weights, weights + 2, place);  // the pointer stays the same
    hstu_stack_args call = args.args();
    call.fp8_layers = place;
    call.fp8_layer_size = sizeof(hstu_fp8_layer_weights);
    EXPECT_EQ(hstu_stack(device.context, &call, nullptr), HSTU_OK) << hstu_last_error();
    memory->synchronise();
    return stack.result();
  };
  const std::vector<double> first = run(args.args().fp8_layers);
  EXPECT_NE(run(others.args().fp8_layers), first);
  EXPECT_EQ(run(args.args().fp8_layers), first);
}

}  // namespace
}  // namespace hstujit
