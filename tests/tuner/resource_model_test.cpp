// T3: rules and resource model refuse, without compiling, what would not compile, would spill or would not fit, and
// nothing that is any good. Points are drawn from the whole product of a family's knob values with a fixed seed, and
// what is refused is compiled all the same to see whether it deserved it. HSTUJIT_MODEL_POINTS draws more of them than
// the few that a test has time for.
#include "families/family.hpp"
#include "jit/jit.hpp"
#include "records/records_text.hpp"
#include "specialise/source.hpp"
#include "support/embedded_text.hpp"
#include "support/nvrtc.hpp"
#include "support/sample_problems.hpp"
#include "tuner/space.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace hstujit {
namespace {

struct Case {
  const char* family;
  const char* target;
  int points;  ///< as many as seconds allow: what spills compiles for long
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.family << " for " << c.target; }

int points_of(const Case& c) {
  const char* const asked = std::getenv("HSTUJIT_MODEL_POINTS");
  return asked ? std::atoi(asked) : c.points;
}

Config random_config(const Family& family, std::mt19937& random) {
  Config config;
  for (size_t k = 0; k < family.knobs.size(); ++k)
    config.value[k] = family.knobs[k].values[random() % family.knobs[k].values.size()];
  return config;
}

/// What becomes of a configuration when nobody refuses it.
enum class Fate { sound, unfit, uncompiled, spills };

Fate fate(Jit& jit, const Family& family, const Problem& problem, const Config& config, const DeviceFacts& device) {
  const Resources needs = family.resources(problem, config);
  // Arithmetic that every unit repeats in a static_assert. What fits one block runs, whatever min_blocks hopes for.
  if (needs.smem_bytes > device.smem_per_block || needs.threads > 1024) return Fate::unfit;
  try {
    return jit.obtain(specialise(family, problem, config, device))->flaw().empty() ? Fate::sound : Fate::spills;
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), HSTU_ERROR_COMPILE) << error.message();
    return Fate::uncompiled;
  }
}

class Model : public testing::TestWithParam<Case> {};

TEST_P(Model, RefusesWhatWouldNotRunSoundly) {
  HSTU_NEEDS_NVRTC();
  const Family& family = *family_named(GetParam().family);
  const DeviceFacts device = *facts_of_target(GetParam().target);
  const Problem problem = test::sample_problems(family.op).front();
  ASSERT_TRUE(family.covers(problem, device));
  Jit jit({.store_path = "", .system_store_path = "", .kernels_path = "", .nvrtc_path = Environment::read().libnvrtc});
  std::mt19937 random(1);
  const int points = points_of(GetParam());
  int count[4] = {}, refused[4] = {};
  for (int i = 0; i < points; ++i) {
    const Config config = random_config(family, random);
    const auto of = static_cast<size_t>(fate(jit, family, problem, config, device));
    const bool taken = fits(family, problem, config, device);
    ++count[of];
    refused[of] += !taken;
    EXPECT_TRUE(!taken || of == static_cast<size_t>(Fate::sound))
        << text(family, config) << " is taken and does not run soundly: " << of;
  }
  std::printf(
      "%s for %s, %d points: %d sound (%d refused); refused of those too large %d/%d, that do not compile "
      "%d/%d, that spill %d/%d\n",
      GetParam().family, GetParam().target, points, count[0], refused[0], refused[1], count[1], refused[2], count[2],
      refused[3], count[3]);
}

INSTANTIATE_TEST_SUITE_P(T3, Model,
                         testing::Values(Case{"attn_fwd_sm80", "sm_80", 3}, Case{"addmm_sm80", "sm_80", 8},
                                         Case{"layer_norm_sm80", "sm_80", 10}, Case{"attn_fwd_sm90", "sm_90a", 4},
                                         Case{"attn_fwd_sm80", "sm_90a", 2}, Case{"addmm_sm90", "sm_90a", 4},
                                         Case{"addmm_sm80", "sm_90a", 8}),
                         [](const auto& each) { return std::string(each.param.family) + "_for_" + each.param.target; });

/// A problem whose space is tried at its edge: for each demand of registers, where the least of them are left.
struct Edge {
  const char *family, *target, *name, *problem;
};

void PrintTo(const Edge& edge, std::ostream* out) { *out << edge.family << " for " << edge.problem; }

int budget_of(const Family& family, const Problem& problem, const Config& config) {
  const Resources needs = family.resources(problem, config);
  return register_budget(needs.min_blocks, needs.threads);
}

/// Of each demand of registers the point that leaves least, of points alike the last.
std::map<int, Config> tightest(const Family& family, const Problem& problem, const DeviceFacts& device) {
  std::map<int, Config> points;
  const Space space = enumerate(family, problem, device);
  for (const Config& config : space.points()) {
    const auto [at, added] = points.try_emplace(family.resources(problem, config).registers, config);
    if (budget_of(family, problem, config) <= budget_of(family, problem, at->second)) at->second = config;
  }
  return points;
}

