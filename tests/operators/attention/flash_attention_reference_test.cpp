// The reference of softmax attention against results that are known without it.
#include "support/oracle.hpp"

#include <cmath>

namespace hstujit {
namespace {

using test::exact_result;
using test::HostMemory;
using Args = hstu_flash_attention_args;

constexpr hstu_dtype kF32 = HSTU_DTYPE_F32;

Args dense(HostMemory& memory, int64_t queries, int64_t keys, hstu_mask mask) {
  Args args{};
  args.struct_size = sizeof args;
  args.q = memory.random(kF32, {2, 3, queries, 4});
  args.k = memory.random(kF32, {2, 3, keys, 4});
  args.v = memory.random(kF32, {2, 3, keys, 5});
  args.out = memory.poison(kF32, {2, 3, queries, 5});
  args.lse = memory.poison(kF32, {2, 3, queries});
  args.mask.kind = mask;
  return args;
}

TEST(FlashAttentionReference, EqualScoresGiveTheMeanOfTheSeenValues) {
  HostMemory memory;
  Args args = dense(memory, 4, 6, HSTU_MASK_CAUSAL);
  test::fill(args.q, 0);
  const auto out = exact_result(args, &Args::out), lse = exact_result(args, &Args::lse);
  const auto v = test::values(args.v);
  for (size_t i = 0; i < 4; ++i) {
    const size_t seen = i + 3;  // the last query stands at the last key
    double mean = 0;
    for (size_t j = 0; j < seen; ++j) mean += v[j * 5 + 2] / static_cast<double>(seen);
    EXPECT_NEAR(out[i * 5 + 2], mean, 1e-12);
    EXPECT_NEAR(lse[i], std::log(static_cast<double>(seen)), 1e-12);
  }
}

TEST(FlashAttentionReference, WeightsFollowTheScaledScores) {
  HostMemory memory;
  Args args = dense(memory, 1, 2, HSTU_MASK_FULL);
  args.scale = 0.7f;
  const auto q = test::values(args.q), k = test::values(args.k), v = test::values(args.v);
  const auto out = exact_result(args, &Args::out), lse = exact_result(args, &Args::lse);
  double score[2] = {0, 0};
  for (size_t j = 0; j < 2; ++j)
    for (size_t d = 0; d < 4; ++d) score[j] += static_cast<double>(args.scale) * q[d] * k[j * 4 + d];
  const double sum = std::exp(score[0]) + std::exp(score[1]);
  EXPECT_NEAR(lse[0], std::log(sum), 1e-12);
  EXPECT_NEAR(out[1], (std::exp(score[0]) * v[1] + std::exp(score[1]) * v[6]) / sum, 1e-12);
}

TEST(FlashAttentionReference, QueriesWithoutKeysGiveZerosAndMinusInfinity) {
  HostMemory memory;
  const Args args = dense(memory, 5, 3, HSTU_MASK_CAUSAL);
  const auto out = exact_result(args, &Args::out), lse = exact_result(args, &Args::lse);
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(out[i * 5] == 0, i < 2) << i;
    EXPECT_EQ(std::isinf(lse[i]), i < 2) << i;
  }
}

TEST(FlashAttentionReference, JaggedSequencesAreDenseOnesOneByOne) {
  HostMemory memory;
  Args jagged{};
  jagged.struct_size = sizeof jagged;
  jagged.q = memory.random(kF32, {9, 3, 4});
  jagged.k = memory.random(kF32, {9, 3, 4});
  jagged.v = memory.random(kF32, {9, 3, 5});
  jagged.out = memory.poison(kF32, {9, 3, 5});
  jagged.lse = memory.poison(kF32, {3, 9});
  jagged.seq_offsets = memory.integers(HSTU_DTYPE_I32, {0, 2, 2, 8});
  jagged.max_seq_len = 6;
  const auto out = exact_result(jagged, &Args::out), lse = exact_result(jagged, &Args::lse);
  const auto view = [](const hstu_tensor& t, int64_t dim) {  // rows 2 to 7 as [1, heads, rows, dim]
    hstu_tensor r = test::rows_of(t, 2, 6);
    r.rank = 4;
    r.shape[0] = 1, r.shape[1] = 3, r.shape[2] = 6, r.shape[3] = dim;
    r.stride[0] = 27 * dim, r.stride[1] = dim, r.stride[2] = 3 * dim, r.stride[3] = 1;
    return r;
  };
  Args one{};
  one.struct_size = sizeof one;
  one.q = view(jagged.q, 4), one.k = view(jagged.k, 4), one.v = view(jagged.v, 5);
  one.out = memory.poison(kF32, {1, 3, 6, 5});
  one.lse = memory.poison(kF32, {1, 3, 6});
  const auto one_out = exact_result(one, &Args::out), one_lse = exact_result(one, &Args::lse);
  for (size_t h = 0; h < 3; ++h)
    for (size_t i = 0; i < 6; ++i) {
      EXPECT_EQ(lse[h * 9 + 2 + i], one_lse[h * 6 + i]);
      for (size_t d = 0; d < 5; ++d) EXPECT_EQ(out[((2 + i) * 3 + h) * 5 + d], one_out[(h * 6 + i) * 5 + d]);
    }
  EXPECT_TRUE(std::isnan(out[8 * 15])) << "the row behind the last sequence is left alone";
}

}  // namespace
}  // namespace hstujit
