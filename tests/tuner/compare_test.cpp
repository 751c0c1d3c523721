// Comparing results: scale, rows, NaN, strides.
#include "tuner/compare.hpp"

#include "operators/operators.hpp"
#include "support/element.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace hstujit {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::string compare(const std::vector<float>& expected, const std::vector<float>& actual, int64_t columns,
                    Tolerance tolerance = {1e-3, 1e-2}) {
  const int64_t rows = static_cast<int64_t>(expected.size()) / columns;
  return difference(hstu_matrix(expected.data(), HSTU_DTYPE_F32, rows, columns),
                    hstu_matrix(actual.data(), HSTU_DTYPE_F32, rows, columns), tolerance);
}

TEST(Compare, EqualIsEqual) { EXPECT_EQ(compare({1, 2, 3, 4}, {1, 2, 3, 4}, 2), ""); }

TEST(Compare, SmallDifferencesAreAllowedAndLargeOnesAreNot) {
  EXPECT_EQ(compare({1, 2, 3, 4}, {1, 2, 3, 4.003f}, 2), "");
  EXPECT_NE(compare({1, 2, 3, 4}, {1, 2, 3, 4.03f}, 2), "");
}

TEST(Compare, ScaleDoesNotMatter) {
  for (const float scale : {1e-20f, 1e-6f, 1e6f}) {
    EXPECT_EQ(compare({scale, 2 * scale}, {scale, 2.001f * scale}, 2), "") << scale;
    EXPECT_NE(compare({scale, 2 * scale}, {scale, 2.1f * scale}, 2), "") << scale;
    EXPECT_NE(compare({scale, 2 * scale}, {0, 0}, 2), "") << scale;
  }
}

/// Squares beyond what f32 holds, beside usual rows.
TEST(Compare, RowsOfUnusualSizeAreComparedAsExactly) {
  for (const float scale : {1e-35f, 1e-22f, 1e18f, 1e25f, 1e38f}) {
    const std::vector<float> expected = {scale, 2 * scale, 3 * scale, scale, 3 * scale};
    std::vector<float> near = expected, far = expected;
    near[2] *= 1.001f;
    far[2] *= 1.1f;
    EXPECT_EQ(compare(expected, near, 5), "") << scale;
    EXPECT_NE(compare(expected, far, 5), "") << scale;
    EXPECT_NE(compare({1, 1, 1, 1, 1}, expected, 5), "") << scale;
    EXPECT_NE(compare(expected, {1, 1, 1, 1, 1}, 5), "") << scale;
  }
}

