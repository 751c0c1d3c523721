// The report: one file that needs nothing else and shows every candidate, the winner and its history.
#include "support/temp_dir.hpp"
#include "support/tool_process.hpp"
#include "tuner/fixtures.hpp"
#include "tuner/records.hpp"
#include "workload/calls.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace hstujit::test {
namespace {

class ToolReports : public testing::Test {
 protected:
  std::string at(const std::string& name) const { return dir_.str() + "/" + name; }
  /// The page of this store.
  std::string report(std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"report", at("report.html")});
    const Outcome outcome = hstu_tune(more, at("store"));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    std::ifstream in(at("report.html"));
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static size_t count(const std::string& text, const std::string& part) {
    size_t found = 0;
    for (size_t i = text.find(part); i != std::string::npos; i = text.find(part, i + 1)) ++found;
    return found;
  }
  TempDir dir_;
};

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_F(ToolReports, ShowsCandidatesWinnerDefaultAndHistory) {
  Job first = job("1", rows_problem(4096)), second = job("2", rows_problem(4096));
  first.evidence.driver = 12080;
  first.trials = {standard_trial(2'000'000), trial("tile=32 stages=2", 1'900'000)};
  second.updated_ms += 1000;
  second.trials = {standard_trial(2'000'000), trial("tile=32 stages=2", 1'000'000),
                   trial("tile=64 <&> \"x\"", 3'000'000)};
  Trial wrong = trial("tile=16 stages=3", 1);
  wrong.status = TrialStatus::wrong;
  second.trials.push_back(wrong);
  Records({at("store"), ""}).absorb({first, second});

  const std::string page = report();
  EXPECT_TRUE(contains(page, "layer_norm dtype=bf16")) << page;
  EXPECT_TRUE(contains(page, "2.00x")) << "the winner against the default";
  EXPECT_EQ(count(page, "<circle class=\"dot\""), 3u) << "candidates that ran";
  EXPECT_EQ(count(page, "<circle class=\"best\""), 1u);
  EXPECT_EQ(count(page, "<circle class=\"base\""), 1u);
  EXPECT_TRUE(contains(page, "3 complete, 1 wrong"));
  EXPECT_TRUE(contains(page, "12.8") && contains(page, "13.0")) << "history across drivers";
  EXPECT_TRUE(contains(page, "&lt;&amp;&gt; &quot;x&quot;"));
  EXPECT_FALSE(contains(page, "<&>"));
}

TEST_F(ToolReports, IsOneFileForPhonesAndPaper) {
  Job one = job("1", rows_problem(4096));
  one.trials = {standard_trial(1000)};
  Records({at("store"), ""}).absorb({one});
  const std::string page = report();
  EXPECT_TRUE(contains(page, "<meta name=\"viewport\""));
  EXPECT_TRUE(contains(page, "@media print"));
  for (const char* elsewhere : {"http:", "https:", "<script", "<link", "src=", "url("})
    EXPECT_FALSE(contains(page, elsewhere));
  for (const char* element : {"table", "svg", "section", "div", "body", "html"})
    EXPECT_EQ(count(page, std::string("<") + element + ">") + count(page, std::string("<") + element + " "),
              count(page, std::string("</") + element + ">"))
        << element << " elements end";
}

TEST_F(ToolReports, ComparesWithTheBoundOfKnownDevices) {
  std::ofstream(at("w.json")) << R"({"format": "hstujit-workload-1", "name": "norms", "operators": [
      {"op": "layer_norm", "rows": 1048576, "dim": 512}]})";
  const std::vector<Calls> calls = expand(read_workload(at("w.json")));
  Job one = job("1", needs(calls).front().problem);
  one.trials = {standard_trial(1'000'000)};  // 2 GiB read and written: 447 us on an H200
  Records({at("store"), ""}).absorb({one});
  EXPECT_TRUE(contains(report({"--workload", at("w.json")}), ">45 %<"));
  EXPECT_TRUE(contains(report({"--workload", at("w.json")}), "class=\"bound\" x1"));
  EXPECT_FALSE(contains(report(), "class=\"bound\" x1"));
}

TEST_F(ToolReports, OfNothingSaysSo) {
  EXPECT_TRUE(contains(report(), "Nothing is tuned yet"));
  EXPECT_EQ(hstu_tune({"report"}, at("store")).code, 2);
  EXPECT_EQ(hstu_tune({"report", at("report.html") + "/no"}, at("store")).code, 1);
}

}  // namespace
}  // namespace hstujit::test
