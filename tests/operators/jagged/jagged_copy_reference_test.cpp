// The references of jagged copies on the specification's examples, and the offsets they refuse.
#include "operators/on_host.hpp"
#include "operators/operators.hpp"
#include "support/error.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace hstujit::reference {
namespace {

using Numbers = std::vector<int32_t>;
using Offsets = std::vector<int64_t>;

hstu_tensor rows(const Numbers& values) {
  return hstu_matrix(values.data(), HSTU_DTYPE_I32, static_cast<int64_t>(values.size()), 1);
}

/// a0.. of the specification are 0.., b0.. are 100...
Numbers counted(int32_t from, size_t count) {
  Numbers out;
  for (size_t i = 0; i < count; ++i) out.push_back(from + static_cast<int32_t>(i));
  return out;
}

Numbers concatenated(const Numbers& left, const Offsets& offsets_left, const Numbers& right,
                     const Offsets& offsets_right, int64_t prefix, bool replace = false) {
  Numbers out(replace ? left.size() : left.size() + right.size(), -1);
  auto args = sized<hstu_concat_2d_jagged_args>();
  args.left = rows(left);
  args.right = rows(right);
  args.offsets_left = vector(offsets_left);
  args.offsets_right = vector(offsets_right);
  args.out = rows(out);
  args.n_prefix_from_right = prefix;
  args.is_replace = replace;
  prepare(args);
  run(args);
  return out;
}

const Offsets kLeft{0, 2, 2, 5}, kRight{0, 3, 4, 6};

TEST(JaggedCopyReference, ConcatenatesAsTheSpecificationSays) {
  const Numbers a = counted(0, 5), b = counted(100, 6);
  EXPECT_EQ(concatenated(a, kLeft, b, kRight, 0), (Numbers{0, 1, 100, 101, 102, 103, 2, 3, 4, 104, 105}));
  EXPECT_EQ(concatenated(a, kLeft, b, kRight, 1), (Numbers{100, 0, 1, 101, 102, 103, 104, 2, 3, 4, 105}));
}

TEST(JaggedCopyReference, PrefixIsAsLongAsRightAtMost) {
  EXPECT_EQ(concatenated(counted(0, 5), kLeft, counted(100, 6), kRight, 2),
            (Numbers{100, 101, 0, 1, 102, 103, 104, 105, 2, 3, 4}));
}

TEST(JaggedCopyReference, ReplacesTheLastRows) {
  EXPECT_EQ(concatenated(counted(0, 6), {0, 3, 5, 6}, counted(100, 3), {0, 1, 3, 3}, 0, true),
            (Numbers{0, 1, 100, 101, 102, 5}));
}

TEST(JaggedCopyReference, LongerReplacementKeepsItsTail) {
  EXPECT_EQ(concatenated(counted(0, 2), {0, 2}, counted(100, 3), {0, 3}, 0, true), (Numbers{101, 102}));
}

TEST(JaggedCopyReference, SplitUndoesConcatenation) {
  const Numbers a = counted(0, 5), b = counted(100, 6);
  for (const int64_t prefix : {0, 1, 2}) {
    const Numbers values = concatenated(a, kLeft, b, kRight, prefix);
    Numbers left(5, -1), right(6, -1);
    auto args = sized<hstu_split_2d_jagged_args>();
    args.values = rows(values);
    args.left = rows(left);
    args.right = rows(right);
    args.offsets_left = vector(kLeft);
    args.offsets_right = vector(kRight);
    args.n_prefix_to_right = prefix;
    prepare(args);
    run(args);
    EXPECT_EQ(left, a);
    EXPECT_EQ(right, b);
  }
}

std::string refusal(const Offsets& left, const Offsets& right) {
  try {
    concatenated(counted(0, 5), left, counted(100, 6), right, 0);
  } catch (const Error& error) { return error.message(); }
  return "";
}

TEST(JaggedCopyReference, RefusesImpossibleOffsets) {
  EXPECT_NE(refusal({1, 2, 2, 5}, kRight).find("offsets_left[0] = 1"), std::string::npos);
  EXPECT_NE(refusal({0, 3, 2, 5}, kRight).find("offsets_left[2] = 2"), std::string::npos);
  EXPECT_NE(refusal(kLeft, {0, 3, 4, 7}).find("offsets_right[3] = 7"), std::string::npos);
}

}  // namespace
}  // namespace hstujit::reference
