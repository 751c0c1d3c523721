// The report: one file that needs nothing else and shows every candidate, the winner and its history.
#include "records/records.hpp"
#include "support/temp_dir.hpp"
#include "support/tool_process.hpp"
#include "tuner/fixtures.hpp"
#include "workload/calls.hpp"

#include <fmt/format.h>
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

TEST_F(ToolReports, SaysWhereAnFp8ProductIsSlowerThanTheSameIn16Bits) {
  const auto product = [](int n) {
    return parse_problem(fmt::format("fp8_gemm dtype=bf16 dtype_a=e4m3 dtype_b=e4m3 n={} k=256 scaling_a=1 scaling_b=1 "
                                     "bias=0 bias_dtype=none activation=0 act_columns=0 vector_a=16 vector_b=16 "
                                     "vector_out=8 fast=0 split=0 m=8192",
                                     n))
        .value();
  };
  const auto wide = [](int n) {
    return parse_problem(fmt::format("addmm dtype=bf16 n={} k=256 bias=0 bias_dtype=none activation=0 act_columns=0 "
                                     "x_transposed=0 weight_transposed=1 vector_x=8 vector_w=8 vector_z=8 gather_y=0 "
                                     "allow_tf32=0 split=0 m=8192",
                                     n))
        .value();
  };
  Job slow = job("1", product(1024)), faster = job("2", wide(1024)), fast = job("3", product(2048)),
      slower = job("4", wide(2048)), alone = job("5", product(512));
  slow.trials = {standard_trial(14'000)};
  faster.trials = {standard_trial(12'500)};
  fast.trials = {standard_trial(20'000)};
  slower.trials = {standard_trial(30'000)};
  alone.trials = {standard_trial(99'000)};
  Records({at("store"), ""}).absorb({slow, faster, fast, slower, alone});
  const std::string advice = "bf16 would be faster: addmm takes 12.5 us";
  EXPECT_EQ(count(report(), "would be faster"), 1u);
  EXPECT_TRUE(contains(report(), advice)) << report();
  const Outcome show = hstu_tune({"show", "--records"}, at("store"));
  EXPECT_TRUE(contains(show.out, advice)) << show.out;
  EXPECT_EQ(count(show.out, "would be faster"), 1u) << show.out;
}

TEST_F(ToolReports, OfNothingSaysSo) {
  EXPECT_TRUE(contains(report(), "Nothing is tuned yet"));
  EXPECT_EQ(hstu_tune({"report"}, at("store")).code, 2);
  EXPECT_EQ(hstu_tune({"report", at("report.html") + "/no"}, at("store")).code, 1);
}

}  // namespace
}  // namespace hstujit::test
