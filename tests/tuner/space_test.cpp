// Spaces: product, rules, resources, order and steps.
#include "tuner/space.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace hstujit {
namespace {

constexpr int32_t kTiles[] = {16, 32, 64, 128};
constexpr int32_t kStages[] = {1, 2, 3};
constexpr int32_t kWarps[] = {4, 8};
constexpr Knob kKnobs[] = {{"tile", kTiles, ""}, {"stages", kStages, ""}, {"warps", kWarps, ""}};
constexpr Rule kRules[] = {{"a tile of 16 has no work for 8 warps",
                            [](const Problem&, const Config& c, const DeviceFacts&) { return c[0] > 16 || c[2] < 8; }}};

Resources needs(const Problem&, const Config& c) { return {c[2] * 32, c[0] * c[1] * 1024, c[0] * 8 / c[2], 1}; }

const Family kToy{"toy",
                  "norm",
                  Op::layer_norm,
                  80,
                  kKnobs,
                  kRules,
                  [](const Problem&, const DeviceFacts&) { return true; },
                  [](const Problem&, const DeviceFacts&) {
                    return Config{{32, 2, 4}};
                  },
                  needs,
                  nullptr,
                  "",
                  nullptr};

const DeviceFacts kH200 = *facts_of_target("sm_90a");
const DeviceFacts kA10 = *facts_of_target("sm_86");

TEST(Space, HoldsExactlyTheLegalPointsThatFit) {
  SpaceCensus census;
  const Space space = enumerate(kToy, {}, kH200, &census);
  size_t expected = 0;
  for (const int tile : kTiles)
    for (const int stages : kStages)
      for (const int warps : kWarps) {
        const bool in = !(tile == 16 && warps == 8) && tile * stages <= 227 && tile * 8 / warps <= 255;
        EXPECT_EQ(space.contains(Config{{tile, stages, warps}}), in) << tile << ' ' << stages << ' ' << warps;
        expected += in;
      }
  EXPECT_EQ(space.size(), expected);
  EXPECT_EQ(census.product, 24);
  EXPECT_EQ(census.illegal, 3);
  EXPECT_EQ(census.product - census.illegal - census.misfits, static_cast<int64_t>(expected));
}

TEST(Space, StartsWithTheDefaultAndIsOtherwiseLexicographic) {
  const Space space = enumerate(kToy, {}, kH200);
  EXPECT_EQ(space.standard(), (Config{{32, 2, 4}}));
  EXPECT_TRUE(std::is_sorted(space.points().begin() + 1, space.points().end()));
  EXPECT_EQ(std::count(space.points().begin(), space.points().end(), space.standard()), 1);
}

TEST(Space, KeepsTheDefaultEvenIfItDoesNotFit) {
  DeviceFacts tiny = kA10;
  tiny.smem_per_block = 16 * 1024;
  const Space space = enumerate(kToy, {}, tiny);
  EXPECT_TRUE(space.contains(Config{{32, 2, 4}}));
  EXPECT_EQ(space.size(), 2u);  // besides it, tile 16 with one stage
}

TEST(Space, PrunesEachResource) {
  EXPECT_EQ(misfit({128, 1024, 64, 1}, kA10), "");
  EXPECT_NE(misfit({128, kA10.smem_per_block + 1, 64, 1}, kA10), "");
  EXPECT_EQ(misfit({128, kA10.smem_per_block, 64, 1}, kA10), "");
  EXPECT_NE(misfit({1056, 1024, 16, 1}, kA10), "");
  EXPECT_NE(misfit({512, 1024, 16, 4}, kA10), "");  // 2048 threads, an A10 holds 1536
  EXPECT_NE(misfit({128, 1024, 256, 1}, kA10), "");
  EXPECT_EQ(misfit({256, 1024, 128, 2}, kA10), "");
  EXPECT_NE(misfit({256, 1024, 129, 2}, kA10), "");
  EXPECT_EQ(misfit({256, 1024, 0, 2}, kA10), "");  // no estimate: nothing to prune
}

TEST(Space, NeighboursDifferInOneKnobByOneStep) {
  const Space space = enumerate(kToy, {}, kH200);
  const std::vector<Config> around = space.neighbours(Config{{32, 2, 4}});
  const std::vector<Config> expected = {{{16, 2, 4}}, {{64, 2, 4}}, {{32, 1, 4}}, {{32, 3, 4}}, {{32, 2, 8}}};
  EXPECT_EQ(around, expected);
}

TEST(Space, NeighboursStepOverHoles) {
  const Space space({{1, 2, 3, 4}}, {Config{{1}}, Config{{4}}}, Config{{1}});
  EXPECT_EQ(space.neighbours(Config{{1}}), std::vector<Config>{Config{{4}}});
  EXPECT_EQ(space.neighbours(Config{{4}}), std::vector<Config>{Config{{1}}});
}

TEST(Space, NeighboursOfAValueOutsideTheTableAreTheTwoAroundIt) {
  const Space space({{1, 2, 4, 8}}, {Config{{1}}, Config{{2}}, Config{{4}}, Config{{8}}}, Config{{3}});
  EXPECT_EQ(space.neighbours(Config{{3}}), (std::vector<Config>{Config{{2}}, Config{{4}}}));
}

TEST(Space, TextNamesEveryKnobWithItsValues) {
  EXPECT_EQ(space_text(kToy), "tile=16,32,64,128 stages=1,2,3 warps=4,8");
}

}  // namespace
}  // namespace hstujit