/// The next tighter number of blocks for the same threads; none where shared memory or threads end first.
std::optional<Config> tighter(const Family& family, const Problem& problem, Config config, const DeviceFacts& device) {
  const auto knob = std::ranges::find(family.knobs, std::string_view("blocks_per_sm"), &Knob::name);
  auto& blocks = config.value[static_cast<size_t>(knob - family.knobs.begin())];
  const auto next = std::ranges::upper_bound(knob->values, blocks);
  if (next == knob->values.end()) return std::nullopt;
  blocks = *next;
  const Resources needs = family.resources(problem, config);
  if (needs.threads * blocks > device.threads_per_sm || !smem_holds(device, blocks, needs.smem_bytes))
    return std::nullopt;
  return config;
}

class ModelAtTheEdge : public testing::TestWithParam<Edge> {};

TEST_P(ModelAtTheEdge, TakesNothingThatSpillsAndRefusesLittleElse) {
  HSTU_NEEDS_NVRTC();
  const Family& family = *family_named(GetParam().family);
  const DeviceFacts device = *facts_of_target(GetParam().target);
  const Problem problem = parse_problem(GetParam().problem).value();
  Jit jit({.store_path = "", .system_store_path = "", .kernels_path = "", .nvrtc_path = Environment::read().libnvrtc});
  int refused = 0;
  std::vector<std::string> for_nothing;
  for (const auto& [registers, config] : tightest(family, problem, device)) {
    EXPECT_EQ(fate(jit, family, problem, config, device), Fate::sound) << text(family, config);
    const auto beyond = tighter(family, problem, config, device);
    if (!beyond) continue;
    ++refused;
    if (fate(jit, family, problem, *beyond, device) == Fate::sound) for_nothing.push_back(text(family, *beyond));
  }
  EXPECT_LE(2 * std::ssize(for_nothing), refused) << testing::PrintToString(for_nothing) << " do not spill";
}

#define LAYER_NORM_BACKWARD(dtype, weight, moments, dresidual, dim, vector)                                    \
  "layer_norm_backward dtype=" dtype " weight_dtype=" weight " gradient_dtype=" weight " has_moments=" moments \
  " has_dresidual=" dresidual " has_dx=1 has_dweight=1 has_dbias=1 dim=" dim " vector=" vector " rows=262144"

constexpr Edge kEdges[] = {
    {"layer_norm_bwd_sm80", "sm_90a", "usual", LAYER_NORM_BACKWARD("bf16", "bf16", "0", "0", "512", "8")},
    {"layer_norm_bwd_sm80", "sm_90a", "dresidual", LAYER_NORM_BACKWARD("bf16", "bf16", "0", "1", "512", "8")},
    {"layer_norm_bwd_sm80", "sm_90a", "wide", LAYER_NORM_BACKWARD("f16", "f16", "1", "0", "2048", "8")},
    {"layer_norm_bwd_sm80", "sm_90a", "odd", LAYER_NORM_BACKWARD("bf16", "bf16", "1", "1", "333", "1")},
    {"layer_norm_bwd_sm80", "sm_90a", "partly", LAYER_NORM_BACKWARD("bf16", "f32", "0", "0", "300", "4")},
    {"layer_norm_bwd_sm80", "sm_80", "dresidual", LAYER_NORM_BACKWARD("f32", "f32", "1", "1", "512", "4")},
    {"layer_norm_bwd_sm80", "sm_80", "odd", LAYER_NORM_BACKWARD("f16", "f16", "0", "1", "1023", "1")},
};
#undef LAYER_NORM_BACKWARD

INSTANTIATE_TEST_SUITE_P(T3, ModelAtTheEdge, testing::ValuesIn(kEdges), [](const auto& each) {
  return std::string(each.param.family) + "_for_" + each.param.target + "_" + each.param.name;
});

/// Whatever a shipped job measured on a real device, its winner above all.
TEST(ResourceModel, TakesEveryShippedTrial) {
  const DeviceFacts device = *facts_of_target("sm_90a");
  int trials = 0;
  for (const EmbeddedFile& file : embedded_records())
    for (const Job& job : jobs_of_text(file.text))
      for (const Trial& trial : job.trials) {
        const Family* const family = family_named(trial.family);
        ASSERT_TRUE(family) << trial.family;
        const auto config = parse_config(*family, trial.config, family->default_config(job.problem, device));
        ASSERT_TRUE(config) << trial.config;
        EXPECT_TRUE(fits(*family, job.problem, *config, device)) << text(job.problem) << ": " << trial.config;
        ++trials;
      }
  EXPECT_GT(trials, 50);
}

/// The warpgroup that fetches gives registers away: 256 threads hold 192 sums each, which 384 could not.
TEST(ResourceModel, CountsTheRegistersOfThoseWhoHoldThem) {
  const DeviceFacts device = *facts_of_target("sm_90a");
  EXPECT_EQ(misfit({.threads = 384, .registers = 192, .holders = 256}, device), "");
  EXPECT_NE(misfit({.threads = 384, .registers = 192}, device), "");
}

}  // namespace
}  // namespace hstujit
