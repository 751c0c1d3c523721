// From trials to winners.
#include "records/decide.hpp"

#include "tuner/fixtures.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace hstujit {
namespace {

using test::standard_trial;
using test::trial;

const Problem kProblem = test::rows_problem(4096);

Job job_with(std::vector<Trial> trials) {
  Job job = test::job("a", kProblem);
  job.trials = std::move(trials);
  return job;
}

std::string winner(const Job& job) {
  const auto record = decide(job);
  return record ? record->trial.config : "none";
}

TEST(Decide, TheFastestWins) {
  const Job job =
      job_with({standard_trial(10'000), trial("tile=32 stages=2", 8'000), trial("tile=64 stages=2", 9'000)});
  EXPECT_EQ(winner(job), "tile=32 stages=2");
  EXPECT_EQ(decide(job)->standard_ns, 10'000);
}

TEST(Decide, TheDefaultStaysUnlessClearlyBeaten) {
  EXPECT_EQ(winner(job_with({standard_trial(10'000), trial("tile=32 stages=2", 9'810)})), "tile=16 stages=1");
  EXPECT_EQ(winner(job_with({standard_trial(10'000), trial("tile=32 stages=2", 9'790)})), "tile=32 stages=2");
}

TEST(Decide, NoisyMeasurementsCountLess) {
  Trial noisy = trial("tile=32 stages=2", 9'500);
  noisy.timing.samples = 9;
  noisy.timing.mad_ns = 500;
  EXPECT_EQ(winner(job_with({standard_trial(10'000), noisy})), "tile=16 stages=1");
}

TEST(Decide, TiesGoToLessSharedMemoryThenFewerRegistersThenSmallerKnobs) {
  Trial a = trial("tile=32 stages=2", 8'000), b = trial("tile=32 stages=10", 8'002),
        c = trial("tile=32 stages=3", 8'001);
  EXPECT_EQ(winner(job_with({standard_trial(10'000), c, b, a})), "tile=32 stages=2");
  b.registers = 40;
  EXPECT_EQ(winner(job_with({standard_trial(10'000), a, b, c})), "tile=32 stages=10");
  c.smem_bytes = 512;
  EXPECT_EQ(winner(job_with({standard_trial(10'000), a, b, c})), "tile=32 stages=3");
}

TEST(Decide, KnobsCompareAsNumbers) {
  EXPECT_TRUE(preferred(trial("tile=32 stages=2", 1), trial("tile=128 stages=1", 1)));
  EXPECT_FALSE(preferred(trial("tile=128 stages=1", 1), trial("tile=32 stages=2", 1)));
}

TEST(Decide, ATieWithTheBestThatAlsoTiesWithTheDefaultDoesNotWin) {
  // The default and the best differ, and something cheaper but noisy lies between them, perhaps as slow as the one,
  // perhaps as fast as the other.
  Trial between = trial("tile=32 stages=1", 9'860);
  between.smem_bytes = 1;
  between.timing.samples = 9;
  between.timing.mad_ns = 115;
  const Job job = job_with({standard_trial(10'000), between, trial("tile=64 stages=3", 9'750)});
  EXPECT_EQ(winner(job), "tile=64 stages=3");
}

TEST(Decide, FinalsOverruleTheSearch) {
  const Job job = job_with({standard_trial(10'000), trial("tile=32 stages=2", 5'000), trial("tile=64 stages=2", 8'000),
                            standard_trial(10'000, Stage::finals), trial("tile=32 stages=2", 9'000, Stage::finals),
                            trial("tile=64 stages=2", 8'000, Stage::finals)});
  EXPECT_EQ(winner(job), "tile=64 stages=2");
}

TEST(Decide, FinalsWithoutTheDefaultDoNotCount) {
  const Job job = job_with(
      {standard_trial(10'000), trial("tile=32 stages=2", 9'000), trial("tile=64 stages=2", 1'000, Stage::finals)});
  EXPECT_EQ(winner(job), "tile=32 stages=2");
}

TEST(Decide, OnlySoundTrialsCanWin) {
  for (const TrialStatus status :
       {TrialStatus::slow, TrialStatus::compile_failed, TrialStatus::flawed, TrialStatus::wrong, TrialStatus::failed}) {
    Trial bad = trial("tile=32 stages=2", 10);
    bad.status = status;
    EXPECT_EQ(winner(job_with({standard_trial(10'000), bad})), "tile=16 stages=1");
  }
}

TEST(Decide, NothingIsDecidedWithoutTheDefault) {
  EXPECT_EQ(winner(job_with({trial("tile=32 stages=2", 10)})), "none");
  EXPECT_EQ(winner(job_with({})), "none");
}

TEST(Decide, TheNewestFinishedJobSpeaks) {
  Job old = job_with({standard_trial(10'000), trial("tile=32 stages=2", 8'000)});
  Job fresh = job_with({standard_trial(10'000), trial("tile=64 stages=2", 9'000)});
  fresh.uid = "b";
  fresh.updated_ms += 1;
  Job cancelled = job_with({standard_trial(10'000), trial("tile=64 stages=3", 7'000)});
  cancelled.uid = "c";
  cancelled.updated_ms += 2;
  cancelled.state = JobState::cancelled;
  std::vector<Job> jobs = {old, fresh, cancelled};
  std::sort(jobs.begin(), jobs.end(), [](const Job& a, const Job& b) { return a.uid < b.uid; });
  do {
    EXPECT_EQ(decide(jobs)->job, "b");
  } while (std::next_permutation(jobs.begin(), jobs.end(), [](const Job& a, const Job& b) { return a.uid < b.uid; }));
  EXPECT_EQ(decide(std::vector<Job>{cancelled})->job, "c");
}

/// Two jobs, the second of which finds tile=64 a little faster, and their names in the order given.
std::vector<Job> one_after_another(int64_t second_of_32, int64_t second_of_64) {
  Job first = job_with({standard_trial(10'000), trial("tile=32 stages=2", 8'000), trial("tile=64 stages=1", 8'050)});
  Job second = job_with(
      {standard_trial(10'000), trial("tile=32 stages=2", second_of_32), trial("tile=64 stages=1", second_of_64)});
  second.uid = "b";
  second.updated_ms += 1;
  return {first, second};
}

std::string names_of(const std::vector<const Job*>& jobs) {
  std::string out;
  for (const Job* job : jobs) out += job->uid;
  return out;
}

TEST(Decide, WhatWonBeforeStaysUnlessClearlyBeaten) {
  std::vector<Job> jobs = one_after_another(8'060, 8'000);
  EXPECT_EQ(winner(jobs.back()), "tile=64 stages=1");  // on its own
  EXPECT_EQ(decide(jobs)->trial.config, "tile=32 stages=2");
  EXPECT_EQ(decide(jobs)->job, "b");
  EXPECT_EQ(decide(jobs)->trial.timing.median_ns, 8'060);
  EXPECT_EQ(names_of(deciding_jobs(jobs)), "ab");
  std::swap(jobs[0], jobs[1]);
  EXPECT_EQ(decide(jobs)->trial.config, "tile=32 stages=2");
  jobs = one_after_another(8'170, 8'000);
  EXPECT_EQ(decide(jobs)->trial.config, "tile=64 stages=1");
  EXPECT_EQ(names_of(deciding_jobs(jobs)), "b");
}

TEST(Decide, WhatWonBeforeGoesWhenTheDefaultBeatsItOrItWasNotMeasured) {
  std::vector<Job> jobs = one_after_another(8'060, 8'060);
  jobs[1].trials[0].timing = jobs[0].trials[1].timing;  // of the default, 8,000
  EXPECT_EQ(decide(jobs)->trial.config, "tile=16 stages=1");
  jobs = one_after_another(8'060, 8'000);
  jobs[1].trials.erase(jobs[1].trials.begin() + 1);
  EXPECT_EQ(decide(jobs)->trial.config, "tile=64 stages=1");
}

TEST(Decide, WhatWonUnderOtherCircumstancesDoesNotCount) {
  std::vector<Job> jobs = one_after_another(8'060, 8'000);
  jobs[1].evidence.kernels = "fedcba9876543210fedcba9876543210";
  EXPECT_EQ(decide(jobs)->trial.config, "tile=64 stages=1");
  jobs = one_after_another(8'060, 8'000);
  jobs[0].state = JobState::cancelled;
  EXPECT_EQ(decide(jobs)->trial.config, "tile=64 stages=1");
}

/// Of a long row of jobs, what deciding_jobs() leaves decides alike.
TEST(Decide, TheDecidingJobsAreEnough) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<Job> jobs;
    for (int i = 0; i < 8; ++i) {
      Job& j = jobs.emplace_back(job_with({standard_trial(8'200 + random() % 100)}));
      for (int tile = 1; tile < 8; ++tile)
        if (random() % 8) j.trials.push_back(trial("tile=" + std::to_string(tile), 8'000 + random() % 250));
      j.uid = std::to_string(i);
      j.updated_ms += i;
      j.evidence.driver += random() % 16 == 0;
    }
    const auto all = decide(jobs);
    std::vector<Job> few;
    for (const Job* job : deciding_jobs(jobs)) few.push_back(*job);
    ASSERT_LE(few.size(), 2u);
    EXPECT_EQ(decide(few)->trial, all->trial);
    EXPECT_EQ(decide(few)->job, all->job);
  }
}

TEST(Decide, AJobThatDecidedNothingDoesNotSpeak) {
  Job empty = job_with({});
  empty.updated_ms += 5;
  const Job useful = job_with({standard_trial(10'000)});
  EXPECT_EQ(decide(std::vector<Job>{useful, empty})->trial.config, "tile=16 stages=1");
}

}  // namespace
}  // namespace hstujit
