// The tuner against the clock, by arithmetic: what it finds of recorded spaces in so many seconds on so many cores,
// what the cores and the GPU do meanwhile, and what it says about it. Each problem's neighbours are known, it itself is
// not.
#include "support/error.hpp"
#include "tuner/clocked_problems.hpp"

#include <gtest/gtest.h>

#include <set>

namespace hstujit::test {
namespace {

const std::vector<ClockedProblem>& problems() {
  static const std::vector<ClockedProblem> all = clocked_problems();
  return all;
}

TuneOptions seconds(double budget) {
  static const Experience experience = experience_of(problems());
  TuneOptions options;
  options.budget_ms = static_cast<int64_t>(budget * 1e3);
  options.experience = &experience;
  return options;
}

TuneOptions without_experience(TuneOptions options) {
  options.experience = nullptr;
  return options;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Each problem by itself; what is found, and configurations a second over all.
struct Alone {
  std::vector<double> found;
  double rate = 0;
};

Alone each_alone(const std::vector<ClockedProblem>& problems, size_t cores, const TuneOptions& options,
                 const char* what) {
  Alone alone;
  double tried = 0, seconds = 0;
  for (const ClockedProblem& problem : problems) {
    const ClockedRun run = run_clocked({&problem}, cores, options);
    if (run.outcomes[0].error) std::rethrow_exception(run.outcomes[0].error);
    alone.found.push_back(run.found[0]);
    tried += run.tried;
    seconds += run.seconds;
    std::printf("%s, %s: %.2f %% of the best, %d tried in %.2f s; cores %.0f %%, GPU %.0f %% busy\n",
                problem.name.c_str(), what, 100 * run.found[0], run.tried, run.seconds, 100 * run.cores_busy,
                100 * run.gpu_busy);
  }
  alone.rate = tried / seconds;
  std::printf("%s: median %.2f %%, worst %.2f %%, %.1f configurations a second\n", what, 100 * median(alone.found),
              100 * *std::min_element(alone.found.begin(), alone.found.end()), alone.rate);
  return alone;
}

TEST(Clocked, FiveSecondsOnSixteenCoresFindTheBest) {
  const Alone alone = each_alone(problems(), 16, seconds(5), "5 s on 16 cores");
  EXPECT_GE(median(alone.found), 0.99);
  EXPECT_GE(*std::min_element(alone.found.begin(), alone.found.end()), 0.96);
  EXPECT_GE(alone.rate, 12);
}

TEST(Clocked, TwentySecondsOnTwoCoresFindTheBest) {
  const Alone alone = each_alone(problems(), 2, seconds(20), "20 s on 2 cores");
  EXPECT_GE(median(alone.found), 0.98);
  EXPECT_GE(*std::min_element(alone.found.begin(), alone.found.end()), 0.94);
}

TEST(Clocked, AStrangerIsFoundNearlyAsWell) {
  const Alone many = each_alone(problems(), 16, without_experience(seconds(5)), "nothing known, 5 s on 16 cores");
  EXPECT_GE(median(many.found), 0.99);
  EXPECT_GE(*std::min_element(many.found.begin(), many.found.end()), 0.95);
  const Alone few = each_alone(problems(), 2, without_experience(seconds(20)), "nothing known, 20 s on 2 cores");
  EXPECT_GE(median(few.found), 0.98);
  EXPECT_GE(*std::min_element(few.found.begin(), few.found.end()), 0.93);
}

/// Kernels that take seconds to compile, in spaces of thousands with a handful of good ones: what can be reached is
/// printed. Convolution was recorded on two GPUs, so each knows the other.
TEST(Clocked, KernelsOfOthersAreHarder) {
  const std::vector<ClockedProblem> others = foreign_problems();
  const Experience experience = experience_of(others);
  TuneOptions options = seconds(5);
  options.experience = &experience;
  const Alone many = each_alone(others, 16, options, "5 s on 16 cores");
  options.budget_ms = 20'000;
  const Alone few = each_alone(others, 2, options, "20 s on 2 cores");
  EXPECT_GE(median(many.found), 0.7);
  EXPECT_GE(median(few.found), 0.5);
}

TEST(Clocked, TheSameAnswersGiveTheSameDecisions) {
  const ClockedRun once = run_clocked(pointers_to(problems()), 16, seconds(20));
  const ClockedRun again = run_clocked(pointers_to(problems()), 16, seconds(20));
  EXPECT_GT(once.order.size(), problems().size());
  EXPECT_EQ(once.order, again.order);
}

TEST(Clocked, NothingIsTriedTwice) {
  const ClockedRun run = run_clocked({&problems().front()}, 16, seconds(1000));
  EXPECT_EQ(std::set<std::string>(run.order.begin(), run.order.end()).size(), run.order.size());
  size_t size = 0;
  for (const auto& [family, recorded] : problems().front().spaces) size += recorded.space.size();
  EXPECT_EQ(run.order.size(), size);
  EXPECT_EQ(run.outcomes[0].result->end, SearchEnd::exhausted);
  EXPECT_EQ(run.outcomes[0].result->rest, 0);
}

/// A problem's first batch is compiled while another is measured, so the cores never wait for it.
TEST(Clocked, AWorkloadKeepsAllCoresBusy) {
  const ClockedRun run = run_clocked(pointers_to(problems()), 16, seconds(40));
  std::printf(
      "a workload of %zu problems, 40 s on 16 cores: median %.2f %%, worst %.2f %%, %.1f a second; cores %.0f "
      "%%, GPU %.0f %% busy\n",
      problems().size(), 100 * median(run.found), 100 * *std::min_element(run.found.begin(), run.found.end()),
      run.rate(), 100 * run.cores_busy, 100 * run.gpu_busy);
  EXPECT_GE(std::max(run.cores_busy, run.gpu_busy), 0.9);
  EXPECT_LE(run.seconds, 41);
  EXPECT_GE(*std::min_element(run.found.begin(), run.found.end()), 0.96);
  for (const TuneOutcome& outcome : run.outcomes) EXPECT_TRUE(outcome.result);
}

TEST(Clocked, FewBenchesSufficeForManyProblems) {
  TuneOptions options = seconds(40);
  options.most_open = 2;
  const ClockedRun run = run_clocked(pointers_to(problems()), 16, options);
  for (size_t i = 0; i < problems().size(); ++i) {
    ASSERT_TRUE(run.outcomes[i].result) << problems()[i].name;
    EXPECT_GE(run.found[i], 0.95) << problems()[i].name;
  }
  EXPECT_LE(run.seconds, 42);
}

TEST(Clocked, TheBudgetGoesWhereGainCounts) {
  const std::vector<const ClockedProblem*> two = {&problems()[0], &problems()[1]};
  const auto tried_of_first = [&](double first, double second) {
    const ClockedRun run = run_clocked(two, 4, without_experience(seconds(6)), {first, second});
    return std::ranges::count_if(run.order, [](const std::string& one) { return one.starts_with("0 "); });
  };
  EXPECT_GT(tried_of_first(10, 1), tried_of_first(1, 10));
}

TEST(Clocked, WithoutTimeTheDefaultsAreMeasuredAllTheSame) {
  const ClockedRun run = run_clocked(pointers_to(problems()), 16, seconds(0));
  for (const TuneOutcome& outcome : run.outcomes) {
    ASSERT_TRUE(outcome.result);
    EXPECT_TRUE(outcome.result->record.trial.standard);
    EXPECT_EQ(outcome.result->end, SearchEnd::out_of_time) << "which is no success";
    EXPECT_GE(outcome.result->measured, 1);
  }
}

TEST(Clocked, EndsWhenLittleIsExpectedAndIsRight) {
  for (const ClockedProblem& problem : problems()) {
    TuneOptions options = seconds(120);
    options.until = 0.001;
    const ClockedRun run = run_clocked({&problem}, 16, options);
    const TuneResult& result = *run.outcomes[0].result;
    EXPECT_NE(result.end, SearchEnd::out_of_time) << problem.name;
    EXPECT_LT(run.seconds, 30) << problem.name;
    std::printf("%s: ends after %.1f s with %.2f %% of the best, %.2f %% expected to be left\n", problem.name.c_str(),
                run.seconds, 100 * run.found[0], 100 * result.rest.value_or(-0.01));
    EXPECT_GE(run.found[0], 0.97) << problem.name;
  }
}

TEST(Clocked, SaysWhatItExpectsToHaveLeft) {
  double expected = 0, left = 0;
  for (const ClockedProblem& problem : problems()) {
    const ClockedRun run = run_clocked({&problem}, 4, without_experience(seconds(4)));
    const TuneResult& result = *run.outcomes[0].result;
    ASSERT_EQ(result.end, SearchEnd::out_of_time);
    ASSERT_TRUE(result.rest);
    std::printf("%s: %.1f %% expected to be left, %.1f %% are\n", problem.name.c_str(), 100 * *result.rest,
                100 * (1 / run.found[0] - 1));
    expected += *result.rest;
    left += 1 / run.found[0] - 1;
  }
  EXPECT_GT(expected, left / 4);
  EXPECT_LT(expected, left * 8 + 0.1 * static_cast<double>(problems().size()));
}

}  // namespace
}  // namespace hstujit::test
