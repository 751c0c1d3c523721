// tools/record_gpu.sh with programs that stand in for those that need a GPU.
#include "families/family.hpp"
#include "gpu_record/jobs.hpp"
#include "gpu_record/rooms.hpp"
#include "gpu_record/tree.hpp"
#include "support/tool_process.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace hstujit::gpu_record {
namespace {

namespace fs = std::filesystem;

const std::string kStaleFigure = "softmax_524288x512_of_copy";  // a figure of the room norm

class RecordScript : public testing::Test {
 protected:
  RecordScript() {
    fs::create_directories(out());
    // Others that the project has would be copied there, and may have what this one lacks.
    for (const auto& entry : fs::directory_iterator(test::source_dir() / "tests/gpu_record"))
      if (entry.path().extension() == ".json")
        write_record({entry.path().stem().string(), {}, {}, {}}, out() / entry.path().filename());
    program("gpu-record", fmt::format("exec {} --device 'NVIDIA H200' --driver 13000 \"$@\"",
                                      (fs::read_symlink("/proc/self/exe").parent_path() / "gpu-record").string()));
    // What it is asked, and one figure for every report.
    program("hstu-tune", fmt::format(R"(echo "$*" >> {}/asked
[ "$1" = bench ] || exit 0
echo '{{"device": "NVIDIA H200", "driver": 13000, "nvrtc": "NVRTC 13.0", "figures": [{{"id": "{}", "value": 2,
  "unit": "%", "better": "higher", "target": null, "yardstick": "", "command": "{}", "families": ["softmax_sm80"]}}]}}' \
  > "${{@: -1}}")",
                                     dir_.str(), kStaleFigure, kBench));
    // Two tests of one room; the second shard is stopped while there is a file "stopped".
    program("kernels_test", fmt::format(R"(for argument; do case $argument in
  --gtest_output=json:*) output=${{argument#*json:}} ;;
  --gtest_list_tests) list=1 ;;
  --gtest_filter=*) echo "tests ${{argument#*=}} on $HSTUJIT_TEST_DEVICE" >> {0}/asked ;;
esac; done
one='"name": "A", "status": "RUN", "result": "COMPLETED", "file": "tests/kernels/section_order_test.cpp"'
[ -z "$list" ] && [ "$GTEST_SHARD_INDEX" != 0 ] && {{
  [ ! -e {0}/stopped ] || exit 9
  echo '{{"testsuites": []}}' > "$output"
  exit 77
}}
tests="{{$one}}, {{${{one/A/B}}}}"
[ -n "$list" ] || [ ! -e {0}/stopped ] || tests="{{$one}}"
echo '{{"testsuites": [{{"name": "Order", "testsuite": ['"$tests"']}}]}}' > "$output")",
                                        dir_.str()));
  }

  fs::path out() const { return dir_.path() / "out"; }
  std::string record_path() const { return out() / "NVIDIA_H200.json"; }
  void program(const std::string& name, const std::string& text) {
    const fs::path path = dir_.path() / name;
    ASSERT_EQ(publish_file(path, "#!/bin/bash\n" + text + "\n"), 0);
    fs::permissions(path, fs::perms::owner_exec, fs::perm_options::add);
  }

  /// Has all that there is, and nothing of it is stale, but for the figure and for tests of one room on one device.
  void write_record_that_lacks_little() {
    Sources sources(test::source_dir());
    Record record{"NVIDIA H200", {}, {}, {}};
    for (const PromisedFigure& promised : promised_figures(sources)) {
      Figure figure;
      figure.id = promised.id;
      figure.command = kBench;
      const auto family = std::ranges::find(all_families(), promised.room, &Family::room);
      figure.taken.digests = sources.digests({std::string((*family)->name)});
      if (figure.id == kStaleFigure) figure.taken.digests = {{"softmax_sm80", "another"}};
      record.figures.push_back(figure);
    }
    for (const std::string_view device : kTestDevices)
      for (const std::string& room : rooms(sources))
        if (room != "section_order" || device != "cuda")
          record.tests.push_back(
              {std::string(device), room, 1, 0, 0, {"", "", sources.digests(dependencies(sources, room, device))}});
    write_record(record, record_path());
  }

  test::Outcome run(const std::vector<std::string>& options) {
    std::vector<std::string> command = {
        "bash", test::source_dir() / "tools/record_gpu.sh", "--bin", dir_.str(), "--out", out()};
    command.insert(command.end(), options.begin(), options.end());
    return test::run_program(command);
  }
  std::string asked() {
    std::string text;
    read_file(dir_.str() + "/asked", text);
    fs::remove(dir_.path() / "asked");
    return text;
  }

  const test::TempDir dir_;
};

TEST_F(RecordScript, TakesWhatIsStaleAndNothingElse) {
  write_record_that_lacks_little();
  const test::Outcome outcome = run({"--stale"});
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  const std::string text = asked();
  EXPECT_NE(text.find(fmt::format("bench tools/workloads/figures.json --figures {} --json", kStaleFigure)),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("run "), std::string::npos) << text;
  EXPECT_NE(text.find("tests Order.* on cuda\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("cuda@sm_80"), std::string::npos) << text;
  const Record record = read_record(record_path());
  const auto figure = std::ranges::find(record.figures, kStaleFigure, &Figure::id);
  EXPECT_EQ(figure->value, 2);
  const TestCounts wanted{"cuda", "section_order", 0, 0, 0, {}};
  const auto tests = std::ranges::find_if(record.tests, [&](const TestCounts& t) { return t.is(wanted); });
  ASSERT_NE(tests, record.tests.end());
  EXPECT_EQ(tests->passed, 2);
  EXPECT_TRUE(fs::exists(out() / "NVIDIA_H200.md"));

  EXPECT_EQ(run({"--stale"}).code, 0);
  EXPECT_EQ(asked(), "") << "nothing is stale any more";
}

TEST_F(RecordScript, KeepsWhatWasCompleteAndGoesOnFromThere) {
  write_record_that_lacks_little();
  std::string text;
  ASSERT_EQ(publish_file(dir_.str() + "/stopped", ""), 0);
  const test::Outcome stopped = run({"--stale"});
  EXPECT_EQ(stopped.code, 1);
  EXPECT_NE(stopped.err.find("section_order on cuda: 1 of 2 tests ran"), std::string::npos) << stopped.err;
  EXPECT_NE(stopped.out.find("tools/record_gpu.sh --stale"), std::string::npos) << stopped.out;
  asked();
  fs::remove(dir_.path() / "stopped");
  EXPECT_EQ(run({"--stale"}).code, 0);
  text = asked();
  EXPECT_EQ(text.find("bench"), std::string::npos) << "the figure was taken: " << text;
  EXPECT_NE(text.find("tests Order.* on cuda\n"), std::string::npos) << text;
}

TEST_F(RecordScript, TakesRoomsThatAreNamed) {
  write_record_that_lacks_little();
  const test::Outcome outcome = run({"--only", "section_order", "position", "--list"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("tests\tcuda\tposition\n"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("tests\tcuda@sm_80\tsection_order\n"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("add_positional_embeddings_"), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.out.find("softmax"), std::string::npos) << outcome.out;
  EXPECT_EQ(asked(), "");
  EXPECT_EQ(run({"--only", "nothing"}).code, 1);
  EXPECT_EQ(run({"--everything"}).code, 2);
}

}  // namespace
}  // namespace hstujit::gpu_record
