// The second shape that candidates must survive.
#include "operators/operators.hpp"

#include <gtest/gtest.h>

namespace hstujit {
namespace {

TEST(EdgeCase, RowOperatorsGetARaggedNumberOfRows) {
  for (const int64_t rows : {1, 2, 64, 4096}) {
    hstu_layer_norm_args args{};
    args.x = hstu_matrix(nullptr, HSTU_DTYPE_BF16, rows, 8);
    args.out = args.x;
    Integers integers(operator_of(Op::layer_norm).tensors.size());
    make_edge_case(args, integers);
    EXPECT_EQ(args.x.shape[0], args.out.shape[0]);
    EXPECT_GT(args.x.shape[0], rows / 2);  // the same bucket
    EXPECT_LE(args.x.shape[0], rows);
    EXPECT_TRUE(rows < 4 || args.x.shape[0] % 2 == 1);
  }
}

TEST(EdgeCase, AProductKeepsItsWeightAndItsBiasRow) {
  hstu_addmm_args args{};
  args.x = hstu_matrix(nullptr, HSTU_DTYPE_BF16, 64, 64);
  args.w = hstu_matrix(nullptr, HSTU_DTYPE_BF16, 64, 32);
  args.bias = hstu_vector(nullptr, HSTU_DTYPE_BF16, 32);
  args.out = hstu_matrix(nullptr, HSTU_DTYPE_BF16, 64, 32);
  hstu_addmm_args residual = args;
  residual.bias = {}, residual.residual = args.out;
  Integers integers(operator_of(Op::addmm).tensors.size());
  make_edge_case(args, integers);
  make_edge_case(residual, integers);
  EXPECT_EQ(args.x.shape[0], 47);
  EXPECT_EQ(args.out.shape[0], 47);
  EXPECT_EQ(args.w.shape[0], 64);
  EXPECT_EQ(args.bias.shape[0], 32);
  EXPECT_EQ(residual.residual.shape[0], 47);
}

Integers edge_of(std::vector<int64_t> offsets, std::vector<int64_t> targets) {
  hstu_attention_args args{};
  const Operator& op = operator_of(Op::attention);
  Integers integers(op.tensors.size());
  for (size_t slot = 0; slot < op.tensors.size(); ++slot) {
    if (op.tensors[slot].name == "seq_offsets") integers[slot] = offsets;
    if (op.tensors[slot].name == "num_targets") integers[slot] = targets;
  }
  make_edge_case(args, integers);
  return integers;
}

TEST(EdgeCase, AttentionGetsEmptyAndShortAndFullSequences) {
  const Integers integers = edge_of({0, 10, 20, 30, 40, 50}, {3, 3, 3, 3, 3});
  EXPECT_EQ(integers[4], (std::vector<int64_t>{0, 0, 1, 8, 18, 18}));
  EXPECT_EQ(integers[5], (std::vector<int64_t>{0, 1, 3, 3, 0}));
}

TEST(EdgeCase, FewSequencesStayAlive) {
  EXPECT_EQ(edge_of({0, 100}, {})[4], (std::vector<int64_t>{0, 75}));
  EXPECT_EQ(edge_of({0, 1}, {1})[5], (std::vector<int64_t>{1}));
  EXPECT_TRUE(edge_of({}, {})[4].empty());
}

}  // namespace
}  // namespace hstujit
