// hstu-tune tune from start to end, on a driver whose layer norm works: records, resuming, Ctrl-C, and moving records.
#include "support/cpu_time.hpp"
#include "support/nvrtc.hpp"
#include "support/patterns.hpp"
#include "support/temp_dir.hpp"
#include "support/tool_process.hpp"
#include "tuner/recorded_text.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

namespace hstujit::test {
namespace {

class ToolTunes : public testing::Test {
 protected:
  void SetUp() override {
    HSTU_NEEDS_NVRTC();
    std::ofstream(workload_) << R"({"format": "hstujit-workload-1", "name": "norm", "operators": [
      {"op": "layer_norm", "rows": 60, "dim": 64, "name": "my norm"}]})";
  }

  std::vector<std::string> tune(const char* budget) { return {"tune", workload_, "--budget", budget}; }
  Outcome run(const std::vector<std::string>& arguments, const std::string& store = "store") {
    return hstu_tune(arguments, dir_.str() + "/" + store, driver_);
  }

  TempDir dir_;
  const std::string workload_ = dir_.str() + "/norm.json";
  const Variables driver_ = {{"HSTUJIT_LIBCUDA", norm_driver_path()}};
};

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_F(ToolTunes, KeepsAWinnerThatOtherStoresCanImport) {
  const Outcome tuned = run(tune(sanitizer_share(10) > 1 ? "60" : "5"));
  ASSERT_EQ(tuned.code, 0) << tuned.err;
  EXPECT_TRUE(contains(tuned.out, "2.00x")) << "anything but the default is faster on this driver\n" << tuned.out;
  const std::string progress =
      R"(\d+ %  my norm: \d+/\d+( finals)?, \d+\.\d/s, cores \d+ %, GPU \d+ %, (best .+|no time yet), \d+ s left)";
  EXPECT_TRUE(has_match(tuned.err, progress)) << tuned.err;
  EXPECT_FALSE(contains(tuned.err, "\r")) << "in plain lines, as this is no terminal\n" << tuned.err;
  EXPECT_TRUE(contains(run({"show", "--records"}).out, "NVIDIA H200 sm_90a"));

  const std::string file = dir_.str() + "/winners.json";
  ASSERT_EQ(run({"export", file}).code, 0);
  ASSERT_EQ(run({"import", file}, "other").code, 0);
  const Outcome again = run({"export", "-"}, "other");
  EXPECT_TRUE(contains(again.out, "layer_norm_sm80")) << again.out;
  EXPECT_EQ(again.out, run({"export", "-"}).out);
  const Outcome warm = run({"warm", workload_}, "other");
  EXPECT_TRUE(contains(warm.out, "(tuned record)")) << "the record decides what is compiled\n" << warm.out;
}

TEST_F(ToolTunes, DrawsABarOnATerminal) {
  Variables variables = driver_;
  variables["HSTUJIT_STORE"] = dir_.str() + "/store";
  const Outcome tuned =
      run_program({"script", "-qec", "stty cols 200; " + hstu_tune_path() + " tune " + workload_ + " --budget 2",
                   dir_.str() + "/typescript"},
                  variables);
  if (tuned.code == 127) GTEST_SKIP() << "util-linux's script, which makes a terminal, is not installed";
  EXPECT_EQ(tuned.code, 0) << tuned.out << tuned.err;
  EXPECT_TRUE(contains(tuned.out, "\r[")) << "a bar that is redrawn\n" << tuned.out;
  EXPECT_TRUE(contains(tuned.out, "] my norm: ")) << tuned.out;
  EXPECT_TRUE(contains(tuned.out, " s left\033[K")) << tuned.out;
}

