// Clocks that jump: what was tuned last decides, whatever its date.
#include "operators/operators.hpp"
#include "records/records.hpp"
#include "tuner/fixtures.hpp"
#include "tuner/tuning_job.hpp"

#include <gtest/gtest.h>

namespace hstujit::test {
namespace {

constexpr int64_t kDayMs = 24 * 3600 * 1000;

std::optional<Record> tune_again(Records& records, const char* config, int64_t median_ns) {
  TuneTask task;
  task.problem = rows_problem(4096);
  task.device = *facts_of_target("sm_90a");
  task.device.name = "NVIDIA H200";
  TuneOptions options;
  options.again = true;
  TuningJob job(records, task, options, "NVRTC 13.0 abc");
  Trial standard = standard_trial(2000), better = trial(config, median_ns);
  standard.at_ms = better.at_ms = now_ms();
  job.add(standard);
  job.add(better);
  return job.close(JobState::finished);
}

TEST(Clock, AJobAfterTheClockWasSetBackDecides) {
  Records records({"", ""});
  Job ahead = job("of a clock ahead", rows_problem(4096));
  ahead.started_ms = ahead.updated_ms = now_ms() + 30 * kDayMs;
  ahead.trials = {standard_trial(2000), trial("tile=32 stages=2", 1000)};
  for (Trial& each : ahead.trials) each.at_ms = ahead.updated_ms;
  records.absorb({ahead});
  tune_again(records, "tile=64 stages=2", 1500);
  EXPECT_EQ(records.find(rows_problem(4096), kDevice)->trial.config, "tile=64 stages=2");
  tune_again(records, "tile=128 stages=2", 1700);
  EXPECT_EQ(records.find(rows_problem(4096), kDevice)->trial.config, "tile=128 stages=2");
}

TEST(Clock, AJobOfAClockAheadDecidesToo) {
  Records records({"", ""});
  tune_again(records, "tile=64 stages=2", 1500);
  Job ahead = job("of a clock ahead", rows_problem(4096));
  ahead.started_ms = ahead.updated_ms = now_ms() + 30 * kDayMs;
  ahead.trials = {standard_trial(2000), trial("tile=32 stages=2", 1700)};
  records.absorb({ahead});
  EXPECT_EQ(records.find(rows_problem(4096), kDevice)->trial.config, "tile=32 stages=2");
}

}  // namespace
}  // namespace hstujit::test
