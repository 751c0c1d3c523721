// Records as its users see them: lookups, layers, merge, export. What happens to files is in tuner_file_test.cpp.
#include "records/records.hpp"

#include "operators/norm/layer_norm.hpp"
#include "support/captured_log.hpp"
#include "support/cpu_time.hpp"
#include "support/error.hpp"
#include "support/patterns.hpp"
#include "support/temp_dir.hpp"
#include "tuner/fixtures.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <thread>

namespace hstujit {
namespace {

using test::job;
using test::kDevice;
using test::rows_problem;
using test::standard_trial;
using test::TempDir;
using test::trial;

RecordsOptions in_memory() { return {"", ""}; }

/// A job whose winner is `winner`, or the default when that is empty.
Job decided_job(const std::string& uid, const Problem& problem, const std::string& winner) {
  Job j = job(uid, problem);
  j.trials = {standard_trial(10'000), standard_trial(10'000, Stage::finals), trial("tile=64 stages=3", 20'000)};
  j.trials.back().status = TrialStatus::slow;
  if (!winner.empty()) j.trials.push_back(trial(winner, 8'000));
  if (!winner.empty()) j.trials.push_back(trial(winner, 8'000, Stage::finals));
  return j;
}

TEST(Records, StartEmpty) {
  const Records records(in_memory());
  EXPECT_FALSE(records.find(rows_problem(1024), kDevice));
  EXPECT_FALSE(records.nearest(rows_problem(1024), kDevice));
  EXPECT_TRUE(records.jobs().empty());
  EXPECT_FALSE(records.durable());
  EXPECT_EQ(records.path(), "");
}

TEST(Records, ShowAWinnerOnceItsJobIsClosed) {
  Records records(in_memory());
  const Job j = decided_job("a", rows_problem(1024), "tile=32 stages=2");
  for (const Trial& t : j.trials) records.save(j, t);
  EXPECT_FALSE(records.find(j.problem, kDevice));
  records.close(j);
  const auto record = records.find(j.problem, kDevice);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->trial, trial("tile=32 stages=2", 8'000, Stage::finals));
  EXPECT_EQ(record->evidence, j.evidence);
  EXPECT_EQ(record->job, "a");
  EXPECT_EQ(record->standard_ns, 10'000);
}

TEST(Records, NearestSaysHowFar) {
  Records records(in_memory());
  records.absorb({decided_job("a", rows_problem(1024), "tile=32 stages=2")});
  const auto near = records.nearest(rows_problem(4096), kDevice);
  ASSERT_TRUE(near);
  EXPECT_EQ(near->distance, 2);
  EXPECT_EQ(near->record.trial.config, "tile=32 stages=2");
  EXPECT_FALSE(records.nearest(rows_problem(4096, 256), kDevice));
}

TEST(Records, GiveBackJobsAsTheyWereSaved) {
  TempDir store;
  Job j = decided_job("a", rows_problem(1024), "tile=32 stages=2");
  std::sort(j.trials.begin(), j.trials.end());
  { Records(RecordsOptions{store.str(), ""}).absorb({j}); }
  const Records records(RecordsOptions{store.str(), ""});
  EXPECT_TRUE(records.durable());
  const auto jobs = records.jobs(j.problem, kDevice);
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs[0].trials, j.trials);
  EXPECT_EQ(jobs[0].uid, j.uid);
  EXPECT_EQ(jobs[0].evidence, j.evidence);
  EXPECT_EQ(jobs[0].seed, j.seed);
  EXPECT_EQ(jobs[0].state, j.state);
  EXPECT_EQ(jobs[0].updated_ms, j.updated_ms);
  EXPECT_EQ(records.find(j.problem, kDevice)->trial.config, "tile=32 stages=2");
  EXPECT_TRUE(records.jobs(rows_problem(64), kDevice).empty());
}

TEST(Records, TheLaterOfTwoMeasurementsStays) {
  Records records(in_memory());
  const Job j = job("a", rows_problem(1024), JobState::running);
  Trial early = standard_trial(10'000), late = standard_trial(11'000);
  late.at_ms += 1;
  records.save(j, late);
  records.save(j, early);
  ASSERT_EQ(records.jobs()[0].trials.size(), 1u);
  EXPECT_EQ(records.jobs()[0].trials[0], late);
}

TEST(Records, AnInterruptedJobSpeaksUntilOneFinishes) {
  Records records(in_memory());
  Job cut = decided_job("a", rows_problem(1024), "tile=32 stages=2");
  cut.state = JobState::cancelled;
  cut.updated_ms += 1000;
  records.absorb({cut});
  EXPECT_EQ(records.find(cut.problem, kDevice)->job, "a");
  records.absorb({decided_job("b", rows_problem(1024), "")});
  EXPECT_EQ(records.find(cut.problem, kDevice)->job, "b");
}

// ---- Layers

TEST(Records, UserRecordsLieOverSystemRecordsOverSeeds) {
  TempDir store, system;
  const Problem a = rows_problem(1024), b = rows_problem(2048), c = rows_problem(4096);
  std::string seed;
  {
    Records records(in_memory());
    for (const Problem& p : {a, b, c})
      records.absorb({decided_job("seed" + std::to_string(p[layer_norm::kRows]), p, "tile=16 stages=3")});
    seed = records.export_text(ExportKind::winners);
  }
  {
    Records records(RecordsOptions{system.str(), ""});
    for (const Problem& p : {b, c})
      records.absorb({decided_job("system" + std::to_string(p[layer_norm::kRows]), p, "tile=32 stages=3")});
  }
  Records records(RecordsOptions{store.str(), system.str(), {seed}});
  records.absorb({decided_job("user", c, "tile=64 stages=2")});
  EXPECT_EQ(records.find(a, kDevice)->trial.config, "tile=16 stages=3");
  EXPECT_EQ(records.find(b, kDevice)->trial.config, "tile=32 stages=3");
  EXPECT_EQ(records.find(c, kDevice)->trial.config, "tile=64 stages=2");
  EXPECT_EQ(records.jobs().size(), 1u);
}

TEST(Records, AMissingSystemStoreIsNoProblem) {
  test::CapturedLog log;
  const Records records(RecordsOptions{"", "/nowhere/at/all"});
  EXPECT_EQ(records.winners()->size(), 0u);
  EXPECT_EQ(log.str(), "");
}

TEST(Records, SeeWhatAnotherProcessDecidedAfterRefresh) {
  TempDir store;
  Records mine(RecordsOptions{store.str(), ""}), theirs(RecordsOptions{store.str(), ""});
  theirs.absorb({decided_job("a", rows_problem(1024), "tile=32 stages=2")});
  EXPECT_FALSE(mine.find(rows_problem(1024), kDevice));
  mine.refresh();
  EXPECT_TRUE(mine.find(rows_problem(1024), kDevice));
}

TEST(Records, ATableInUseStaysAsItIs) {
  Records records(in_memory());
  const auto before = records.winners();
  records.absorb({decided_job("a", rows_problem(1024), "tile=32 stages=2")});
  EXPECT_EQ(before->size(), 0u);
  EXPECT_EQ(records.winners()->size(), 1u);
}

// ---- Merge

/// Jobs as they might come from several machines: some shared, some grown apart since.
std::vector<Job> random_jobs(uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](uint64_t bound) { return random() % bound; };
  std::vector<Job> jobs;
  for (int i = 0; i < 12; ++i) {
    Job j = job("uid" + std::to_string(below(9)), rows_problem(64), static_cast<JobState>(below(3)));
    // A uid always means the same problem and evidence; the rest of a job may have gone on.
    j.problem = rows_problem(j.uid.back() % 2 ? 1024 : 2048);
    j.evidence.driver += j.uid.back() % 3;
    j.updated_ms += static_cast<int64_t>(below(5));
    j.trials.push_back(standard_trial(10'000));
    for (int t = 0; t < 5; ++t) {
      Trial& added = j.trials.emplace_back(trial("tile=" + std::to_string(16 << below(3)) + " stages=2",
                                                 7'000 + static_cast<int64_t>(below(4)) * 500,
                                                 below(2) ? Stage::finals : Stage::search));
      added.at_ms += static_cast<int64_t>(below(3));
      added.status = below(4) ? TrialStatus::ok : TrialStatus::slow;
    }
    jobs.push_back(std::move(j));
  }
  return jobs;
}

std::string winners_text(const Records& records) {
  std::string out;
  for (const Record& r : records.winners()->all())
    out += text(r.problem) + " -> " + r.trial.config + " of " + r.job + "\n";
  return out;
}

TEST(Merge, IsCommutativeAndIdempotent) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    TempDir dirs[2];
    for (uint64_t i = 0; i < 2; ++i) Records(RecordsOptions{dirs[i].str(), ""}).absorb(random_jobs(2 * seed + i));
    Records ab(in_memory()), ba(in_memory());
    ab.merge(dirs[0].str() + "/tuner.db");
    ab.merge(dirs[1].str() + "/tuner.db");
    ba.merge(dirs[1].str() + "/tuner.db");
    ba.merge(dirs[0].str() + "/tuner.db");
    ASSERT_EQ(ab.export_text(), ba.export_text()) << seed;
    ASSERT_EQ(winners_text(ab), winners_text(ba)) << seed;
    ASSERT_NE(winners_text(ab), "");
    const std::string before = ab.export_text();
    const Added again = ab.merge(dirs[1].str() + "/tuner.db");
    EXPECT_EQ(again.jobs, 0);
    EXPECT_EQ(again.trials, 0);
    EXPECT_EQ(ab.export_text(), before);
  }
}

TEST(Merge, IsAssociativeOverJobsInAnyOrder) {
  std::vector<Job> jobs = random_jobs(99);
  std::string expected, expected_winners;
  for (int round = 0; round < 20; ++round) {
    Records records(in_memory());
    for (const Job& j : jobs) records.absorb({j});
    if (round == 0) expected = records.export_text(), expected_winners = winners_text(records);
    ASSERT_EQ(records.export_text(), expected);
    ASSERT_EQ(winners_text(records), expected_winners);
    std::shuffle(jobs.begin(), jobs.end(), std::mt19937(static_cast<unsigned>(round)));
  }
}

TEST(Merge, SaysWhyADatabaseCannotBeRead) {
  Records records(in_memory());
  try {
    records.merge("/nowhere/tuner.db");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.status(), HSTU_ERROR_STORE);
    EXPECT_NE(e.message().find("/nowhere/tuner.db"), std::string::npos);
  }
}

// R13: what ten shards leave, each with 10,000 trials of problems that others tuned, too.
TEST(Merge, PrintsTheTimeOfTenLargeStores) {
  constexpr int kStores = 10, kProblems = 50, kTrials = 200;
  const TempDir dir;
  const auto store = [&](int i) { return dir.str() + "/" + std::to_string(i); };
  for (int s = 0; s < kStores; ++s) {
    std::vector<Job> jobs;
    for (int p = 0; p < kProblems; ++p) {
      Job& j = jobs.emplace_back(job(fmt::format("{}-{}", s, p), rows_problem(1024, 8 * (1 + p + kProblems / 2 * s))));
      j.trials = {standard_trial(10'000)};
      while (j.trials.size() < kTrials)
        j.trials.push_back(trial(fmt::format("tile=32 stages={}", j.trials.size()), 9'000));
    }
    Records(RecordsOptions{store(s), ""}).absorb(jobs);
  }
  const double start = test::thread_seconds();
  Records merged(RecordsOptions{store(kStores), ""});
  int64_t trials = 0;
  for (int s = 0; s < kStores; ++s) trials += merged.merge(store(s) + "/tuner.db").trials;
  const double seconds = test::thread_seconds() - start;
  std::printf("%ld trials of %d stores merged in %.2f s\n", trials, kStores, seconds);
  RecordProperty("merge_s", std::to_string(seconds));
  EXPECT_EQ(trials, kStores * kProblems * kTrials);
  EXPECT_LT(seconds, 4 * test::sanitizer_share(20)) << "the promise is 1 s on an idle machine";
}

// ---- Text

TEST(Export, ImportAndExportAreByteIdentical) {
  Records first(in_memory()), second(in_memory());
  first.absorb(random_jobs(5));
  const std::string exported = first.export_text();
  second.import_text(exported);
  EXPECT_EQ(second.export_text(), exported);
  EXPECT_EQ(winners_text(second), winners_text(first));
}

TEST(Export, HasOneLinePerProblem) {
  Records records(in_memory());
  for (const int32_t rows : {1024, 2048, 4096})
    records.absorb({decided_job("a" + std::to_string(rows), rows_problem(rows), "tile=32 stages=2"),
                    decided_job("b" + std::to_string(rows), rows_problem(rows), "")});
  const std::string exported = records.export_text();
  EXPECT_EQ(std::count(exported.begin(), exported.end(), '\n'), 3 + 2);
}

TEST(Export, OfWinnersKeepsWhatDecided) {
  Records records(in_memory());
  Job old = decided_job("old", rows_problem(1024), "");
  old.updated_ms -= 1;
  records.absorb({old, decided_job("new", rows_problem(1024), "tile=32 stages=2")});
  const std::string seeds = records.export_text(ExportKind::winners);
  EXPECT_EQ(seeds.find("\"old\""), std::string::npos);
  EXPECT_EQ(seeds.find("slow"), std::string::npos);
  Records again(in_memory());
  again.import_text(seeds);
  EXPECT_EQ(winners_text(again), winners_text(records));
  EXPECT_EQ(again.export_text(ExportKind::winners), seeds);
}

TEST(Export, OfWinnersKeepsWhatAWinnerHasItsPlaceFrom) {
  Records records(in_memory());
  std::vector<Job> jobs;
  for (const char* uid : {"first", "second", "third", "fourth"}) {
    Job& j = jobs.emplace_back(job(uid, rows_problem(1024)));
    j.updated_ms += static_cast<int64_t>(jobs.size());
    const int64_t of_32 = jobs.size() == 2 ? 8'000 : 8'060;
    j.trials = {standard_trial(10'000), trial("tile=32 stages=2", of_32),
                trial("tile=64 stages=1", 8'120 - of_32 + 8'000)};
  }
  jobs.front().trials.pop_back();
  jobs.front().trials.back().config = "tile=16 stages=2";
  records.absorb(jobs);
  EXPECT_EQ(records.find(rows_problem(1024), kDevice)->trial.config, "tile=32 stages=2");
  const std::string seeds = records.export_text(ExportKind::winners);
  for (const char* uid : {"\"first\"", "\"third\""}) EXPECT_EQ(seeds.find(uid), std::string::npos) << uid;
  for (const char* uid : {"\"second\"", "\"fourth\""}) EXPECT_NE(seeds.find(uid), std::string::npos) << uid;
  Records again(in_memory());
  again.import_text(seeds);
  EXPECT_EQ(winners_text(again), winners_text(records));
  EXPECT_EQ(again.export_text(ExportKind::winners), seeds);
}

TEST(Export, OfNothingIsEmptyButValid) {
  Records records(in_memory());
  EXPECT_EQ(records.import_text(records.export_text()).jobs, 0);
}

TEST(Import, RefusesWhatIsNotAnExport) {
  Records records(in_memory());
  for (const char* text : {"", "{}", "[1]", "{\"format\":\"something\",\"version\":1,\"records\":[]}",
                           "{\"format\":\"hstujit records\",\"version\":2,\"records\":[]}",
                           "{\"format\":\"hstujit records\",\"version\":1,\"records\":[{\"problem\":7}]}"}) {
    try {
      records.import_text(text);
      FAIL() << text;
    } catch (const Error& e) { EXPECT_EQ(e.status(), HSTU_ERROR_STORE) << text; }
  }
  EXPECT_TRUE(records.jobs().empty());
}

// json::get would cast them: 1e65 is undefined behaviour then, and 2^40 registers are 0.
TEST(Import, RefusesNumbersThatAreNotWholeOrDoNotFit) {
  Records records(in_memory());
  records.absorb({decided_job("a", rows_problem(1024), "")});
  const std::string exported = records.export_text();
  for (const auto& [field, number] : {std::pair{"budget_ms", "1e65"},
                                      {"seed", "-1"},
                                      {"registers", "1099511627776"},
                                      {"samples", "2.5"},
                                      {"space", "true"}}) {
    const std::string damaged =
        test::replaced(exported, fmt::format("\"{}\":[0-9]+", field), fmt::format("\"{}\":{}", field, number));
    ASSERT_NE(damaged, exported) << field;
    try {
      Records(in_memory()).import_text(damaged);
      FAIL() << field;
    } catch (const Error& e) {
      EXPECT_EQ(e.status(), HSTU_ERROR_STORE);
      EXPECT_NE(e.message().find(field), std::string::npos) << e.message();
    }
  }
}

TEST(Import, LeavesOutProblemsItDoesNotKnowWithAWarning) {
  Records records(in_memory());
  records.absorb({decided_job("a", rows_problem(1024), ""), decided_job("b", rows_problem(2048), "")});
  std::string exported = records.export_text();
  const size_t at = exported.find("layer_norm ");
  exported.replace(at, 11, "hyper_norm ");
  test::CapturedLog log;
  Records other(in_memory());
  EXPECT_EQ(other.import_text(exported).jobs, 1);
  EXPECT_NE(log.str().find("hyper_norm"), std::string::npos);
}

// ---- Threads

TEST(Records, ManyThreadsSaveAndLookUp) {
  TempDir store;
  Records records(RecordsOptions{store.str(), ""});
  constexpr int kThreads = 4, kJobs = 2;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < kJobs; ++i) {
        const int id = t * kJobs + i;
        const Job j = decided_job("job" + std::to_string(id), rows_problem(1024, 8 * (id + 1)), "tile=32 stages=2");
        for (const Trial& trial : j.trials) records.save(j, trial);
        records.close(j);
        if (!records.find(j.problem, kDevice)) wrong.fetch_add(1);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_EQ(records.jobs().size(), size_t{kThreads * kJobs});
  EXPECT_EQ(records.winners()->size(), size_t{kThreads * kJobs});
}

}  // namespace
}  // namespace hstujit
