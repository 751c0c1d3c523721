// What the model believes, and how sure it is.
#include "tuner/surrogate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace hstujit {
namespace {

/// 12 x 6 points; the log time is a bowl with its bottom at (8, 2).
Space grid() {
  std::vector<int32_t> x(12), y(6);
  std::iota(x.begin(), x.end(), 0);
  std::iota(y.begin(), y.end(), 0);
  std::vector<Config> points;
  for (const int32_t a : x)
    for (const int32_t b : y) points.push_back(Config{{a, b}});
  return Space({x, y}, points, points.front());
}

double bowl(const Config& c) { return 0.02 * std::pow(c[0] - 8, 2) + 0.04 * std::pow(c[1] - 2, 2); }

TEST(Surrogate, BelievesWhatItSaw) {
  const Space space = grid();
  Surrogate model(space);
  for (const size_t point : {0u, 17u, 40u, 71u}) {
    const double before = model.deviation(point);
    model.observe(point, bowl(space.points()[point]));
    EXPECT_NEAR(model.mean(point), bowl(space.points()[point]), 0.03);
    EXPECT_LT(model.deviation(point), before / 4);
  }
}

TEST(Surrogate, IsSurerNearWhatItSawThanFarAway) {
  const Space space = grid();
  Surrogate model(space);
  model.observe(*space.index(Config{{2, 2}}), 1.0);
  EXPECT_LT(model.deviation(*space.index(Config{{3, 2}})), model.deviation(*space.index(Config{{11, 5}})));
}

TEST(Surrogate, FindsTheBottomOfABowlFromAThirdOfIt) {
  const Space space = grid();
  Surrogate model(space);
  for (size_t point = 0; point < space.size(); point += 3) model.observe(point, bowl(space.points()[point]));
  std::vector<size_t> order(space.size());
  std::iota(order.begin(), order.end(), 0u);
  const size_t best =
      *std::min_element(order.begin(), order.end(), [&](size_t a, size_t b) { return model.mean(a) < model.mean(b); });
  EXPECT_LE(bowl(space.points()[best]), 0.06) << best;
}

TEST(Surrogate, WhatIsAwaitedCountsAsExpected) {
  const Space space = grid();
  Surrogate model(space);
  model.observe(0, 1.0);
  const size_t far = *space.index(Config{{11, 5}}), beside = *space.index(Config{{10, 5}});
  const double mean = model.mean(beside), deviation = model.deviation(beside), own = model.deviation(far);
  model.await(far);
  EXPECT_DOUBLE_EQ(model.mean(beside), mean);
  EXPECT_LT(model.deviation(beside), deviation);
  EXPECT_NEAR(model.deviation(far), own, 1e-3) << "it may still come out as anything";
  model.observe(far, 0.4);
  EXPECT_LT(model.mean(beside), mean);
}

TEST(Surrogate, AFailureSpeaksAgainstItsNeighbours) {
  const Space space = grid();
  Surrogate model(space);
  for (const size_t point : {0u, 17u, 40u}) model.observe(point, 1.0 + 0.1 * static_cast<double>(point % 3));
  const size_t point = *space.index(Config{{10, 4}}), beside = *space.index(Config{{10, 5}});
  const double mean = model.mean(beside);
  model.await(point);
  model.fail(point);
  EXPECT_GT(model.mean(beside), mean);
}

/// Two that failed for another reason must not keep a search from a value for good.
TEST(Surrogate, AFailureDoesNotCondemnItsValues) {
  const Space space = grid();
  Surrogate model(space);
  for (const size_t point : {0u, 17u, 40u}) model.observe(point, 1.0 + 0.1 * static_cast<double>(point % 3));
  const size_t far = *space.index(Config{{4, 5}});
  const double mean = model.mean(far);
  for (const int32_t x : {9, 11}) {
    const size_t point = *space.index(Config{{x, 5}});
    model.await(point);
    model.fail(point);
  }
  EXPECT_LT(model.mean(far) - mean, 0.05 * model.deviation(far));
}

/// Multiples of 16, of which those of larger powers of two are the faster.
TEST(Surrogate, SeesWhatPowersOfTwoDo) {
  std::vector<int32_t> values(16);
  std::vector<Config> points;
  for (int32_t i = 0; i < 16; ++i) points.push_back(Config{{values[static_cast<size_t>(i)] = 16 * (i + 1)}});
  const Space space({values}, points, points.front());
  Surrogate model(space);
  for (const Config& config : points)
    if (config[0] < 240)
      model.observe(*space.index(config), 1 - 0.1 * std::countr_zero(static_cast<uint32_t>(config[0])));
  EXPECT_GT(model.mean(*space.index(Config{{240}})) - model.mean(*space.index(Config{{256}})), 0.1);
}

TEST(Surrogate, OtherProblemsSayWhereToBegin) {
  const Space space = grid();
  std::vector<double> prior;
  for (const Config& config : space.points()) prior.push_back(bowl(config));
  Surrogate model(space, prior);
  model.observe(0, 5 + prior[0]);  // this problem is much slower
  const size_t bottom = *space.index(Config{{8, 2}}), rim = *space.index(Config{{0, 5}});
  EXPECT_NEAR(model.mean(bottom) - model.mean(rim), prior[bottom] - prior[rim], 0.3);
  EXPECT_GT(model.expected_gain(bottom, 5), model.expected_gain(rim, 5));
}

TEST(Surrogate, ExpectsMoreOfManyThanOfOneAndLittleOfTheKnown) {
  const Space space = grid();
  Surrogate model(space);
  for (size_t point = 0; point < space.size(); point += 7) model.observe(point, bowl(space.points()[point]));
  std::vector<size_t> all(space.size());
  std::iota(all.begin(), all.end(), 0u);
  const double best = 0.02, one = model.expected_gain_of_all(all, best, 1),
               many = model.expected_gain_of_all(all, best, 48);
  EXPECT_GT(many, one);
  EXPECT_LT(many, 1);
  for (size_t point = 0; point < space.size(); ++point)
    if (point % 7 != 0) model.observe(point, bowl(space.points()[point]));
  EXPECT_LT(model.expected_gain_of_all(all, 0, 48), 0.05);
}

TEST(Surrogate, KeepsItsMemoryBounded) {
  std::vector<int32_t> values(600);
  std::iota(values.begin(), values.end(), 0);
  std::vector<Config> points;
  for (const int32_t value : values) points.push_back(Config{{value}});
  const Space space({values}, points, points.front());
  Surrogate model(space);
  for (size_t point = 0; point < space.size(); ++point)
    model.observe(point, std::log(2 + static_cast<double>(point % 5)));
  EXPECT_EQ(model.observed(), space.size()) << "more than " << Surrogate::kMostObservations << " do no harm";
  EXPECT_TRUE(std::isfinite(model.mean(599)));
}

}  // namespace
}  // namespace hstujit
