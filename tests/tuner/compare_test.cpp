// Comparing results: scale, rows, NaN, strides.
#include "tuner/compare.hpp"

#include "support/element.hpp"

#include <gtest/gtest.h>

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

TEST(Compare, ReadsEveryTypeAndThreeDimensions) {
  for (const hstu_dtype dtype : {HSTU_DTYPE_F32, HSTU_DTYPE_F16, HSTU_DTYPE_BF16}) {
    std::vector<double> values(2 * 3 * 4);
    for (size_t i = 0; i < values.size(); ++i) values[i] = 0.25 * static_cast<double>(i) - 2;
    std::vector<uint32_t> expected(values.size()), actual(values.size());
    const hstu_tensor e = hstu_heads(expected.data(), dtype, 2, 3, 4), a = hstu_heads(actual.data(), dtype, 2, 3, 4);
    store(e, 0, 24, values.data());
    store(a, 0, 24, values.data());
    EXPECT_EQ(difference(e, a, tolerance_of(dtype)), "");
    values[17] += 1;
    store(a, 0, 24, values.data());
    EXPECT_NE(difference(e, a, tolerance_of(dtype)), "");
  }
}

TEST(Compare, EmptyTensorsAgree) {
  const hstu_tensor t = hstu_matrix(nullptr, HSTU_DTYPE_BF16, 0, 8);
  EXPECT_EQ(difference(t, t, tolerance_of(HSTU_DTYPE_BF16)), "");
  EXPECT_FALSE(has_results(t));
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
