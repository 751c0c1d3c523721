// The table of operators: names, slots, and what calls cost.
#include "operators/sample_args.hpp"

#include <algorithm>

namespace hstujit {
namespace {

TEST(Operators, TableIsInTheOrderOfOpAndNamesAgree) {
  ASSERT_EQ(operators().size(), static_cast<size_t>(kOpCount));
  for (int i = 0; i < kOpCount; ++i) {
    const Operator& op = operators()[static_cast<size_t>(i)];
    EXPECT_EQ(op.op, static_cast<Op>(i));
    EXPECT_EQ(op.name, name_of(op.op));
    EXPECT_EQ(&operator_of(op.op), &op);
    EXPECT_GE(std::count_if(op.tensors.begin(), op.tensors.end(),
                            [](const TensorSlot& slot) { return slot.role == TensorRole::output; }),
              1);
  }
}

TEST(Operators, SlotsFindTheirTensors) {
  auto args = test::sample_attention();
  const Operator& op = operator_of(Op::attention);
  EXPECT_EQ(op.args_size, sizeof args);
  for (const TensorSlot& slot : op.tensors) {
    EXPECT_EQ(&tensor_at(&args, slot) == &args.mask.num_targets, slot.name == "num_targets");
    EXPECT_EQ(&tensor_at(&args, slot) == &args.out, slot.name == "out");
    EXPECT_EQ(slot.role == TensorRole::integer, slot.name == "seq_offsets" || slot.name == "num_targets" ||
                                                    slot.name == "intervals" || slot.name == "num_contexts");
  }
}

TEST(Operators, PrepareThroughTheTableEqualsTheTypedForm) {
  auto typed = test::sample_addmm(), through = typed;
  EXPECT_EQ(operator_of(Op::addmm).prepare(&through), prepare(typed));
}

TEST(Operators, ExtentReachesToTheEndOfTheLastElement) {
  EXPECT_EQ(extent_bytes(hstu_matrix(nullptr, HSTU_DTYPE_BF16, 3, 5)), 30);
  EXPECT_EQ(extent_bytes({nullptr, HSTU_DTYPE_F32, 2, 0, {3, 5}, {8, 1}}), 4 * (16 + 5));
  EXPECT_EQ(extent_bytes({nullptr, HSTU_DTYPE_F32, 2, 0, {3, 5}, {1, 4}}), 4 * (16 + 3));
  EXPECT_EQ(extent_bytes(hstu_matrix(nullptr, HSTU_DTYPE_BF16, 0, 5)), 0);
  EXPECT_EQ(extent_bytes(hstu_tensor{}), 0);
}

TEST(Operators, CostOfAddmm) {
  auto args = test::sample_addmm();
  prepare(args);
  const Cost cost = operator_of(Op::addmm).cost(&args);
  EXPECT_EQ(cost.flops, 2.0 * 40 * 64 * 96);
  EXPECT_EQ(cost.bytes, 2.0 * (40 * 64 + 64 * 96 + 2 * 40 * 96));
  args.residual = {};
  args.bias = hstu_vector(test::slot(2), HSTU_DTYPE_F32, 96);
  EXPECT_EQ(operator_of(Op::addmm).cost(&args).bytes, 2.0 * (40 * 64 + 64 * 96 + 40 * 96) + 4 * 96);
}

TEST(Operators, CostOfNormsIsTheirTraffic) {
  auto norm = test::sample_layer_norm();
  prepare(norm);
  EXPECT_EQ(operator_of(Op::layer_norm).cost(&norm).bytes, 2.0 * 2 * 40 * 96 + 2 * 4 * 96);
  norm.moments = hstu_heads(test::slot(4), HSTU_DTYPE_F32, 40, 1, 2);
  prepare(norm);
  EXPECT_EQ(operator_of(Op::layer_norm).cost(&norm).bytes, 2.0 * 2 * 40 * 96 + 2 * 4 * 96 + 8 * 40);
  auto norm_mul = test::sample_norm_mul();
  prepare(norm_mul);
  EXPECT_EQ(operator_of(Op::norm_mul).cost(&norm_mul).bytes, 4.0 * 5 * 40 * 96 + 2 * 4 * 4);
}

TEST(Operators, CostOfAttentionCountsAllowedPairsOnly) {
  // Lengths 6, 0, 8 of 50 rows; worked matrices A and C of the specification.
  const int64_t offsets[] = {0, 6, 6, 14};
  int32_t targets[] = {2, 0, 2};
  auto args = test::sample_attention();
  args.seq_offsets.data = const_cast<int64_t*>(offsets);
  args.mask.num_targets.data = targets;
  prepare(args);
  const double pairs_unlimited = (1 + 2 + 3 + 4 + 5 + 5) + (1 + 2 + 3 + 4 + 5 + 6 + 7 + 7);
  EXPECT_EQ(operator_of(Op::attention).cost(&args).flops, 2 * pairs_unlimited * 2 * (64 + 32));
  EXPECT_EQ(operator_of(Op::attention).cost(&args).bytes, 14.0 * 2 * 2 * (64 + 32) * 2 + 4 * 8 + 3 * 4 + 50 * 4);

  args.mask.max_attn_len = 2;
  const double pairs_window = (1 + 2 + 3 + 3 + 3 + 3) + (1 + 2 + 3 + 3 + 3 + 3 + 3 + 3);
  EXPECT_EQ(operator_of(Op::attention).cost(&args).flops, 2 * pairs_window * 2 * (64 + 32));
  targets[2] = 9;  // more than there are rows: the diagonal
  EXPECT_EQ(operator_of(Op::attention).cost(&args).flops, 2 * (15.0 + 8) * 2 * (64 + 32));
}

}  // namespace
}  // namespace hstujit
