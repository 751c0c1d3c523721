// What other problems say about a new one.
#include "tuner/experience.hpp"

#include "tuner/fixtures.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace hstujit {
namespace {

constexpr int32_t kTiles[] = {16, 32, 64};
constexpr int32_t kStages[] = {1, 2, 3};
constexpr Knob kKnobs[] = {{"tile", kTiles, ""}, {"stages", kStages, ""}};

Family toy() {
  Family family{};
  family.name = "toy";
  family.op = Op::layer_norm;
  family.knobs = kKnobs;
  return family;
}

Space whole() {
  std::vector<Config> points;
  for (const int32_t tile : kTiles)
    for (const int32_t stages : kStages) points.push_back(Config{{tile, stages}});
  return Space({{16, 32, 64}, {1, 2, 3}}, points, points.front());
}

std::vector<Experience::Known> known_of(const std::function<double(const Config&)>& log_seconds, size_t most = 9) {
  std::vector<Experience::Known> known;
  const Space space = whole();
  for (const Config& config : space.points())
    if (known.size() < most) known.push_back({config, log_seconds(config)});
  return known;
}

double by_tile(const Config& c) { return std::log2(c[0]); }
double by_stages(const Config& c) { return -c[1]; }

TEST(Experience, HasNothingToSayOfWhatItDoesNotKnow) {
  const Family family = toy();
  Experience experience;
  EXPECT_TRUE(experience.prior(family, test::rows_problem(1024), whole()).empty());
  experience.add(family, test::rows_problem(2048), known_of(by_tile, 3));
  EXPECT_TRUE(experience.prior(family, test::rows_problem(1024), whole()).empty()) << "three are too few";
  experience.add(family, test::rows_problem(1024), known_of(by_tile));
  EXPECT_TRUE(experience.prior(family, test::rows_problem(1024), whole()).empty()) << "nothing but itself";
}

TEST(Experience, ListensToTheNearest) {
  const Family family = toy();
  Experience experience;
  experience.add(family, test::rows_problem(2048), known_of(by_tile));
  experience.add(family, test::rows_problem(1 << 20), known_of(by_stages));
  const Space space = whole();
  const auto differs = [&](int32_t rows) {
    const auto prior = experience.prior(family, test::rows_problem(rows), space);
    const auto at = [&](const Config& config) { return prior[*space.index(config)]; };
    return at(Config{{64, 1}}) - at(Config{{16, 1}});
  };
  EXPECT_NEAR(differs(1024), 2, 0.2);
  EXPECT_NEAR(differs(1 << 19), 0, 0.2);
}

TEST(Experience, FillsInWhatWasNotMeasured) {
  const Family family = toy();
  Experience experience;
  auto known = known_of([](const Config& c) { return by_tile(c) + by_stages(c); });
  std::erase_if(known, [](const Experience::Known& one) { return one.config == Config{{64, 3}}; });
  experience.add(family, test::rows_problem(2048), known);
  const Space space = whole();
  const auto prior = experience.prior(family, test::rows_problem(1024), space);
  EXPECT_NEAR(prior[*space.index(Config{{64, 3}})] - prior[*space.index(Config{{16, 3}})], 2, 0.7);
}

TEST(Experience, ReadsTheJobsOfNearProblems) {
  const Family family = toy();
  Job job = test::job("a", test::rows_problem(2048));
  job.trials = {test::standard_trial(5000), test::trial("tile=32 stages=1", 4000),
                test::trial("tile=64 stages=1", 3000), test::trial("tile=32 stages=2", 4100),
                test::trial("tile=64 stages=2", 3100)};
  Records records(RecordsOptions{"", ""});
  records.absorb({job});
  Experience experience;
  experience.add_near(records, test::rows_problem(1024), test::kDevice, {&family});
  const Space space = whole();
  const auto prior = experience.prior(family, test::rows_problem(1024), space);
  ASSERT_EQ(prior.size(), space.size());
  EXPECT_NEAR(prior[*space.index(Config{{64, 1}})] - prior[*space.index(Config{{16, 1}})], std::log(0.6), 1e-6);
}

TEST(Experience, UnlikenessGrowsWithEveryField) {
  EXPECT_EQ(unlikeness(test::rows_problem(1024), test::rows_problem(1024)), 0);
  EXPECT_EQ(unlikeness(test::rows_problem(1024), test::rows_problem(4096)), 2);
  EXPECT_GT(unlikeness(test::rows_problem(1024), test::rows_problem(1024, 256)), 0) << "other code, but not infinite";
}

}  // namespace
}  // namespace hstujit
