// Configurations of every family as a foreign record may name them: values that no family lists, those that it lists in
// all combinations, and texts that are none. Each is taken or passed over; what is taken can be run.
// HSTUJIT_FUZZ_SECONDS asks for longer than a moment.
#include "records/choose.hpp"
#include "specialise/source.hpp"
#include "support/sample_problems.hpp"
#include "tuner/fixtures.hpp"
#include "tuner/space.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <limits>
#include <random>

namespace hstujit::test {
namespace {

constexpr const char* kTargets[] = {"sm_80", "sm_86", "sm_89", "sm_90a"};

/// A family on a problem that it covers.
struct Case {
  const Family* family;
  Problem problem;
  DeviceFacts device;
};

std::vector<Case> cases() {
  std::vector<Case> out;
  for (const char* target : kTargets) {
    const DeviceFacts device = *facts_of_target(target);
    for (int op = 0; op < kOpCount; ++op)
      for (const Problem& problem : sample_problems(static_cast<Op>(op)))
        for (const Family* family : families_for(problem, device)) out.push_back({family, problem, device});
  }
  return out;
}

std::chrono::milliseconds patience() {
  const char* const asked = std::getenv("HSTUJIT_FUZZ_SECONDS");
  return asked ? std::chrono::seconds(std::atoi(asked)) : std::chrono::milliseconds(300);
}

class Draw {
 public:
  explicit Draw(uint64_t seed) : random_(seed) {}

  int32_t value_of(const Knob& knob) {
    static constexpr int32_t kLimits[] = {
        0, -1, 1, 2, 3, 1 << 20, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()};
    if (below(wild_ ? 4 : 1) == 0) return knob.values[below(knob.values.size())];
    if (below(2) == 0) return kLimits[below(std::size(kLimits))];
    return static_cast<int32_t>(random_());
  }

  Config config_of(const Family& family) {
    wild_ = below(2) == 0;
    Config config;
    for (size_t knob = 0; knob < family.knobs.size(); ++knob) config.value[knob] = value_of(family.knobs[knob]);
    return config;
  }

  size_t below(size_t n) { return random_() % n; }

 private:
  std::mt19937_64 random_;
  bool wild_ = false;
};

Trial trial_of(const Family& family, const std::string& config) {
  Trial out = trial(config, 1000);
  out.family = family.name;
  return out;
}

/// Whether a record of the configuration is used. One that is must be sound.
bool used(const Case& each, const std::string& config) {
  const auto named = resolve(trial_of(*each.family, config), each.problem, each.device);
  if (!named) return false;
  EXPECT_TRUE(listed(*each.family, named->config)) << each.family->name << ' ' << config;
  const Resources needs = each.family->resources(each.problem, named->config);
  EXPECT_GT(needs.threads, 0) << each.family->name << ' ' << config;
  EXPECT_FALSE(specialise(*each.family, each.problem, named->config, each.device).unit.empty());
  return true;
}

TEST(Configs, OfRecordsAreUsedOnlyIfTheFamilyListsThem) {
  const std::vector<Case> all = cases();
  const auto end = std::chrono::steady_clock::now() + patience();
  int64_t taken = 0, refused = 0;
  for (uint64_t round = 0; round == 0 || std::chrono::steady_clock::now() < end; ++round)
    for (size_t i = 0; i < all.size(); ++i) {
      if (round > 0 && std::chrono::steady_clock::now() >= end) break;
      const Config config = Draw(round * all.size() + i).config_of(*all[i].family);
      ++(used(all[i], text(*all[i].family, config)) ? taken : refused);
    }
  EXPECT_GT(taken, 0);
  EXPECT_GT(refused, 0);
}

TEST(Configs, OneKnobOfAnyFamilyThatIsNotListedIsEnoughToPassARecordOver) {
  for (const Case& each : cases()) {
    const Config standard = each.family->default_config(each.problem, each.device);
    ASSERT_TRUE(used(each, text(*each.family, standard))) << each.family->name;
    for (size_t knob = 0; knob < each.family->knobs.size(); ++knob)
      for (const int32_t value : {0, -1, 3, 1 << 30, std::numeric_limits<int32_t>::min()}) {
        Config config = standard;
        config.value[knob] = value;
        if (listed(*each.family, config)) continue;
        EXPECT_FALSE(used(each, text(*each.family, config))) << each.family->name << ' ' << knob << ' ' << value;
      }
  }
}

TEST(Configs, EveryDefaultHasValuesThatItsFamilyLists) {
  for (const Case& each : cases()) {
    const Config standard = each.family->default_config(each.problem, each.device);
    EXPECT_TRUE(listed(*each.family, standard)) << text(each.problem) << ": " << text(*each.family, standard);
  }
}

TEST(Configs, OfResourcesThatCannotBeDoNotFit) {
  const DeviceFacts device = *facts_of_target("sm_90a");
  for (const Resources& needs :
       {Resources{0, 1024, 64, 1}, Resources{-1, 1024, 64, 1}, Resources{128, -1, 64, 1}, Resources{128, 1024, -1, 1},
        Resources{128, 1024, 64, 0}, Resources{1024, 1024, 64, std::numeric_limits<int>::max()}})
    EXPECT_NE(misfit(needs, device), "") << needs.threads << ' ' << needs.min_blocks;
}

}  // namespace
}  // namespace hstujit::test
