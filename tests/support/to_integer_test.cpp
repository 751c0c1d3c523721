// Floating-point numbers as integers: those that fit, and those that do not.
#include "support/to_integer.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace hstujit {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int32_t kLeast32 = std::numeric_limits<int32_t>::min(), kMost32 = std::numeric_limits<int32_t>::max();
constexpr int64_t kLeast64 = std::numeric_limits<int64_t>::min(), kMost64 = std::numeric_limits<int64_t>::max();

TEST(ToInteger, CutsWhatFits) {
  EXPECT_EQ(to_integer<int32_t>(2.9), 2);
  EXPECT_EQ(to_integer<int32_t>(-2.9), -2);
  EXPECT_EQ(to_integer<int32_t>(2147483646.5), 2147483646);
  EXPECT_EQ(to_integer<int64_t>(9.2e18), 9200000000000000000);
  EXPECT_EQ(to_integer<int64_t>(-9223372036854774784.0), -9223372036854774784);  // the double above the least integer
  EXPECT_EQ(to_integer<size_t>(1e19), 10000000000000000000u);
}

TEST(ToInteger, LimitsWhatDoesNot) {
  for (const double large : {2147483648.0, 1e10, 1e300, kInfinity}) {
    EXPECT_EQ(to_integer<int32_t>(large), kMost32);
    EXPECT_EQ(to_integer<int32_t>(-large - 1), kLeast32);
  }
  for (const double large : {9223372036854775808.0, 1e19, kInfinity}) {
    EXPECT_EQ(to_integer<int64_t>(large), kMost64);
    EXPECT_EQ(to_integer<int64_t>(-large), kLeast64);
  }
  EXPECT_EQ(to_integer<size_t>(-1.0), 0u);
  EXPECT_EQ(to_integer<size_t>(1e20), std::numeric_limits<size_t>::max());
}

TEST(ToInteger, KeepsToALimitOfItsOwn) {
  EXPECT_EQ(to_integer<int64_t>(70.5, 0, 64), 64);
  EXPECT_EQ(to_integer<int64_t>(-3, 0, 64), 0);
  EXPECT_EQ(to_integer<int64_t>(12.5, 0, 64), 12);
  EXPECT_EQ(to_integer<int64_t>(std::nan(""), 1, 64), 1);
}

TEST(ToInteger, MakesNanNothing) {
  EXPECT_EQ(to_integer<int32_t>(std::nan("")), 0);
  EXPECT_EQ(to_integer<int64_t>(-std::nan("")), 0);
  EXPECT_EQ(to_nearest_integer<int64_t>(std::nan("")), 0);
}

TEST(ToInteger, RoundsHalvesToTheEvenOne) {
  EXPECT_EQ(to_nearest_integer<int32_t>(1.5), 2);
  EXPECT_EQ(to_nearest_integer<int32_t>(2.5), 2);
  EXPECT_EQ(to_nearest_integer<int32_t>(-0.5), 0);
  EXPECT_EQ(to_nearest_integer<int32_t>(2147483647.5), kMost32);
}

}  // namespace
}  // namespace hstujit
