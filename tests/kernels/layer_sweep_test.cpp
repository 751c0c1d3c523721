// A stack of layers as one call on the device in every element type: right by the mathematics written down a second
// time, and the numbers of its operators one by one.
#include "support/device_call.hpp"
#include "workload/stack.hpp"
#include "workload/stack_args.hpp"
#include "workload/stack_check.hpp"

#include <fmt/format.h>

#include <string>

namespace hstujit {
namespace {

struct Case {
  const char* dtype;
  int hidden_dim;  ///< of 64 the operators write in place
};

Workload workload(const Case& c) {
  return parse_workload(fmt::format(
      R"({{"format": "hstujit-workload-1", "name": "t", "dtype": "{}",
    "sequences": {{"batch": 5, "history": {{"kind": "explicit", "lengths": [90, 0, 1, 140, 64]}}, "targets": 3}},
    "stack": {{"layers": 2, "embedding_dim": 48, "num_heads": 2, "attn_dim": 32, "hidden_dim": {}}}}})",
      c.dtype, c.hidden_dim));
}

class StackOnDevice : public testing::TestWithParam<Case> {};

TEST_P(StackOnDevice, IsRightAndEqualsItsOperators) {
  HSTU_NEEDS_DEVICE();
  const test::TestDevice& device = *test::test_device();
  const Workload w = workload(GetParam());
  const std::unique_ptr<Memory> memory = device.memory();
  const Stack stack(expand_stack(w), *memory, 1);
  stack.run(device.context, nullptr);
  const StackArgs args(w, stack, *memory);
  if (device.compile_only) {
    ASSERT_EQ(hstu_stack(device.context, &args.args(), nullptr), HSTU_OK) << hstu_last_error();
    GTEST_SKIP() << "compiled, not run";
  }
  memory->synchronise();
  const std::vector<double> expected = stack.result();
  const StackCheck check = check_stack(w, stack);
  EXPECT_TRUE(check.passed()) << check.relative_error << " of " << check.tolerance;
  const auto bytes = static_cast<size_t>(extent_bytes(args.args().out));
  memory->upload(args.args().out.data, std::string(bytes, '\xff').data(), bytes);
  ASSERT_EQ(hstu_stack(device.context, &args.args(), nullptr), HSTU_OK) << hstu_last_error();
  memory->synchronise();
  EXPECT_EQ(stack.result(), expected);
}

const auto kNameOf = [](const auto& info) { return fmt::format("{}_{}", info.param.dtype, info.param.hidden_dim); };
INSTANTIATE_TEST_SUITE_P(Types, StackOnDevice,
                         testing::Values(Case{"f32", 16}, Case{"f32", 64}, Case{"f16", 64}, Case{"bf16", 64}), kNameOf);

}  // namespace
}  // namespace hstujit
