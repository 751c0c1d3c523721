// Spaces of our own kernels that were measured completely on an H200, points that rules for speed refuse among them:
// what the search finds in the part that the tuner visits, and whether the rules cost anything. spaces/README.md says
// how they were recorded.
#include "tuner/own_spaces.hpp"

#include "tuner/search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace hstujit::test {
namespace {

constexpr double kNear = 1.02;  // as slow as that is as good as the best

/// At least 2,000 measured configurations of each of these operators.
TEST(OwnSpaces, CoverAttentionAndProducts) {
  std::map<std::string_view, size_t> points;
  for (const OwnSpace& own : own_spaces()) points[operator_of(own.problem.op).name] += own.named.recorded.space.size();
  for (const auto& [op, count] : points) std::printf("%s: %zu configurations\n", std::string(op).c_str(), count);
  EXPECT_GE(points["attention"], 2000u);
  EXPECT_GE(points["addmm"], 2000u);
}

/// T3: nothing within 2 % of a problem's best is refused, whichever family has that.
TEST(OwnSpaces, RulesRefuseNothingThatIsAnyGood) {
  std::map<std::string, double> best;
  const std::vector<OwnSpace> all = own_spaces();
  for (const OwnSpace& own : all) {
    const double here = own.named.recorded.best();
    const auto [at, fresh] = best.emplace(text(own.problem), here);
    if (!fresh) at->second = std::min(at->second, here);
  }
  for (const OwnSpace& own : all) {
    const RecordedSpace& r = own.named.recorded;
    int refused = 0, failed = 0, near = 0;
    double fastest = 1e9;
    for (size_t i = 0; i < r.space.size(); ++i) {
      const Config& config = r.space.points()[i];
      if (own.taken(config)) continue;
      ++refused;
      failed += !r.seconds[i];
      if (!r.seconds[i]) continue;
      fastest = std::min(fastest, *r.seconds[i]);
      near += *r.seconds[i] < kNear * r.best();
      EXPECT_GT(*r.seconds[i], kNear * best.at(text(own.problem)))
          << text(*own.family, config) << ", " << text(own.problem);
    }
    if (refused == 0) continue;
    std::printf(
        "%s: %d of %zu refused for speed, %d of them fail; the fastest takes %.3f of the family's best, %d are "
        "within 2 %% of it\n",
        own.name.c_str(), refused, r.space.size(), failed, fastest / r.best(), near);
  }
}

/// T1 speaks of 2,000 configurations and more; a twentieth of fewer is very little. What it gives is printed.
TEST(OwnSpaces, TheTunersPartIsSearchedBetterThanAtRandom) {
  constexpr int kSeeds = 40;
  constexpr size_t kSmall = 256;
  int searched = 0;
  for (const OwnSpace& own : own_spaces()) {
    const RecordedSpace part = visited(own);
    const size_t size = part.space.size();
    if (size <= kSmall) continue;
    ++searched;
    const auto blind = simulate_seeds("random", part, size / 20, kSeeds);
    for (const char* strategy : {"model", "local"}) {
      const auto reached = simulate_seeds(strategy, part, size / 20, kSeeds);
      std::printf(
          "%s, %s: %zu configurations, %zu evaluations: median %.1f %%, 10th percentile %.1f %%; at random %.1f, "
          "%.1f\n",
          own.name.c_str(), strategy, size, size / 20, 100 * reached[kSeeds / 2], 100 * reached[kSeeds / 10],
          100 * blind[kSeeds / 2], 100 * blind[kSeeds / 10]);
      EXPECT_GE(reached[kSeeds / 2], blind[kSeeds / 2]);
    }
  }
  EXPECT_GT(searched, 0);
}

}  // namespace
}  // namespace hstujit::test
