// The bound on errors of FP8 attention's weights, by calls whose weights are known.
#include "support/fp8_weights.hpp"

#include <cmath>

namespace hstujit::test {
namespace {

using Args = hstu_attention_fp8_args;

/// One head of dimension 16, one sequence. Every q is one; every k is `k`, every v one.
Args args_of(HostMemory& memory, int64_t rows, double k, hstu_fp8_attention_scaling scaling) {
  Args args{};
  args.struct_size = sizeof args;
  for (hstu_tensor* const t : {&args.q, &args.k, &args.v}) {
    *t = memory.poison(HSTU_DTYPE_E4M3, {rows, 1, 16});
    fill(*t, t == &args.k ? k : 1);
  }
  args.out = memory.poison(HSTU_DTYPE_BF16, {rows, 1, 16});
  args.scaling = scaling;
  const int64_t units = scaling == HSTU_FP8_ATTENTION_BLOCK ? (rows + 127) / 128 : 1;
  for (hstu_tensor* const t : {&args.q_descale, &args.k_descale, &args.v_descale}) {
    *t = scaling == HSTU_FP8_ATTENTION_BLOCK ? memory.poison(HSTU_DTYPE_F32, {units, 1})
                                             : memory.poison(HSTU_DTYPE_F32, {1});
    std::fill_n(static_cast<float*>(t->data), units, 1.0f);
  }
  args.seq_offsets = memory.integers(HSTU_DTYPE_I64, {0, rows});
  args.alpha = 1;
  args.max_seq_len = rows;
  args.scaling_seqlen = 1;
  return args;
}

/// What is not the rounding itself is a small part.
void expect_near(double bound, double rounding) {
  EXPECT_GE(bound, rounding * (1 - 1e-6));
  EXPECT_LE(bound, rounding * 1.3);
}

TEST(ErrorOfFp8Weights, IsASixteenthOfOneKeysPowerOfTwo) {
  HostMemory memory;
  const Exact bound = error_of_fp8_weights(args_of(memory, 1, 0.5, HSTU_FP8_ATTENTION_TENSOR));
  ASSERT_EQ(bound.size(), 16u);
  for (const double b : bound) expect_near(b, 0.25);  // a score of 8 and a weight of nearly that
}

TEST(ErrorOfFp8Weights, IsThatOfTheSmallestNumbersNextToZero) {
  HostMemory memory;
  const Exact bound =
      error_of_fp8_weights(args_of(memory, 1, 0x1p-9, HSTU_FP8_ATTENTION_TENSOR));  // a weight of 2^-6.2
  expect_near(bound[0], 0x1p-10);
}

// A gain of 2^10 makes normal numbers of such weights.
TEST(ErrorOfFp8Weights, GoesByTheScalesOfScores) {
  HostMemory memory;
  Args args = args_of(memory, 1, 4, HSTU_FP8_ATTENTION_TENSOR);
  *static_cast<float*>(args.k_descale.data) = 0x1p-20f;
  // A score of 2^-14 and a weight of half of that, in numbers between 2^-5 and 2^-4.
  expect_near(error_of_fp8_weights(args)[0], 0x1p-9 / 1024);
}

TEST(ErrorOfFp8Weights, SaturatesWeightsThatTheTypeDoesNotReach) {
  HostMemory memory;
  expect_near(error_of_fp8_weights(args_of(memory, 1, 32, HSTU_FP8_ATTENTION_TENSOR))[0], 512 - 448);
}

TEST(ErrorOfFp8Weights, OfManyKeysGrowsAsTheirRoot) {
  HostMemory memory;
  const Exact bound = error_of_fp8_weights(args_of(memory, 400, 0.5, HSTU_FP8_ATTENTION_TENSOR));
  EXPECT_DOUBLE_EQ(bound[16 * 3], 4 * bound[0]);  // all one way: less than six deviations
  EXPECT_NEAR(bound[16 * 399], 6 / std::sqrt(3.0) * 20 * bound[0], 1e-3);
}

// The second block's rows see the first one's keys, whose values are 2^12 times as large.
TEST(ErrorOfFp8Weights, GoesByTheGreatestValuesThatABlockSees) {
  HostMemory memory;
  Args args = args_of(memory, 256, 0.5, HSTU_FP8_ATTENTION_BLOCK);
  args.mask.max_attn_len = 1;  // a row sees itself and the one before
  auto* const v = static_cast<float*>(args.v_descale.data);
  const double step = error_of_fp8_weights(args)[0];
  v[0] = 4096;
  const Exact bound = error_of_fp8_weights(args);
  EXPECT_DOUBLE_EQ(bound[0], 4096 * step);
  expect_near(bound[16 * 255], 2 * 4096 * 0x1p-10);                   // eight times 2^-12 is not normal
  args.seq_offsets = memory.integers(HSTU_DTYPE_I64, {0, 128, 256});  // sequences of their own
  EXPECT_DOUBLE_EQ(error_of_fp8_weights(args)[16 * 255], 2 * step);
}

}  // namespace
}  // namespace hstujit::test
