#include "gpu_record/stale.hpp"

#include "gpu_record/jobs.hpp"
#include "gpu_record/page.hpp"
#include "gpu_record/rooms.hpp"
#include "gpu_record/tree.hpp"
#include "support/error.hpp"

#include <algorithm>

namespace hstujit::gpu_record {
namespace {

using Names = std::set<std::string>;

Figure figure(Sources& sources, const std::string& id, const Names& needed,
              const std::string& command = std::string(kBench)) {
  Figure f;
  f.id = id;
  f.value = 99;
  f.unit = "%";
  f.higher_is_better = true;
  f.command = command;
  f.taken = {"2026-11-26", "13000", sources.digests(needed)};
  return f;
}

/// A record whose every test was taken on the tree as it is, with a few figures.
Record record_of(const Tree& tree) {
  Sources sources(tree.path());
  Record record{"NVIDIA H200", {}, {}, {}};
  record.figures = {figure(sources, "softmax", {"softmax_sm80"}), figure(sources, "product", {"addmm_sm90"}),
                    figure(sources, "warm_call", {"addmm_sm90", std::string(kLaunching)}),
                    figure(sources, "stack_pass", {"softmax_sm80", "addmm_sm90"}, "hstu-tune run w.json")};
  for (const std::string_view device : kTestDevices)
    for (const std::string& room : rooms(sources))
      record.tests.push_back({std::string(device),
                              room,
                              3,
                              0,
                              1,
                              {"2026-11-26", "13000", sources.digests(dependencies(sources, room, device))}});
  return record;
}

Stale stale_now(const Record& record, const Tree& tree, const std::vector<PromisedFigure>& promised = {}) {
  Sources sources(tree.path());
  return stale_in(record, sources, promised);
}
Names figures(const Stale& stale) {
  Names ids;
  for (const auto& [figure, why] : stale.figures) ids.insert(figure.id);
  return ids;
}
Names tests(const Stale& stale) {
  Names names;
  for (const auto& [tests, why] : stale.tests) names.insert(tests.room + " on " + tests.device);
  return names;
}

class StaleRecord : public testing::Test {
 protected:
  const Tree tree_;
  Record record_ = record_of(tree_);
};

TEST_F(StaleRecord, IsNoneWhereNothingChanged) {
  const Stale stale = stale_now(record_, tree_);
  EXPECT_TRUE(stale.empty());
  EXPECT_EQ(text(stale, "NVIDIA_H200.json"), "");
}

TEST_F(StaleRecord, IsProvenByAnyRecordThatTookItAgain) {
  tree_.append("kernels/norm/softmax_sm80.cuh", "\nstruct Another {};\n");
  const Record again = record_of(tree_);
  Record some{"NVIDIA H100", {again.figures.front()}, {}, {}};  // of softmax
  for (const TestCounts& tests : again.tests)
    if (tests.room == "norm") some.tests.push_back(tests);
  Sources sources(tree_.path());
  const std::vector<PromisedFigure> promised = {{"softmax", "norm"}, {"product", "dense"}, {"unheard_of", "norm"}};
  EXPECT_EQ(figures(unproven({record_}, sources, promised)), (Names{"softmax", "stack_pass", "unheard_of"}));
  const Stale left = unproven({record_, some}, sources, promised);
  EXPECT_EQ(figures(left), (Names{"stack_pass", "unheard_of"}));
  EXPECT_FALSE(tests(left).contains("norm on cuda"));
  EXPECT_TRUE(tests(left).contains("large on cuda"));
  EXPECT_FALSE(tests(left).contains("dense on cuda"));
  const Stale none = unproven({record_, again}, sources, {{"softmax", "norm"}});
  EXPECT_TRUE(none.empty());
}

TEST_F(StaleRecord, HasTheFiguresAndRoomsOfAChangedKernelAlone) {
  tree_.append("kernels/norm/softmax_sm80.cuh", "\nstruct Another {};\n");
  const Stale stale = stale_now(record_, tree_);
  EXPECT_EQ(figures(stale), (Names{"softmax", "stack_pass"}));
  const Names touched = tests(stale);
  for (const char* room : {"norm", "candidates", "goldens_on_device", "large"}) {
    EXPECT_TRUE(touched.contains(std::string(room) + " on cuda")) << room;
    EXPECT_TRUE(touched.contains(std::string(room) + " on cuda@sm_80")) << room;
  }
  for (const char* room : {"attention", "dense", "fp8", "jagged", "position", "prim", "layer_stages", "tile_counter"})
    EXPECT_FALSE(touched.contains(std::string(room) + " on cuda")) << room;
}

TEST_F(StaleRecord, LeavesTheOlderGenerationOutOfAKernelOfTheNewer) {
  tree_.append("kernels/dense/norm_addmm_sm90.cuh", "\nstruct Another {};\n");
  const Names touched = tests(stale_now(record_, tree_));
  EXPECT_TRUE(touched.contains("dense on cuda"));
  EXPECT_FALSE(touched.contains("dense on cuda@sm_80"));
}

TEST_F(StaleRecord, HasWhatIsAboutLaunchingWhenThatChanges) {
  tree_.append("src/launch/module.cpp", "\nint another;\n");
  const Stale stale = stale_now(record_, tree_);
  EXPECT_EQ(figures(stale), Names{"warm_call"});
  EXPECT_TRUE(tests(stale).contains("launch_board on cuda"));
  EXPECT_FALSE(tests(stale).contains("norm on cuda"));
}

TEST_F(StaleRecord, IsNoneForACommentAndALineBreak) {
  tree_.prepend("kernels/norm/softmax_sm80.cuh", "// Another word.\n\n");
  tree_.append("src/launch/module.cpp", "\n\n/* and\n another */\n");
  EXPECT_TRUE(stale_now(record_, tree_).empty());
}

TEST_F(StaleRecord, NamesTheReasonAndTheCommandThatTakesJustThat) {
  tree_.append("kernels/norm/softmax_sm80.cuh", "\nstruct Another {};\n");
  const std::string said = text(stale_now(record_, tree_), "NVIDIA_H200.json");
  EXPECT_NE(said.find("softmax_sm80 changed:\n    2 figures: softmax stack_pass\n"), std::string::npos) << said;
  EXPECT_NE(said.find("norm on cuda, "), std::string::npos) << said;
  EXPECT_NE(said.find("\n  tools/record_gpu.sh --stale\n"), std::string::npos) << said;
}

TEST_F(StaleRecord, HasWhatWasNeverTakenAndWhatFailed) {
  std::erase_if(record_.tests, [](const TestCounts& tests) { return tests.room == "prim"; });
  for (TestCounts& tests : record_.tests) tests.failed = tests.room == "jagged" ? 2 : 0;
  const Stale stale = stale_now(record_, tree_, {{"softmax", "norm"}, {"new_one", "norm"}});
  EXPECT_EQ(figures(stale), Names{"new_one"});
  EXPECT_EQ(tests(stale), (Names{"prim on cuda", "prim on cuda@sm_80", "jagged on cuda", "jagged on cuda@sm_80"}));
  const std::string said = text(stale, "r.json");
  EXPECT_NE(said.find("never taken:\n    1 figures: new_one\n    tests: prim on cuda, "), std::string::npos) << said;
  EXPECT_NE(said.find("2 tests failed:\n    tests: jagged on cuda"), std::string::npos) << said;
}

TEST_F(StaleRecord, HasFiguresForWhichAnotherConfigurationIsChosen) {
  record_.figures[0].choice = "softmax_sm80 rows=1";
  const auto stale_where = [&](const std::string& device, const std::string& choice) {
    return stale_now(record_, tree_, {{"softmax", "norm", {{device, choice}}}});
  };
  EXPECT_TRUE(stale_where("NVIDIA H200", "softmax_sm80 rows=1").empty());
  EXPECT_TRUE(stale_where("NVIDIA A100", "softmax_sm80 rows=2").empty());
  const Stale stale = stale_where("NVIDIA H200", "softmax_sm80 rows=2");
  EXPECT_EQ(figures(stale), Names{"softmax"});
  EXPECT_NE(text(stale, "r.json").find("another configuration is chosen:\n    1 figures: softmax\n"),
            std::string::npos);
}

TEST_F(StaleRecord, HasARoomThatHasComeToRunAnotherOperator) {
  tree_.append("tests/kernels/position/position_sweep_test.cpp", "\n// hstu_softmax_args\n");
  const std::string said = text(stale_now(record_, tree_), "r.json");
  EXPECT_NE(said.find("softmax_sm80 came:\n    tests: position on cuda, position on cuda@sm_80\n"), std::string::npos)
      << said;
}

TEST_F(StaleRecord, CountsSanitizedRunsAnewWithoutFailing) {
  Sources sources(tree_.path());
  record_.sanitized = {{"memcheck",
                        "norm",
                        1,
                        9,
                        2000,
                        100,
                        {"2026-11-26", "13000", sources.digests(dependencies(sources, "norm", "cuda"))}}};
  tree_.append("kernels/norm/softmax_sm80.cuh", "\nstruct Another {};\n");
  Stale stale = stale_now(record_, tree_);
  ASSERT_EQ(stale.sanitized.size(), 1u);
  stale.figures.clear();
  stale.tests.clear();
  EXPECT_TRUE(stale.empty());
  EXPECT_NE(text(stale, "r.json").find("memcheck of norm counts anew"), std::string::npos);
}

TEST_F(StaleRecord, IsMarkedOnThePage) {
  tree_.append("kernels/norm/softmax_sm80.cuh", "\nstruct Another {};\n");
  const std::string marked = page(record_, stale_now(record_, tree_));
  EXPECT_NE(marked.find("| `softmax` | 99.00 % |  | behind *stale* | 2026-11-26 |"), std::string::npos) << marked;
  EXPECT_NE(marked.find("| `product` | 99.00 % |  | behind | 2026-11-26 |"), std::string::npos) << marked;
  EXPECT_NE(marked.find("| norm | `cuda` | 3 | 0 | 1 | 2026-11-26 | *stale* |"), std::string::npos) << marked;
  EXPECT_NE(marked.find("2 figures, tests of "), std::string::npos) << marked;
}

TEST_F(StaleRecord, BecomesJobsCommandByCommandAndRoomByRoom) {
  tree_.append("kernels/norm/softmax_sm80.cuh", "\nstruct Another {};\n");
  const std::vector<PromisedFigure> promised{{"softmax", "norm"}, {"new_one", "norm"}};
  const std::vector<Job> jobs = stale_jobs(stale_now(record_, tree_, promised), Sources(tree_.path()), promised);
  ASSERT_GE(jobs.size(), 3u);
  EXPECT_EQ(jobs[0], (Job{Job::Kind::figures, std::string(kBench), {"softmax", "new_one"}}));
  EXPECT_EQ(jobs[1], (Job{Job::Kind::figures, "hstu-tune run w.json", {}}));
  EXPECT_NE(std::ranges::find(jobs, Job{Job::Kind::tests, "cuda@sm_80", {"norm"}}), jobs.end());
  EXPECT_EQ(std::ranges::find(jobs, Job{Job::Kind::tests, "cuda", {"dense"}}), jobs.end());
  EXPECT_EQ(text({jobs[0], {Job::Kind::tests, "cuda", {"norm"}}}),
            "figures\thstu-tune bench tools/workloads/figures.json\tsoftmax,new_one\ntests\tcuda\tnorm\n");
}

TEST_F(StaleRecord, OrAnyOtherCanBeTakenByRooms) {
  const Sources sources(tree_.path());
  const std::vector<Job> jobs =
      jobs_of_rooms({"dense", "prim", "prim_fp8", "stack"}, record_, sources, {{"new_one", "dense"}});
  EXPECT_EQ(jobs, (std::vector<Job>{{Job::Kind::figures, std::string(kBench), {"product", "new_one"}},
                                    {Job::Kind::figures, "hstu-tune run w.json", {}},
                                    {Job::Kind::tests, "cuda", {"dense"}},
                                    {Job::Kind::tests, "cuda@sm_80", {"dense"}},
                                    {Job::Kind::tests, "cuda", {"prim", "prim_fp8"}},
                                    {Job::Kind::tests, "cuda@sm_80", {"prim", "prim_fp8"}}}));
  EXPECT_THROW(jobs_of_rooms({"dense", "nothing"}, record_, sources, {}), Error);
}

TEST(Jobs, OfAWholeRecordTakeEveryRoomAndEveryPromisedFigure) {
  const Sources sources(test::source_dir());
  std::set<std::pair<std::string, std::string>> tests;
  for (const Job& job : all_jobs(sources))
    if (job.kind == Job::Kind::tests)
      for (const std::string& room : job.names) tests.emplace(job.what, room);
  EXPECT_NE(all_jobs(sources).back().what.find("--arch"), std::string::npos) << "it needs no GPU";
  EXPECT_EQ(tests.size(), std::size(kTestDevices) * rooms(sources).size());
  const std::vector<PromisedFigure> promised = promised_figures(sources);
  const auto softmax = std::ranges::find(promised, "softmax_524288x512_of_copy", &PromisedFigure::id);
  ASSERT_NE(softmax, promised.end());
  EXPECT_EQ(softmax->room, "norm");
  EXPECT_EQ(softmax->choice_on("NVIDIA H200").find("softmax_sm80 "), 0u) << softmax->choice_on("NVIDIA H200");
  EXPECT_EQ(softmax->choice_on("a device of no known name"), "");
  const auto older = std::ranges::find(promised, "attention_sm80_32x4096x4x128", &PromisedFigure::id);
  ASSERT_NE(older, promised.end());
  EXPECT_EQ(older->choice_on("NVIDIA H200").find("attn_fwd_sm80 "), 0u) << older->choice_on("NVIDIA H200");
}

}  // namespace
}  // namespace hstujit::gpu_record
