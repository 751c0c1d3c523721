// The references of jagged vectors on the specification's examples, and the integers they refuse.
#include "operators/on_host.hpp"
#include "operators/operators.hpp"
#include "support/error.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace hstujit::reference {
namespace {

using Numbers = std::vector<int32_t>;
using Lengths = std::vector<int64_t>;

template <class Value>
std::vector<Value> summed(const std::vector<Value>& values) {
  std::vector<Value> out(values.size() + 1, -1);
  hstu_complete_cumsum_args args{};
  args.values = vector(values);
  args.out = vector(out);
  execute(args);
  return out;
}

TEST(JaggedVectorReference, PrefixSums) {
  EXPECT_EQ(summed(Numbers{3, 0, 4}), (Numbers{0, 3, 3, 7}));
  EXPECT_EQ(summed(Lengths{}), (Lengths{0}));
  constexpr int32_t kMax = std::numeric_limits<int32_t>::max();
  EXPECT_EQ(summed(Numbers{kMax, 1}), (Numbers{0, kMax, std::numeric_limits<int32_t>::min()}));
}

TEST(JaggedVectorReference, WiderSumsDoNotWrap) {
  constexpr int32_t kMax = std::numeric_limits<int32_t>::max();
  const Numbers values{kMax, 1};
  Lengths out(3, -1);
  hstu_complete_cumsum_args args{};
  args.values = vector(values);
  args.out = vector(out);
  execute(args);
  EXPECT_EQ(out, (Lengths{0, kMax, int64_t{kMax} + 1}));
}

TEST(JaggedVectorReference, ConcatenationAndItsInverse) {
  const Lengths left_lengths{2, 0, 3}, right_lengths{1, 2, 0};
  const Numbers left{1, 2, 3, 4, 5}, right{10, 20, 30};
  Numbers out(8, -1), left_again(5, -1), right_again(3, -1);
  hstu_concat_1d_jagged_args args{};
  args.lengths_left = vector(left_lengths);
  args.lengths_right = vector(right_lengths);
  args.left = vector(left);
  args.right = vector(right);
  args.out = vector(out);
  execute(args);
  EXPECT_EQ(out, (Numbers{1, 2, 10, 20, 30, 3, 4, 5}));

  hstu_split_1d_jagged_args inverse{};
  inverse.lengths_left = args.lengths_left;
  inverse.lengths_right = args.lengths_right;
  inverse.values = args.out;
  inverse.left = vector(left_again);
  inverse.right = vector(right_again);
  execute(inverse);
  EXPECT_EQ(left_again, left);
  EXPECT_EQ(right_again, right);
}

TEST(JaggedVectorReference, RemovesTheFirstOrTheLast) {
  const Lengths lengths{3, 1, 2};
  const Numbers values{1, 2, 3, 4, 5, 6};
  Numbers without_first(3, -1), without_last(3, -1);
  hstu_jagged_remove_first_or_last_1d_args args{};
  args.lengths = vector(lengths);
  args.values = vector(values);
  args.without_first = vector(without_first);
  args.without_last = vector(without_last);
  execute(args);
  EXPECT_EQ(without_first, (Numbers{2, 3, 6}));
  EXPECT_EQ(without_last, (Numbers{1, 2, 5}));
  for (const Lengths& wrong : {Lengths{4, 0, 2}, Lengths{3, 1, 1}, Lengths{3, -1, 4}}) {
    args.lengths = vector(wrong);
    EXPECT_THROW(execute(args), Error) << wrong[1];
  }
}

TEST(JaggedVectorReference, ExpandsWithTheLastElement) {
  const Numbers values{1, 2, 3, 4, 5};
  const Lengths offsets{0, 2, 2, 5};
  Numbers out(12, -1);
  hstu_expand_1d_jagged_to_dense_args args{};
  args.values = vector(values);
  args.offsets = vector(offsets);
  args.out = hstu_matrix(out.data(), HSTU_DTYPE_I32, 3, 4);
  execute(args);
  EXPECT_EQ(out, (Numbers{1, 2, 2, 2, 0, 0, 0, 0, 3, 4, 5, 5}));
}

Numbers replaced(const Lengths& left_lengths, const Numbers& left, const Lengths& right_lengths, const Numbers& right) {
  Numbers out(left.size(), -1);
  const auto rows = [](const Numbers& values) {
    return hstu_matrix(values.data(), HSTU_DTYPE_I32, static_cast<int64_t>(values.size()), 1);
  };
  hstu_replace_last_n_with_jagged_args args{};
  args.lengths_left = vector(left_lengths);
  args.lengths_right = vector(right_lengths);
  args.left = rows(left);
  args.right = rows(right);
  args.out = rows(out);
  execute(args);
  return out;
}

TEST(JaggedVectorReference, ReplacesTheLastRows) {
  EXPECT_EQ(replaced({3, 2, 1}, {0, 1, 2, 3, 4, 5}, {1, 2, 0}, {100, 101, 102}), (Numbers{0, 1, 100, 101, 102, 5}));
  EXPECT_EQ(replaced({2}, {0, 1}, {3}, {100, 101, 102}), (Numbers{101, 102}));
  EXPECT_THROW(replaced({3}, {0, 1}, {0}, {}), Error);
  EXPECT_THROW(replaced({1}, {0, 1}, {0}, {}), Error);
  EXPECT_THROW(replaced({3, -1}, {0, 1}, {0, 0}, {}), Error);
}

TEST(JaggedVectorReference, TransposesSegments) {
  const Numbers values{'a', 'b', 'c', 'd', 'e', 'f'};
  const Lengths lengths{1, 2, 0, 1, 2, 0}, offsets{0, 1, 3, 3, 4, 6, 6};
  Numbers out(6, -1);
  Lengths out_lengths(6, -1), out_offsets(7, -1);
  hstu_jagged_transpose_1d_args args{};
  args.values = vector(values);
  args.offsets = vector(offsets);
  args.lengths = vector(lengths);
  args.out = vector(out);
  args.out_offsets = vector(out_offsets);
  args.out_lengths = vector(out_lengths);
  args.rows = 2;
  args.columns = 3;
  execute(args);
  EXPECT_EQ(out, (Numbers{'a', 'd', 'b', 'c', 'e', 'f'}));
  EXPECT_EQ(out_lengths, (Lengths{1, 1, 2, 2, 0, 0}));
  EXPECT_EQ(out_offsets, (Lengths{0, 1, 2, 4, 6, 6, 6}));
  // Offsets say lengths as well, and nobody need ask for the new ones.
  out.assign(6, -1);
  args.lengths = {};
  std::vector<int32_t> narrow_lengths(6, -1);
  args.out_lengths = vector(narrow_lengths);
  args.out_offsets = {};
  execute(args);
  EXPECT_EQ(out, (Numbers{'a', 'd', 'b', 'c', 'e', 'f'}));
  EXPECT_EQ(narrow_lengths, (std::vector<int32_t>{1, 1, 2, 2, 0, 0}));
  out.assign(6, -1);
  args.out_lengths = {};
  execute(args);
  EXPECT_EQ(out, (Numbers{'a', 'd', 'b', 'c', 'e', 'f'}));
}

/// Bits of elements that no operator computes with.
template <class Element>
void expect_transposed(hstu_dtype dtype, const std::vector<Element>& values, const std::vector<Element>& expected) {
  const Lengths offsets{0, 1, 3};
  std::vector<Element> out(3);
  hstu_jagged_transpose_1d_args args{};
  args.values = hstu_vector(values.data(), dtype, 3);
  args.out = hstu_vector(out.data(), dtype, 3);
  args.offsets = vector(offsets);
  args.rows = 2, args.columns = 1;
  execute(args);
  EXPECT_EQ(out, values);
  hstu_jagged_to_padded_dense_args padded{};
  std::vector<Element> dense(4);
  padded.values = hstu_matrix(values.data(), dtype, 3, 1);
  padded.offsets = vector(offsets);
  padded.out = hstu_heads(dense.data(), dtype, 2, 2, 1);
  padded.padding = 1e300;
  execute(padded);
  EXPECT_EQ(dense, expected);
}
TEST(JaggedVectorReference, MovesElementsThatNobodyComputesWith) {
  expect_transposed<uint8_t>(HSTU_DTYPE_U8, {200, 0, 255}, {200, 255, 0, 255});
  expect_transposed<int16_t>(HSTU_DTYPE_I16, {-300, 0, 77}, {-300, 32767, 0, 77});
  expect_transposed<double>(HSTU_DTYPE_F64, {0.1, -1e308, 5e-324}, {0.1, 1e300, -1e308, 5e-324});
}

}  // namespace
}  // namespace hstujit::reference