TEST(Compare, SumsOfLongRowsAreClose) {
  const std::vector<float> expected(300'001, 1.0f);
  for (const float off : {0.997e-3f, 1.003e-3f}) {
    std::vector<float> actual = expected;
    for (size_t i = 0; i < actual.size(); ++i) actual[i] += i % 2 == 0 ? off : -off;
    EXPECT_EQ(compare(expected, actual, 300'001).empty(), off < 1e-3f) << "Frobenius norm, allowed 1e-3: " << off;
  }
}

TEST(Compare, OneWrongRowOfManyIsFound) {
  std::vector<float> expected(100'000, 1.0f), actual = expected;
  for (size_t i = 50'000; i < 50'010; ++i) actual[i] = 1.02f;
  EXPECT_NE(compare(expected, actual, 10).find("row 5000"), std::string::npos);
}

TEST(Compare, TinyRowsAreJudgedByTheAverage) {
  std::vector<float> expected(1000, 1.0f), actual = expected;
  expected[7] = 1e-6f;
  actual[7] = 3e-6f;
  EXPECT_EQ(compare(expected, actual, 1), "");
}

TEST(Compare, NanMustMeetNan) {
  EXPECT_EQ(compare({1, kNan}, {1, kNan}, 2), "");
  EXPECT_NE(compare({1, kNan}, {1, 2}, 2), "");
  EXPECT_NE(compare({1, 2}, {1, kNan}, 2), "");
  EXPECT_NE(compare({1, 2}, {1, kInfinity}, 2), "");
  EXPECT_EQ(compare({1, kInfinity}, {1.0001f, kInfinity}, 2), "");
}

TEST(Compare, FindsADifferenceInEveryPlaceOfARow) {
  for (int64_t columns = 1; columns <= 35; ++columns)
    for (int64_t at = 0; at < columns; ++at) {
      std::vector<float> expected(static_cast<size_t>(3 * columns), 1.0f), wrong = expected, poisoned = expected;
      wrong[static_cast<size_t>(columns + at)] = 1.5f;
      poisoned[static_cast<size_t>(columns + at)] = kNan;
      ASSERT_NE(compare(expected, wrong, columns), "") << columns << ' ' << at;
      ASSERT_NE(compare(expected, poisoned, columns), "") << columns << ' ' << at;
      ASSERT_NE(compare(poisoned, expected, columns), "") << columns << ' ' << at;
    }
}

TEST(Compare, SomethingIsNotNothing) { EXPECT_NE(compare({0, 0}, {0, 1e-3f}, 2), ""); }

TEST(Compare, LooksAtElementsOnlyNotBetweenThem) {
  const std::vector<float> expected = {1, 2, 100, 3, 4, 100}, actual = {1, 2, -7, 3, 4, kNan};
  hstu_tensor e = hstu_matrix(expected.data(), HSTU_DTYPE_F32, 2, 2), a = e;
  a.data = const_cast<float*>(actual.data());
  e.stride[0] = a.stride[0] = 3;
  EXPECT_EQ(difference(e, a, {1e-6, 1e-6}), "");
}

/// Values of a type with 24 elements as [2, 3, 4], the right ones and others.
struct Pair {
  hstu_dtype dtype;
  std::vector<double> values;
  std::vector<uint32_t> expected, actual;

  explicit Pair(hstu_dtype type) : dtype(type), values(24), expected(24), actual(24) {
    for (size_t i = 0; i < 24; ++i) values[i] = 0.25 * static_cast<double>(i) - 2;
    store(of(expected), 0, 24, values.data());
    store(of(actual), 0, 24, values.data());
  }
  hstu_tensor of(const std::vector<uint32_t>& data) const { return hstu_heads(data.data(), dtype, 2, 3, 4); }
  void replace(size_t i, double value) { store(of(actual), static_cast<int64_t>(i), 1, &value); }
  std::string compare(Op op) const { return difference(of(expected), of(actual), tolerance_of(op, dtype)); }
};
constexpr hstu_dtype kAll[] = {HSTU_DTYPE_F32, HSTU_DTYPE_F16, HSTU_DTYPE_BF16, HSTU_DTYPE_E4M3, HSTU_DTYPE_E5M2};

TEST(Compare, ReadsEveryTypeAndThreeDimensions) {
  for (const hstu_dtype dtype : kAll) {
    Pair pair(dtype);
    EXPECT_EQ(pair.compare(Op::addmm), "") << dtype;
    pair.replace(17, pair.values[17] + 1);
    EXPECT_NE(pair.compare(Op::addmm), "") << dtype;
  }
}

/// Whatever the operator rounds besides, one of many elements that is another's, zero, or has the wrong sign is seen.
TEST(Compare, OneWrongElementOfManyIsSeenInEveryOperatorAndType) {
  constexpr int64_t kRows = 40, kColumns = 200, kAt = 7 * kColumns + 3;
  for (const Operator& op : operators())
    for (const hstu_dtype dtype : kAll) {
      std::vector<uint32_t> expected(kRows * kColumns), actual;
      const hstu_tensor e = hstu_matrix(expected.data(), dtype, kRows, kColumns);
      std::vector<double> values(kRows * kColumns);
      for (size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<double>(i)) * 3;
      values[kAt] = 0.5, values[kAt + 1] = 1.25;
      store(e, 0, kRows * kColumns, values.data());
      for (const double wrong : {1.25, 0.0, -0.5}) {
        actual = expected;
        const hstu_tensor a = hstu_matrix(actual.data(), dtype, kRows, kColumns);
        store(a, kAt, 1, &wrong);
        const std::string text = difference(e, a, tolerance_of(op.op, dtype));
        EXPECT_TRUE(text.starts_with("row 7, element 3: ")) << op.name << ' ' << dtype << ' ' << wrong << ": " << text;
      }
    }
}

/// Two kernels may round a value to either of its neighbours, however large it is in its row.
TEST(Compare, ANeighbourIsAllowedAndTwoStepsAreNot) {
  for (const hstu_dtype dtype : {HSTU_DTYPE_F16, HSTU_DTYPE_BF16, HSTU_DTYPE_E4M3, HSTU_DTYPE_E5M2}) {
    const double step = dtype == HSTU_DTYPE_F16    ? 0x1p-9
                        : dtype == HSTU_DTYPE_BF16 ? 0x1p-6
                        : dtype == HSTU_DTYPE_E4M3 ? 0.25
                                                   : 0.5;
    Pair pair(dtype);  // its last is 3.75, or 3.5
    const double last = dtype == HSTU_DTYPE_E5M2 ? 3.0 : 3.5;
    pair.values.assign(24, last);
    store(pair.of(pair.expected), 0, 24, pair.values.data());
    store(pair.of(pair.actual), 0, 24, pair.values.data());
    pair.replace(5, last - step);
    EXPECT_EQ(pair.compare(Op::layer_norm), "") << dtype;
    pair.replace(5, last - 3 * step);
    EXPECT_NE(pair.compare(Op::layer_norm), "") << dtype;
  }
}

TEST(Compare, EmptyTensorsAgree) {
  const hstu_tensor t = hstu_matrix(nullptr, HSTU_DTYPE_BF16, 0, 8);
  EXPECT_EQ(difference(t, t, tolerance_of(Op::addmm, HSTU_DTYPE_BF16)), "");
  EXPECT_FALSE(has_results(t));
}

/// f32 sums in another order differ by what their roundings add up to.
TEST(Compare, LongSumsMayDifferMore) {
  std::vector<float> expected(64, 1.0f), actual(64, 1.0003f);
  const hstu_tensor e = hstu_vector(expected.data(), HSTU_DTYPE_F32, 64),
                    a = hstu_vector(actual.data(), HSTU_DTYPE_F32, 64);
  EXPECT_NE(difference(e, a, tolerance_of(Op::layer_norm_backward, HSTU_DTYPE_F32)), "");
  EXPECT_EQ(difference(e, a, tolerance_of(Op::layer_norm_backward, HSTU_DTYPE_F32, 1 << 20)), "");
}

TEST(Compare, PoisonIsNoResult) {
  const std::vector<uint16_t> poison(8, 0xffff);
  std::vector<uint16_t> one = poison;
  one[5] = 0x3f80;
  for (const hstu_dtype dtype : {HSTU_DTYPE_F16, HSTU_DTYPE_BF16}) {
    EXPECT_FALSE(has_results(hstu_matrix(poison.data(), dtype, 2, 4)));
    EXPECT_TRUE(has_results(hstu_matrix(one.data(), dtype, 2, 4)));
  }
}

}  // namespace
}  // namespace hstujit
