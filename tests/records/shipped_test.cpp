// Records that the library ships: how they rank, and whether those in tuner_db/ are sound.
#include "records/shipped.hpp"

#include "families/family.hpp"
#include "records/choose.hpp"
#include "records/records.hpp"
#include "records/records_text.hpp"
#include "support/embedded_text.hpp"
#include "support/source_dir.hpp"
#include "tuner/fixtures.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace hstujit::test {
namespace {

Job tuned(const std::string& uid, const Problem& problem, int64_t median_ns) {
  Job out = job(uid, problem);
  out.trials = {standard_trial(1000), trial("tile=32 stages=2", median_ns)};
  return out;
}

/// Two problems, and one of another device.
std::string shipped_text() {
  Job elsewhere = tuned("c", rows_problem(4096), 100);
  elsewhere.device_class = "NVIDIA A100 sm_80";
  return to_text({tuned("a", rows_problem(4096), 900), tuned("b", rows_problem(64), 800), elsewhere});
}

int64_t ns(const std::optional<Record>& record) { return record ? record->trial.timing.median_ns : -1; }

TEST(Shipped, AnswerByProblemAndDevice) {
  const std::string text = shipped_text();
  const ShippedRecords shipped({text});
  EXPECT_EQ(ns(shipped.find(rows_problem(4096), kDevice)), 900);
  EXPECT_EQ(ns(shipped.find(rows_problem(64), kDevice)), 800);
  EXPECT_EQ(ns(shipped.find(rows_problem(4096), "NVIDIA A100 sm_80")), 100);
  EXPECT_EQ(ns(shipped.find(rows_problem(128), kDevice)), -1);
  EXPECT_EQ(ns(shipped.find(rows_problem(64), "NVIDIA A100 sm_80")), -1);
  EXPECT_EQ(shipped.all().size(), 3u);
}

TEST(Shipped, AnyRecordOfAStoreComesFirst) {
  const std::string text = shipped_text();
  Records records({"", "", {}, {text}});
  EXPECT_EQ(ns(records.find(rows_problem(4096), kDevice)), 900);
  EXPECT_EQ(records.winners()->size(), 0u) << "they are nobody's measurements here";
  EXPECT_EQ(records.export_text(ExportKind::winners), to_text({}));
  EXPECT_EQ(records.nearest(rows_problem(128), kDevice)->record.trial.timing.median_ns, 800);
  records.absorb({tuned("d", rows_problem(4096), 950)});
  EXPECT_EQ(ns(records.find(rows_problem(4096), kDevice)), 950) << "measured here, even if slower there";
  const auto all = records.neighbours(rows_problem(4096), kDevice, 8);
  ASSERT_EQ(all.size(), 2u) << "each problem once";
  EXPECT_EQ(all[0].record.trial.timing.median_ns, 950);
  EXPECT_EQ(records.neighbours(rows_problem(4096), kDevice, 1).size(), 1u);
}

TEST(Shipped, TextsThatCannotBeReadAreLeftOut) {
  const ShippedRecords shipped({"no records", "", "{\"problem\":\"x\"}"});
  EXPECT_EQ(ns(shipped.find(rows_problem(64), kDevice)), -1);
  EXPECT_EQ(shipped.all().size(), 0u);
}

TEST(Shipped, TheRepositorysAreEmbeddedCanonicalAndLegal) {
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(source_dir() / "tuner_db")) {
    if (entry.path().extension() != ".json") continue;
    ASSERT_LT(files, embedded_records().size());
    ++files;
    std::ifstream in(entry.path());
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    EXPECT_EQ(to_text(jobs_of_text(text)), text) << entry.path() << ": write it with hstu-tune export";
    const ShippedRecords shipped({text});
    EXPECT_GT(shipped.all().size(), 0u) << entry.path();
    for (const Record& record : shipped.all().all()) {
      const std::string target = record.device_class.substr(record.device_class.rfind(' ') + 1);
      const auto facts = facts_of_target(target);
      ASSERT_TRUE(facts) << record.device_class;
      EXPECT_TRUE(resolve(record.trial, record.problem, *facts))
          << record.trial.family << ' ' << record.trial.config << " is no legal choice for "
          << hstujit::text(record.problem);
      EXPECT_EQ(ns(shipped.find(record.problem, record.device_class)), record.trial.timing.median_ns);
    }
  }
  EXPECT_EQ(files, embedded_records().size());
}

}  // namespace
}  // namespace hstujit::test
