#include "gpu_record/merge.hpp"

#include "gpu_record/rooms.hpp"
#include "gpu_record/tree.hpp"
#include "support/error.hpp"

#include <algorithm>

namespace hstujit::gpu_record {
namespace {

using testing::Test;

Json report(const std::string& id, double value, const std::string& device = "NVIDIA H200") {
  Json report = {{"device", device}, {"driver", 13000}, {"nvrtc", "NVRTC 13.0"}};
  report["figures"] = {{{"id", id},
                        {"value", value},
                        {"unit", "GB/s"},
                        {"better", "higher"},
                        {"target", nullptr},
                        {"yardstick", "a copy"},
                        {"command", "hstu-tune bench w.json"},
                        {"families", {"softmax_sm80"}}}};
  return report;
}

Json listed_test(const std::string& name, const std::string& file) {
  return {{"name", name}, {"file", "/there/tests/kernels/" + file}};
}
Json ran(const std::string& name, const std::string& result = "COMPLETED") {
  return {{"name", name}, {"status", "RUN"}, {"result", result}};
}
Json failed(const std::string& name) {
  Json test = ran(name);
  test["failures"] = {{{"failure", "not equal"}}};
  return test;
}
Json suite(const std::string& name, const std::vector<Json>& tests) { return {{"name", name}, {"testsuite", tests}}; }
Json output(const std::vector<Json>& suites) { return {{"testsuites", suites}}; }

/// Three tests of norms, two of primitives; one suite has tests in both rooms.
TestList list() {
  return TestList(
      output({suite("Softmax", {listed_test("A", "norm/softmax_test.cpp"), listed_test("B", "norm/softmax_test.cpp")}),
              suite("Both", {listed_test("N", "norm/other_test.cpp"), listed_test("P", "prim_test.cpp")}),
              suite("Prim", {listed_test("A", "prim_test.cpp")})}));
}

const Taken kToday{"2026-11-27", "13000", {}};

class Merging : public Test {
 protected:
  Sources sources_{test::source_dir()};
  Record record_{"NVIDIA H200", {}, {}, {}};
};

TEST_F(Merging, PutsFiguresInThePlaceOfTheOlderOnes) {
  add_figures(record_, report("one", 1), "2026-11-26", sources_, {});
  add_figures(record_, report("two", 2), "2026-11-26", sources_, {});
  EXPECT_EQ(add_figures(record_, report("one", 3), "2026-11-27", sources_, {}), std::vector<std::string>{"one"});
  ASSERT_EQ(record_.figures.size(), 2u);
  const Figure& one = record_.figures[0];
  EXPECT_EQ(one.id, "one");
  EXPECT_EQ(one.value, 3);
  EXPECT_EQ(one.nvrtc, "NVRTC 13.0");
  EXPECT_EQ(one.taken.date, "2026-11-27");
  EXPECT_EQ(one.taken.driver, "13000");
  EXPECT_EQ(one.taken.digests, sources_.digests({"softmax_sm80"}));
  EXPECT_EQ(record_.figures[1].taken.date, "2026-11-26");
}

TEST_F(Merging, FiguresOfAnOlderGenerationsKernelsAreOfTheirGpu) {
  add_figures(record_, report("one", 1, "NVIDIA H200 as sm_80"), "2026-11-27", sources_, {});
  EXPECT_EQ(record_.figures.size(), 1u);
  EXPECT_THROW(add_figures(record_, report("one", 1, "NVIDIA A100 as sm_80"), "2026-11-27", sources_, {}), Error);
}

TEST_F(Merging, GivesFiguresOfLaunchingItsDigest) {
  Json measured = report("one", 1);
  measured["figures"][0]["of_launching"] = true;
  add_figures(record_, measured, "2026-11-26", sources_, {});
  EXPECT_TRUE(record_.figures[0].taken.digests.contains(std::string(kLaunching)));
}

TEST_F(Merging, KeepsWhatWasChosenForAPromisedFigure) {
  const PromisedFigure other{"other", "norm", {{"NVIDIA H200", "a"}}};
  const PromisedFigure one{"one", "norm", {{"NVIDIA H200", "b stages=2"}, {"NVIDIA A100", "c"}}};
  add_figures(record_, report("one", 1), "2026-11-26", sources_, {other, one});
  EXPECT_EQ(record_.figures[0].choice, "b stages=2");
}

TEST_F(Merging, RefusesFiguresOfOtherDevicesAndUnknownFamilies) {
  EXPECT_THROW(add_figures(record_, report("one", 1, "NVIDIA A100"), "2026-11-26", sources_, {}), Error);
  Json unknown = report("one", 1);
  unknown["figures"][0]["families"] = {"none_sm80"};
  EXPECT_THROW(add_figures(record_, unknown, "2026-11-26", sources_, {}), Error);
  EXPECT_TRUE(record_.figures.empty());
}

TEST_F(Merging, CountsTestsByRoomsOverShards) {
  const auto incomplete =
      add_tests(record_, "cuda", list(),
                {output({suite("Softmax", {ran("A")}), suite("Both", {ran("P", "SKIPPED")})}),
                 output({suite("Softmax", {failed("B")}), suite("Both", {ran("N")}), suite("Prim", {ran("A")})})},
                kToday, sources_);
  EXPECT_TRUE(incomplete.empty());
  ASSERT_EQ(record_.tests.size(), 2u);
  const TestCounts &norm = record_.tests[0], &prim = record_.tests[1];
  EXPECT_EQ(norm.room, "norm");
  EXPECT_EQ(norm.passed, 2);
  EXPECT_EQ(norm.failed, 1);
  EXPECT_EQ(prim.passed, 1);
  EXPECT_EQ(prim.skipped, 1);
  EXPECT_EQ(prim.taken.date, "2026-11-27");
  EXPECT_EQ(prim.taken.digests, sources_.digests(dependencies(sources_, "prim", "cuda")));
}

TEST_F(Merging, LeavesARoomAloneOfWhichAShardWasStopped) {
  const Json whole = output({suite("Softmax", {ran("A"), ran("B")}), suite("Both", {ran("N")})});
  add_tests(record_, "cuda", list(), {whole}, {"2026-11-26", "13000", {}}, sources_);
  const auto incomplete = add_tests(
      record_, "cuda", list(), {output({suite("Softmax", {ran("A")}), suite("Both", {ran("N")})})}, kToday, sources_);
  ASSERT_EQ(incomplete.size(), 1u);
  EXPECT_NE(incomplete[0].find("norm on cuda: 2 of 3 tests ran"), std::string::npos) << incomplete[0];
  ASSERT_EQ(record_.tests.size(), 1u);
  EXPECT_EQ(record_.tests[0].passed, 3);
  EXPECT_EQ(record_.tests[0].taken.date, "2026-11-26");
}

TEST_F(Merging, KeepsDevicesApart) {
  const Json whole = output({suite("Softmax", {ran("A"), ran("B")}), suite("Both", {ran("N")})});
  for (const char* device : {"cuda", "cuda@sm_80"}) add_tests(record_, device, list(), {whole}, kToday, sources_);
  ASSERT_EQ(record_.tests.size(), 2u);
  EXPECT_EQ(record_.tests[1].device, "cuda@sm_80");
}

TEST_F(Merging, RefusesResultsOfUnknownTests) {
  EXPECT_THROW(add_tests(record_, "cuda", list(), {output({suite("Other", {ran("A")})})}, kToday, sources_), Error);
}

TEST_F(Merging, NamesTheTestsOfRoomsForAFilter) {
  EXPECT_EQ(list().filter({"norm"}), "Softmax.*:Both.N");
  EXPECT_EQ(list().filter({"norm", "prim"}), "Softmax.*:Prim.*:Both.N:Both.P");
  EXPECT_EQ(list().filter({}), "*");
  EXPECT_THROW(list().filter({"nothing"}), Error);
}

TEST_F(Merging, AddsSanitizedRunsUpWhileTheSourcesHold) {
  const Tree tree;
  const Json tests = output({suite("Softmax", {ran("A"), ran("B", "SKIPPED")})});
  const Json counts = {{"norm", {{"problems", 1500}, {"kernels", 60}}}};
  const auto run = [&] {
    Sources sources(tree.path());
    add_sanitized(record_, "memcheck", list(), {tests}, {counts, counts}, kToday, sources);
  };
  run();
  run();
  ASSERT_EQ(record_.sanitized.size(), 1u);
  const SanitizedCounts& norm = record_.sanitized[0];
  EXPECT_EQ(norm.runs, 2);
  EXPECT_EQ(norm.tests, 2);
  EXPECT_EQ(norm.problems, 6000);
  EXPECT_EQ(norm.kernels, 240);
  tree.prepend("kernels/norm/softmax_sm80.cuh", "// A comment.\n");
  run();
  EXPECT_EQ(record_.sanitized[0].problems, 9000);
  tree.append("kernels/norm/softmax_sm80.cuh", "\nstruct Another {};\n");
  run();
  EXPECT_EQ(record_.sanitized[0].runs, 1);
  EXPECT_EQ(record_.sanitized[0].problems, 3000);
}

TEST_F(Merging, RefusesASanitizedRunThatFailed) {
  EXPECT_THROW(
      add_sanitized(record_, "memcheck", list(), {output({suite("Softmax", {failed("A")})})}, {}, kToday, sources_),
      Error);
}

TEST_F(Merging, KeepsWhatWasWritten) {
  const test::TempDir dir;
  const std::string path = dir.str() + "/" + file_name(record_.device);
  EXPECT_EQ(path, dir.str() + "/NVIDIA_H200.json");
  add_figures(record_, report("one", 0.1), "2026-11-26", sources_, {});
  record_.figures[0].target = 2.5;
  record_.figures[0].choice = "b stages=2";
  record_.tests.push_back({"cuda", "norm", 1, 2, 3, kToday});
  record_.sanitized.push_back({"memcheck", "norm", 1, 2, 3, 4, kToday});
  write_record(record_, path);
  std::string first, second;
  ASSERT_EQ(read_file(path, first), 0);
  write_record(read_record(path), path);
  ASSERT_EQ(read_file(path, second), 0);
  EXPECT_EQ(first, second);
  const Record again = read_record(path);
  EXPECT_EQ(again.figures[0].value, 0.1);
  EXPECT_EQ(again.figures[0].target, 2.5);
  EXPECT_EQ(again.figures[0].choice, "b stages=2");
  EXPECT_EQ(again.tests[0].skipped, 3);
  EXPECT_EQ(again.sanitized[0].kernels, 4);
}

TEST_F(Merging, SaysWhatIsWrongWithARecord) {
  const test::TempDir dir;
  const std::string path = dir.str() + "/r.json";
  EXPECT_THROW(read_record(path), Error);
  for (const char* text : {"{", "{\"format\": \"other\"}", "{\"format\": \"hstujit-gpu-record-2\"}"}) {
    ASSERT_EQ(publish_file(path, text), 0);
    try {
      read_record(path);
      ADD_FAILURE() << text;
    } catch (const Error& error) { EXPECT_NE(error.message().find(path), std::string::npos) << error.message(); }
  }
}

}  // namespace
}  // namespace hstujit::gpu_record
