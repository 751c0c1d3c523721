// Softmax heads and the relative bias in the reference of hstu_attention, against the operators that share their maths.
#include "support/attention_cases.hpp"
#include "support/oracle.hpp"

#include <algorithm>
#include <cmath>

namespace hstujit {
namespace {

using test::AttentionCase;
using test::exact_result;
using test::HostMemory;
using Args = hstu_attention_args;
using Flash = hstu_flash_attention_args;

TEST(HstuAttentionReference, SoftmaxHeadsAreFlashAttention) {
  HostMemory memory;
  const Args args = test::attention_args(memory, {.dtype = HSTU_DTYPE_F32,
                                                  .heads = 3,
                                                  .dim_qk = 8,
                                                  .dim_v = 4,
                                                  .lengths = {5, 0, 9},
                                                  .softmax_heads = 2,
                                                  .lse = true,
                                                  .spare_rows = 2});
  Flash flash{};
  flash.struct_size = sizeof flash;
  flash.q = args.q, flash.k = args.k, flash.v = args.v, flash.out = args.out;
  flash.lse = memory.poison(HSTU_DTYPE_F32, {3, 16});
  flash.seq_offsets = args.seq_offsets;
  flash.max_seq_len = 9;
  Args plain = args;
  plain.num_softmax_heads = 0;
  plain.lse = {};
  const auto out = exact_result(args, &Args::out), lse = exact_result(args, &Args::lse);
  const auto silu = exact_result(plain, &Args::out);
  const auto flash_out = exact_result(flash, &Flash::out), flash_lse = exact_result(flash, &Flash::lse);
  for (size_t row = 0; row < 14; ++row)
    for (size_t head = 0; head < 3; ++head) {
      for (size_t d = 0; d < 4; ++d) {
        const size_t at = (row * 3 + head) * 4 + d;
        EXPECT_NEAR(out[at], head < 2 ? flash_out[at] : silu[at], 1e-12) << row << ' ' << head;
      }
      if (head == 2) continue;
      EXPECT_NEAR(lse[head * 16 + row], flash_lse[head * 16 + row], 1e-12);
    }
  EXPECT_TRUE(std::isnan(lse[15])) << "rows behind the last sequence are left alone";
}

TEST(HstuAttentionReference, StatisticsAreThoseOfWhatOutHolds) {
  HostMemory memory;
  Args args = test::attention_args(
      memory, {.dtype = HSTU_DTYPE_BF16, .heads = 2, .dim_qk = 8, .dim_v = 5, .lengths = {3, 0, 4}, .spare_rows = 2});
  args.moments = memory.poison(HSTU_DTYPE_F32, {9, 2, 2});
  prepare(args);
  reference::run(args);
  const std::vector<double> out = test::values(args.out), moments = test::values(args.moments);
  for (size_t part = 0; part < 14; ++part) {
    double mean = 0, squares = 0;
    for (size_t d = 0; d < 5; ++d) mean += out[part * 5 + d] / 5;
    for (size_t d = 0; d < 5; ++d) squares += std::pow(out[part * 5 + d] - mean, 2);
    EXPECT_NEAR(moments[2 * part], mean, 1e-7);
    EXPECT_NEAR(moments[2 * part + 1], squares, 1e-6 * squares);
  }
  EXPECT_TRUE(std::isnan(moments[28])) << "rows behind the last sequence are left alone";
}

TEST(HstuAttentionReference, GroupsOfHeadsReadTheSameKeys) {
  HostMemory memory;
  const AttentionCase c{
      .dtype = HSTU_DTYPE_F32, .heads = 6, .dim_qk = 8, .dim_v = 4, .kv_heads = 2, .lengths = {5, 0, 9}};
  const Args grouped = test::attention_args(memory, c);
  Args repeated = grouped;  // each head of k and v stands three times, for q's heads 0 to 2 and 3 to 5
  for (auto [from, to] : {std::pair{&grouped.k, &repeated.k}, {&grouped.v, &repeated.v}}) {
    *to = memory.poison(HSTU_DTYPE_F32, {from->shape[0], 6, from->shape[2]});
    for (int64_t row = 0; row < 14; ++row)
      for (int64_t at = 0; at < 6 * from->shape[2]; ++at) {
        const int64_t head = at / from->shape[2], source = head / 3 * from->shape[2] + at % from->shape[2];
        static_cast<float*>(to->data)[row * to->stride[0] + at] =
            static_cast<const float*>(from->data)[row * from->stride[0] + source];
      }
  }
  const auto got = exact_result(grouped, &Args::out), expected = exact_result(repeated, &Args::out);
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < 14 * 6 * 4; ++i) EXPECT_EQ(got[i], expected[i]) << i;
}

TEST(HstuAttentionReference, ConstantBiasIsAShiftOfTheScores) {
  HostMemory memory;
  const AttentionCase c{.dtype = HSTU_DTYPE_F32,
                        .heads = 1,
                        .dim_qk = 4,
                        .dim_v = 3,
                        .lengths = {1},
                        .bias = test::Bias::shared,
                        .spare_rows = 0};
  Args args = test::attention_args(memory, c);
  args.alpha = 0.5f;
  args.scaling_seqlen = 1;
  test::fill(args.rab, 0.75);
  const auto q = test::values(args.q), k = test::values(args.k), v = test::values(args.v);
  double score = 0.75;
  for (size_t d = 0; d < 4; ++d) score += q[d] * k[d];
  score *= 0.5;
  EXPECT_NEAR(exact_result(args, &Args::out)[1], score / (1 + std::exp(-score)) * v[1], 1e-12);
}

TEST(HstuAttentionReference, BiasOfAPairMovesThatPairOnly) {
  HostMemory memory;
  Args args = test::attention_args(memory, {.dtype = HSTU_DTYPE_F32,
                                            .heads = 2,
                                            .dim_qk = 4,
                                            .dim_v = 3,
                                            .lengths = {2, 6},
                                            .bias = test::Bias::of_heads,
                                            .spare_rows = 0});
  test::fill(args.rab, 0);
  const auto before = exact_result(args, &Args::out);
  const int64_t position = 4, key = 1;  // of sequence 1, head 1
  static_cast<float*>(args.rab.data)[args.rab.stride[0] + args.rab.stride[1] + position * args.rab.stride[2] + key] = 1;
  const auto after = exact_result(args, &Args::out);
  for (size_t row = 0; row < 8; ++row)
    for (size_t head = 0; head < 2; ++head)
      EXPECT_EQ(after[(row * 2 + head) * 3] != before[(row * 2 + head) * 3], row == 6 && head == 1)
          << row << ' ' << head;
}

/// New rows of a biased sequence are the last rows of the whole, whether its keys are jagged or in pages.
TEST(HstuAttentionReference, NewRowsReadTheBiasOfTheirPositions) {
  constexpr int64_t kNew = 3, kDim = 4, kRow = 2 * kDim;
  HostMemory memory;
  const AttentionCase c{.dtype = HSTU_DTYPE_F32,
                        .heads = 2,
                        .dim_qk = kDim,
                        .dim_v = kDim,
                        .lengths = {5, 3, 9},
                        .bias = test::Bias::of_heads,
                        .spare_rows = 0};
  const Args whole = test::attention_args(memory, c);
  hstu_delta_attention_args delta{};
  delta.struct_size = sizeof delta;
  delta.q = memory.poison(HSTU_DTYPE_F32, {3 * kNew, 2, kDim});
  delta.out = memory.poison(HSTU_DTYPE_F32, {3 * kNew, 2, kDim});
  delta.k = whole.k, delta.v = whole.v, delta.rab = whole.rab, delta.seq_offsets = whole.seq_offsets;
  delta.max_seq_len = whole.max_seq_len;
  hstu_paged_attention_args paged{};
  paged.struct_size = sizeof paged;
  paged.q = delta.q, paged.out = delta.out, paged.rab = delta.rab, paged.max_seq_len = delta.max_seq_len;
  paged.k_cache = memory.poison(HSTU_DTYPE_F32, {3, 9, 2, kDim});
  paged.v_cache = memory.poison(HSTU_DTYPE_F32, {3, 9, 2, kDim});
  paged.last_page_lens = memory.integers(HSTU_DTYPE_I32, c.lengths);
  const auto copy = [](const hstu_tensor& to, int64_t row, const hstu_tensor& from, int64_t source, int64_t rows) {
    const auto* const begin = static_cast<const float*>(from.data) + source * kRow;
    std::copy(begin, begin + rows * kRow, static_cast<float*>(to.data) + row * kRow);
  };
  const int64_t ends[] = {5, 8, 17};
  for (int64_t b = 0; b < 3; ++b) {
    const int64_t length = c.lengths[static_cast<size_t>(b)];
    copy(delta.q, b * kNew, whole.q, ends[b] - kNew, kNew);
    copy(paged.k_cache, b * 9, whole.k, ends[b] - length, length);
    copy(paged.v_cache, b * 9, whole.v, ends[b] - length, length);
  }
  const auto all = exact_result(whole, &Args::out), tails = exact_result(delta, &hstu_delta_attention_args::out);
  const auto in_pages = exact_result(paged, &hstu_paged_attention_args::out);
  for (size_t b = 0; b < 3; ++b)
    for (size_t i = 0; i < kNew * kRow; ++i) {
      const double expected = all[static_cast<size_t>((ends[b] - kNew) * kRow) + i];
      EXPECT_NEAR(tails[b * kNew * kRow + i], expected, 1e-12) << b << ' ' << i;
      EXPECT_NEAR(in_pages[b * kNew * kRow + i], expected, 1e-12) << b << ' ' << i;
    }
}

}  // namespace
}  // namespace hstujit
