// Which variant runs: exact record, nearest record, default; and what makes a record unusable.
#include "records/choose.hpp"

#include "support/captured_log.hpp"
#include "support/error.hpp"
#include "tuner/fixtures.hpp"
#include "tuner/space.hpp"

#include <gtest/gtest.h>

namespace hstujit {
namespace {

using test::rows_problem;

const DeviceFacts kH200 = *facts_of_target("sm_90a");

class Choose : public testing::Test {
 protected:
  const Problem problem = rows_problem(4096);
  const Family& family = *families_for(problem, kH200).front();
  const Config standard = family.default_config(problem, kH200);
  const Config other = another();
  Records records{RecordsOptions{"", ""}};

  /// A configuration that is not the default, legal for every number of rows.
  Config another() const {
    const Space space = enumerate(family, problem, kH200);
    for (const Config& config : space.points())
      if (!(config == standard) && fits(family, rows_problem(1024), config, kH200)) return config;
    throw std::logic_error("the family has one configuration only");
  }

  void record(const Problem& p, const std::string& family_name, const std::string& config) {
    Job job = test::job("job" + std::to_string(records.jobs().size()), p);
    job.device_class = kH200.device_class();
    Trial slow = test::standard_trial(90'000), fast = test::trial(config, 5'000);
    slow.family = fast.family = family_name;
    job.trials = {slow, fast};
    records.absorb({job});
  }
  void record(const Problem& p, const Config& config) { record(p, std::string(family.name), text(family, config)); }

  Choice chosen(bool allow_nearest = true) const { return choose(records, problem, kH200, allow_nearest); }
};

TEST_F(Choose, TakesTheDefaultWhenNothingIsKnown) {
  const Choice choice = chosen();
  EXPECT_EQ(choice.family, &family);
  EXPECT_EQ(choice.config, standard);
  EXPECT_EQ(choice.from, Choice::From::standard);
}

TEST_F(Choose, TakesTheExactRecord) {
  record(problem, other);
  record(rows_problem(8192), standard);
  const Choice choice = chosen();
  EXPECT_EQ(choice.config, other);
  EXPECT_EQ(choice.from, Choice::From::record);
  EXPECT_EQ(choice.distance, 0);
}

TEST_F(Choose, TakesTheNearestOnlyIfAllowed) {
  record(rows_problem(1024), other);
  const Choice near = chosen(true);
  EXPECT_EQ(near.config, other);
  EXPECT_EQ(near.from, Choice::From::nearest);
  EXPECT_EQ(near.distance, 2);
  EXPECT_EQ(chosen(false).from, Choice::From::standard);
}

TEST_F(Choose, IgnoresRecordsOfOtherDevices) {
  record(problem, other);
  DeviceFacts h100 = kH200;
  h100.name = "NVIDIA H100 80GB HBM3";
  EXPECT_EQ(choose(records, problem, h100, true).from, Choice::From::standard);
}

TEST_F(Choose, PassesOverRecordsOfUnknownFamilies) {
  record(problem, "gone_sm70", "block=1");
  EXPECT_EQ(chosen().from, Choice::From::standard);
  record(rows_problem(1024), other);
  EXPECT_EQ(chosen().from, Choice::From::nearest);
}

TEST_F(Choose, PassesOverRecordsOfFamiliesOfOtherOperators) {
  record(problem, "norm_mul_sm80", text(family, other));
  EXPECT_EQ(chosen().from, Choice::From::standard);
}

TEST_F(Choose, PassesOverRecordsWithUnknownKnobs) {
  record(problem, std::string(family.name), text(family, other) + " flux=3");
  EXPECT_EQ(chosen().from, Choice::From::standard);
}

TEST_F(Choose, PassesOverIllegalConfigurations) {
  Config illegal = other;
  for (int32_t& value : illegal.value) value = 1 << 20;
  ASSERT_FALSE(fits(family, problem, illegal, kH200));
  record(problem, illegal);
  EXPECT_EQ(chosen().from, Choice::From::standard);
}

TEST_F(Choose, AMissingKnobTakesItsDefaultWithAWarning) {
  ASSERT_GE(family.knobs.size(), 2u);
  std::string config = text(family, standard);
  config = config.substr(0, config.rfind(' '));  // as recorded before the last knob existed
  record(problem, std::string(family.name), config);
  test::CapturedLog log;
  const Choice choice = chosen();
  EXPECT_EQ(choice.from, Choice::From::record);
  EXPECT_EQ(choice.config, standard);
  EXPECT_EQ(log.lines(), 1) << log.str();
  EXPECT_NE(log.str().find("lacks 1 of"), std::string::npos) << log.str();
}

TEST_F(Choose, AProblemThatNoFamilyTakesIsAnError) {
  DeviceFacts old = kH200;
  old.compute_capability = 70;
  try {
    choose(records, problem, old, true);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.status(), HSTU_ERROR_UNSUPPORTED);
    EXPECT_NE(e.message().find("layer_norm"), std::string::npos);
  }
}

TEST_F(Choose, PrintsItself) {
  EXPECT_EQ(text(chosen()), std::string(family.name) + " " + text(family, standard) + " (default)");
  record(rows_problem(1024), other);
  EXPECT_NE(text(chosen()).find("(nearest record, distance 2.0)"), std::string::npos);
  record(problem, other);
  EXPECT_NE(text(chosen()).find("(tuned record)"), std::string::npos);
}

}  // namespace
}  // namespace hstujit