TEST_F(ToolTunes, WritesTheSpacesThatItMeasuredCompletely) {
  const std::string folder = dir_.str() + "/spaces";
  const auto tune_into = [&](const char* budget) {
    std::vector<std::string> arguments = tune(budget);
    arguments.insert(arguments.end(), {"--record-spaces", folder});
    return run(arguments);
  };
  const Outcome cut = tune_into("0");
  EXPECT_EQ(cut.code, 1) << cut.out;
  EXPECT_TRUE(contains(cut.err, "1 spaces were not measured completely")) << cut.err;
  EXPECT_FALSE(std::filesystem::exists(folder));
  const Outcome whole = tune_into("600");  // it ends when all are measured, under a sanitizer after two minutes
  ASSERT_EQ(whole.code, 0) << whole.err << whole.out;
  const std::filesystem::directory_iterator files(folder);
  ASSERT_NE(files, std::filesystem::directory_iterator());
  std::ifstream in(files->path(), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  const NamedSpace space = space_of_bytes(bytes);
  EXPECT_TRUE(contains(space.source, "layer_norm_sm80 for layer_norm dtype=")) << space.source;
  EXPECT_GT(space.recorded.space.size(), 3u);
  EXPECT_LT(space.recorded.best(), *space.recorded.seconds[0]) << "anything but the default is faster on this driver";
  EXPECT_TRUE(contains(space.clock, "NVRTC")) << space.clock;
  ASSERT_EQ(space.recorded.trials.size(), space.recorded.space.size());
  for (const TrialSeconds& trial : space.recorded.trials) {
    EXPECT_GT(trial.compiling.value_or(0), 0);
    EXPECT_GT(trial.measuring.value_or(0), 0);
  }
}

TEST_F(ToolTunes, NeverCallsOutOfTimeASuccess) {
  const auto until = [&](const char* share, const char* budget) {
    std::vector<std::string> arguments = tune(budget);
    arguments.insert(arguments.end(), {"--again", "--until", share});
    return run(arguments);
  };
  const Outcome cut = until("0.001%", "0");
  EXPECT_EQ(cut.code, 1) << cut.out;
  EXPECT_TRUE(contains(cut.out, "out of time")) << cut.out;
  EXPECT_TRUE(contains(cut.out, " % more expected")) << cut.out;
  EXPECT_TRUE(contains(cut.err, "1 of 1 problems ran out of time")) << cut.err;
  const Outcome settled = until("90%", "600");
  EXPECT_EQ(settled.code, 0) << settled.err;
  EXPECT_TRUE(contains(settled.out, "settled")) << settled.out;
  for (const char* wrong : {"-1%", "x", "1%%", "101"}) {
    const Outcome refused = until(wrong, "1");
    EXPECT_EQ(refused.code, 2) << wrong;
    EXPECT_TRUE(contains(refused.out + refused.err, "use a share from 0 to 1, or per cent")) << refused.err;
  }
}

TEST_F(ToolTunes, MergesTheDatabaseOfAnotherStore) {
  ASSERT_EQ(run(tune("1")).code, 0);
  const Outcome merged = run({"import", dir_.str() + "/store/tuner.db"}, "other");
  EXPECT_EQ(merged.code, 0) << merged.err;
  EXPECT_TRUE(contains(merged.out, "1 jobs and ")) << merged.out;
  EXPECT_TRUE(contains(merged.out, "1 tuned problems")) << merged.out;
}

TEST_F(ToolTunes, KeepsWhatWasMeasuredBeforeCtrlC) {
  ToolProcess tool(tune("300"), dir_.str() + "/store", driver_);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!contains(run({"export", "--all", "-"}).out, "threads=")) {  // a trial is on disk
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  tool.signal(SIGINT);
  const Outcome interrupted = tool.wait();
  EXPECT_EQ(interrupted.code, 1);
  EXPECT_TRUE(contains(interrupted.err, "interrupted; what was measured is kept")) << interrupted.err;
  const Outcome resumed = run(tune("1"));
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_TRUE(contains(resumed.out, " known")) << resumed.out;
}

TEST_F(ToolTunes, SaysSoWhenRecordsAreNotKept) {
  std::vector<std::string> command = tune("1");
  command.insert(command.end(), {"--store", ""});
  const Outcome tuned = run(command);
  EXPECT_EQ(tuned.code, 0) << tuned.err;
  EXPECT_TRUE(contains(tuned.out, "records in memory only")) << tuned.out;
}

}  // namespace
}  // namespace hstujit::test
