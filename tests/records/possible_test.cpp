// Numbers that no measurement can have are refused wherever they come from: an exported text, a database, a timer.
#include "records/possible.hpp"

#include "records/decide.hpp"
#include "records/records.hpp"
#include "records/records_text.hpp"
#include "records/winners.hpp"
#include "support/error.hpp"
#include "tuner/fixtures.hpp"
#include "tuner/trial_run.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace hstujit {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();

Job decided_job() {
  Job job = test::job("one", test::rows_problem(4096));
  job.trials = {test::standard_trial(9'000), test::trial("tile=32 stages=2", 8'000)};
  return job;
}

/// What importing the job's export says when `from` in it is replaced; "" when it is taken.
std::string objection(const std::string& from, const std::string& to) {
  std::string text = to_text({decided_job()});
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  Records records(RecordsOptions{"", ""});
  try {
    records.import_text(text);
    EXPECT_FALSE(records.export_text().empty());
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), HSTU_ERROR_STORE);
    EXPECT_EQ(records.winners()->size(), 0u);
    return error.message();
  }
}

TEST(Possible, AnImportNamesTheNumberThatCannotBe) {
  EXPECT_EQ(objection("\"samples\":30", "\"samples\":31"), "");
  for (const auto& [from, to] :
       {std::pair("\"median_ns\":9000", "\"median_ns\":-1"), std::pair("\"median_ns\":9000", "\"median_ns\":0"),
        std::pair("\"median_ns\":8000", "\"median_ns\":9223372036854775807"),
        std::pair("\"mad_ns\":9", "\"mad_ns\":-9"), std::pair("\"p20_ns\":8982", "\"p20_ns\":-1"),
        std::pair("\"p80_ns\":9018", "\"p80_ns\":-9223372036854775808"), std::pair("\"samples\":30", "\"samples\":0"),
        std::pair("\"sm_mhz\":0", "\"sm_mhz\":-1"), std::pair("\"registers\":64", "\"registers\":-64"),
        std::pair("\"smem_bytes\":1024", "\"smem_bytes\":-1024"), std::pair("\"spill_bytes\":0", "\"spill_bytes\":-4"),
        std::pair("\"at_ms\":1800000000000", "\"at_ms\":-1"), std::pair("\"driver\":13000", "\"driver\":-13000"),
        std::pair("\"budget_ms\":30000", "\"budget_ms\":-1"),
        std::pair("\"started_ms\":1800000000000", "\"started_ms\":-9223372036854775808"),
        std::pair("\"updated_ms\":1800000001000", "\"updated_ms\":9223372036854775807")}) {
    const std::string name = std::string(to).substr(1, std::string(to).find('"', 1) - 1);
    EXPECT_NE(objection(from, to).find(name), std::string::npos) << to << ": " << objection(from, to);
  }
  EXPECT_NE(objection("\"median_ns\":9000", "\"median_ns\":1e3"), "");
  EXPECT_NE(objection("\"uid\":\"one\"", "\"uid\":\"o\\u0000e\"").find("uid"), std::string::npos);
}

TEST(Possible, AFailedTrialNeedsNoTime) {
  Trial failed = test::trial("tile=64 stages=1", 0);
  failed.status = TrialStatus::failed;
  failed.timing = {};
  EXPECT_EQ(impossible(failed), "");
  failed.status = TrialStatus::slow;
  EXPECT_NE(impossible(failed), "");
}

TEST(Possible, WhatCannotBeDecidesNothing) {
  for (const int64_t wrong : {int64_t{-1}, int64_t{0}, std::numeric_limits<int64_t>::min()}) {
    Job job = decided_job();
    job.trials.push_back(test::trial("tile=64 stages=1", wrong));
    const auto record = decide(job);
    ASSERT_TRUE(record);
    EXPECT_EQ(record->trial.timing.median_ns, 8'000);
    job.trials = {test::standard_trial(wrong), test::trial("tile=32 stages=2", 8'000)};
    EXPECT_FALSE(decide(job));
  }
}

TEST(Possible, ACopyOfWinnersWithSuchANumberIsRefused) {
  Record record;
  record.problem = test::rows_problem(4096);
  record.device_class = test::kDevice;
  record.trial = test::trial("tile=32", 900);
  const auto taken = [](const Record& r) {
    Winners winners;
    winners.add(r);
    return Winners::of_bytes(winners.bytes()).has_value();
  };
  EXPECT_TRUE(taken(record));
  for (const auto& spoil :
       {+[](Record& r) { r.trial.timing.median_ns = -1; }, +[](Record& r) { r.standard_ns = -1; },
        +[](Record& r) { r.problem[layer_norm::kRows] = 3; },  // no bucket
        +[](Record& r) { r.problem[30] = 1; }, +[](Record& r) { r.problem[layer_norm::kDtype] = 99; },
        +[](Record& r) { r.trial.status = static_cast<TrialStatus>(77); }}) {
    Record spoilt = record;
    spoil(spoilt);
    EXPECT_FALSE(taken(spoilt));
  }
}

/// Its n-th repetition, from 0, takes what it is told.
class WrongBench : public Bench {
 public:
  WrongBench(size_t n, double seconds) : n_(n), seconds_(seconds) {}
  Verdict verify(const Candidate&) override { return {true, ""}; }
  Sample measure(const Candidate&, int repetitions) override {
    Sample sample;
    for (int i = 0; i < repetitions; ++i) sample.seconds.push_back(count_++ == n_ ? seconds_ : 1e-5);
    return sample;
  }
  bool alive() override { return true; }

 private:
  size_t count_ = 0, n_;
  double seconds_;
};

TEST(Possible, ATrialWhoseTimerGoesWrongFails) {
  for (const double wrong : {-1e-6, 0.0, kNan, kInf, -kInf, 1e6})
    for (const size_t n : {size_t{0}, size_t{2}}) {
      WrongBench bench(n, wrong);
      Trial trial = test::trial("tile=32", 1);
      const std::string why = run_trial(bench, {}, 0, trial);
      EXPECT_EQ(trial.status, TrialStatus::failed) << wrong;
      EXPECT_NE(why.find("timer"), std::string::npos) << why;
      EXPECT_EQ(impossible(trial), "");
    }
  WrongBench right(1000, 0);
  Trial trial = test::trial("tile=32", 1);
  EXPECT_EQ(run_trial(right, {}, 0, trial), "");
  EXPECT_EQ(trial.status, TrialStatus::ok);
}

}  // namespace
}  // namespace hstujit
