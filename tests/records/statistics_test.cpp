// Medians, spreads and intervals.
#include "records/statistics.hpp"

#include <gtest/gtest.h>

namespace hstujit {
namespace {

TEST(Statistics, QuantilesInterpolate) {
  EXPECT_DOUBLE_EQ(quantile({1, 2, 3, 4}, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(quantile({1, 2, 3, 4, 5, 6}, 0.2), 2);
  EXPECT_DOUBLE_EQ(quantile({7}, 0.8), 7);
}

TEST(Statistics, TimingIsRobustAgainstOutliers) {
  const Timing timing = timing_of({10e-6, 11e-6, 12e-6, 13e-6, 5e-3});
  EXPECT_EQ(timing.samples, 5);
  EXPECT_EQ(timing.median_ns, 12'000);
  EXPECT_EQ(timing.mad_ns, 1'000);
  EXPECT_EQ(timing.p20_ns, 10'800);
}

TEST(Statistics, IntervalsShrinkWithTheSquareRootOfTheSamples) {
  Timing timing{16, 10'000, 100, 9'900, 10'100};
  const double wide = uncertainty_of(timing);
  timing.samples = 64;
  EXPECT_DOUBLE_EQ(uncertainty_of(timing), wide / 2);
}

TEST(Statistics, IntervalsKeepTheirFloor) {
  const Interval interval = interval_of({100, 10'000, 0, 10'000, 10'000}, 0.01);
  EXPECT_DOUBLE_EQ(interval.low, 9'900);
  EXPECT_DOUBLE_EQ(interval.high, 10'100);
}

TEST(Statistics, IntervalsOverlapWhenTheyShareAPoint) {
  EXPECT_TRUE((Interval{1, 2}.overlaps({2, 3})));
  EXPECT_FALSE((Interval{1, 2}.overlaps({2.1, 3})));
  EXPECT_TRUE((Interval{1, 9}.overlaps({2, 3})));
}

}  // namespace
}  // namespace hstujit
