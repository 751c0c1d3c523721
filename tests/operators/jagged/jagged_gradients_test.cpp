// Gradients of jagged operators that are calls of others, as docs/gradients.md lists them: for a linear forward F and
// its gradient G, <dout, F(x)> = <G(dout), x>. Whole numbers, so that both are exact.
#include "operators/on_host.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace hstujit::reference {
namespace {

using Numbers = std::vector<float>;
using Integers = std::vector<int64_t>;

constexpr int64_t kDim = 3;

hstu_tensor rows(const Numbers& values) {
  return hstu_matrix(values.data(), HSTU_DTYPE_F32, static_cast<int64_t>(values.size()) / kDim, kDim);
}
hstu_tensor elements(const Numbers& values) {
  return hstu_vector(values.data(), HSTU_DTYPE_F32, static_cast<int64_t>(values.size()));
}

/// Numbers from -11 to 11, different for each seed.
Numbers numbers(int64_t count, int seed) {
  Numbers out;
  for (int64_t i = 0; i < count; ++i) out.push_back(static_cast<float>((i * 7 + seed * 5) % 23 - 11));
  return out;
}

double product(const Numbers& a, const Numbers& b) {
  EXPECT_EQ(a.size(), b.size());
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += double{a[i]} * double{b[i]};
  return sum;
}

const Integers kOffsets{0, 5, 5, 8, 12};  // of 12 rows

TEST(JaggedGradients, TruncationIsUndoneByAConcatenationOfZeros) {
  const Integers targets{2, 0, 0, 1};
  for (const int64_t contextual : {0, 1})
    for (const int64_t keep : {0, 1, 9}) {
      const Numbers x = numbers(12 * kDim, 1);
      Numbers out(12 * kDim);
      Integers out_offsets(5);
      hstu_jagged_truncate_history_args forward{};
      forward.values = rows(x);
      forward.seq_offsets = vector(kOffsets);
      forward.num_targets = vector(targets);
      forward.out = rows(out);
      forward.out_offsets = vector(out_offsets);
      forward.contextual_seq_len = contextual;
      forward.keep = keep;
      execute(forward);
      out.resize(static_cast<size_t>(out_offsets.back() * kDim));

      const Numbers dout = numbers(out_offsets.back() * kDim, 2), zeros(kDim);
      Numbers dx(12 * kDim, 77);
      Integers dropped;
      for (size_t b = 0; b < out_offsets.size(); ++b) dropped.push_back(kOffsets[b] - out_offsets[b]);
      hstu_concat_2d_jagged_args gradient{};
      gradient.left = rows(zeros);
      gradient.left.shape[0] = dropped.back();
      gradient.left.stride[0] = 0;
      gradient.offsets_left = vector(dropped);
      gradient.right = rows(dout);
      gradient.offsets_right = vector(out_offsets);
      gradient.n_prefix_from_right = contextual;
      gradient.out = rows(dx);
      execute(gradient);
      EXPECT_EQ(product(dout, out), product(dx, x)) << contextual << " " << keep;
    }
}

TEST(JaggedGradients, ReplacementByLengthsHasTheOneByOffsets) {
  const Integers left_lengths{5, 0, 3, 4}, right_lengths{2, 1, 4, 0}, right_offsets{0, 2, 3, 7, 7};
  const Numbers left = numbers(12 * kDim, 1), right = numbers(7 * kDim, 2), dout = numbers(12 * kDim, 3);
  Numbers out(left.size()), dleft(left.size(), 77), dright(right.size(), 77);
  hstu_replace_last_n_with_jagged_args forward{};
  forward.lengths_left = vector(left_lengths);
  forward.lengths_right = vector(right_lengths);
  forward.left = rows(left);
  forward.right = rows(right);
  forward.out = rows(out);
  execute(forward);
  hstu_concat_2d_jagged_backward_args gradient{};
  gradient.forward.left = rows(left);
  gradient.forward.right = rows(right);
  gradient.forward.offsets_left = vector(kOffsets);
  gradient.forward.offsets_right = vector(right_offsets);
  gradient.forward.is_replace = 1;
  gradient.dout = rows(dout);
  gradient.dleft = rows(dleft);
  gradient.dright = rows(dright);
  execute(gradient);
  EXPECT_EQ(product(dout, out), product(dleft, left) + product(dright, right));
}

TEST(JaggedGradients, PaddingAndItsInverse) {
  const Numbers jagged = numbers(12 * kDim, 1), dense = numbers(4 * 4 * kDim, 2);  // four of five rows
  Numbers padded(dense.size(), 77), cut(jagged.size(), 77);
  hstu_jagged_to_padded_dense_args pad{};
  pad.values = rows(jagged);
  pad.offsets = vector(kOffsets);
  pad.out = hstu_heads(padded.data(), HSTU_DTYPE_F32, 4, 4, kDim);
  execute(pad);
  hstu_dense_to_jagged_args undo{};
  undo.dense = hstu_heads(dense.data(), HSTU_DTYPE_F32, 4, 4, kDim);
  undo.offsets = vector(kOffsets);
  undo.out = rows(cut);
  execute(undo);
  EXPECT_EQ(product(padded, dense), product(jagged, cut));
}

TEST(JaggedGradients, SumsAndBroadcasts) {
  const Numbers jagged = numbers(12 * kDim, 1), dense = numbers(4 * kDim, 2), zeros(12 * kDim);
  Numbers sums(dense.size(), 77), spread(jagged.size(), 77);
  hstu_jagged_reduce_sum_args sum{};
  sum.jagged = rows(jagged);
  sum.seq_offsets = vector(kOffsets);
  sum.out = rows(sums);
  execute(sum);
  hstu_jagged_dense_broadcast_add_args add{};
  add.jagged = rows(zeros);
  add.dense = rows(dense);
  add.seq_offsets = vector(kOffsets);
  add.out = rows(spread);
  execute(add);
  EXPECT_EQ(product(sums, dense), product(jagged, spread));
}

TEST(JaggedGradients, ConcatenationAndSplitOfVectors) {
  const Integers left_lengths{5, 0, 3, 4}, right_lengths{2, 1, 4, 0};
  const Numbers left = numbers(12, 1), right = numbers(7, 2), dout = numbers(19, 3);
  Numbers out(19, 77), dleft(12, 77), dright(7, 77);
  hstu_concat_1d_jagged_args forward{};
  forward.lengths_left = vector(left_lengths);
  forward.lengths_right = vector(right_lengths);
  forward.left = elements(left);
  forward.right = elements(right);
  forward.out = elements(out);
  execute(forward);
  hstu_split_1d_jagged_args gradient{};
  gradient.lengths_left = vector(left_lengths);
  gradient.lengths_right = vector(right_lengths);
  gradient.values = elements(dout);
  gradient.left = elements(dleft);
  gradient.right = elements(dright);
  execute(gradient);
  EXPECT_EQ(product(dout, out), product(dleft, left) + product(dright, right));
}

}  // namespace
}  // namespace hstujit::reference
