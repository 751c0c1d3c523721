// What hstu-tune was asked to print, write or keep: it does, or says so and ends with another code than 0.
#include "support/files.hpp"
#include "support/nvrtc.hpp"
#include "support/temp_dir.hpp"
#include "support/tool_process.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

namespace hstujit::test {
namespace {

namespace fs = std::filesystem;

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

class ToolOutputs : public testing::Test {
 protected:
  std::string at(const std::string& name) const { return dir_.str() + "/" + name; }
  std::string text_of(const std::string& name) const {
    std::string text;
    EXPECT_EQ(read_file(at(name), text), 0) << name;
    return text;
  }
  std::string norms() const {
    EXPECT_EQ(publish_file(at("norms.json"), R"({"format": "hstujit-workload-1", "name": "norms", "operators": [
      {"op": "layer_norm", "rows": 60, "dim": 64}]})"),
              0);
    return at("norms.json");
  }

  Outcome run(const std::vector<std::string>& arguments) const { return hstu_tune(arguments, at("store")); }
  /// By a shell, in whose `script` "$@" is the command.
  Outcome run_by(const std::string& script, const std::vector<std::string>& arguments) const {
    std::vector<std::string> command = {"sh", "-c", script, "sh", hstu_tune_path()};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return run_program(command, {{"HSTUJIT_STORE", at("store")},
                                 {"HSTUJIT_LIBCUDA", "/nowhere/libcuda.so.1"},
                                 {"HSTUJIT_LIBNVRTC", "/nowhere/libnvrtc.so"}});
  }

  TempDir dir_;
};

// ---- Standard output

TEST_F(ToolOutputs, EveryCommandTellsWhenItsOutputIsFull) {
  ASSERT_EQ(run({"export", at("records.json")}).code, 0);
  const std::vector<std::vector<std::string>> commands = {{"--help"},
                                                          {"--version"},
                                                          {"doctor"},
                                                          {"ops"},
                                                          {"show"},
                                                          {"export", "-"},
                                                          {"export", at("a")},
                                                          {"report", at("b")},
                                                          {"import", at("records.json")},
                                                          {"merge", at("store")}};
  for (const std::vector<std::string>& command : commands) {
    const Outcome outcome = run_by("exec \"$@\" > /dev/full", command);
    EXPECT_EQ(outcome.code, 1) << command[0];
    EXPECT_TRUE(contains(outcome.err, "standard output was not written completely")) << command[0] << outcome.err;
    if (command[0].starts_with("--")) continue;  // what flushes every line keeps no reason
    EXPECT_TRUE(contains(outcome.err, "No space left on device")) << command[0] << ": " << outcome.err;
  }
}

TEST_F(ToolOutputs, AClosedPipeIsAnErrorAndNoSignal) {
  // The reader is gone before anything is written.
  const Outcome outcome =
      run_by("exec 3>&2; { sleep 0.3; \"$@\" 2>&3; echo \"code $?\" >&3; } | true; sleep 0.6", {"ops"});
  EXPECT_TRUE(contains(outcome.err, "Broken pipe")) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "code 1")) << outcome.err;
}

TEST_F(ToolOutputs, WhatIsPrintedNeverLandsInAFileThatTookTheClosedOutputsPlace) {
  const Outcome outcome = run_by("exec \"$@\" >&- <&-", {"doctor"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(contains(outcome.err, "Bad file descriptor")) << outcome.err;
  EXPECT_EQ(run({"show", "--records"}).code, 0);
}

TEST_F(ToolOutputs, WorkGoesOnWhenNobodyHearsItsComplaints) {
  HSTU_NEEDS_NVRTC();
  // A space of few kernels, whose progress is drawn.
  ASSERT_EQ(publish_file(at("sums.json"), R"({"format": "hstujit-workload-1", "name": "sums", "operators": [
      {"op": "complete_cumsum", "tensors": {
        "values": {"dtype": "i32", "shape": [500]}, "out": {"dtype": "i32", "shape": [501]}}}]})"),
            0);
  const Outcome outcome = run_program({"sh", "-c", "exec \"$0\" \"$@\" 2> /dev/full", hstu_tune_path(), "warm",
                                       at("sums.json"), "--arch", "sm_80", "--spaces"},
                                      {{"HSTUJIT_STORE", at("store")}});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_TRUE(contains(outcome.out, " compiled, 0 from the store")) << outcome.out;
}

// ---- Files that were named

TEST_F(ToolOutputs, DevicesAndLinksStayWhatTheyAre) {
  fs::create_directory(at("dev"));
  fs::create_symlink("/dev/null", at("dev/null"));
  fs::create_symlink("/proc/self/fd/1", at("dev/stdout"));
  fs::create_symlink("../target", at("dev/link"));
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{{"export"}, {"report"}}) {
    for (const std::string node : {"null", "stdout", "link"}) {
      std::vector<std::string> arguments = command;
      arguments.push_back(at("dev/" + node));
      const Outcome outcome = run(arguments);
      EXPECT_EQ(outcome.code, 0) << command[0] << " to " << node << ": " << outcome.err;
      EXPECT_TRUE(fs::is_symlink(at("dev/" + node))) << command[0] << " to " << node;
      const std::string printed = command[0] == "export" ? "{" : "<html";
      EXPECT_EQ(contains(outcome.out, printed), node == "stdout") << outcome.out;
    }
    EXPECT_GT(text_of("target").size(), 0u);
    fs::remove(at("target"));
  }
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_EQ(std::distance(fs::directory_iterator(at("dev")), fs::directory_iterator()), 3);
}

TEST_F(ToolOutputs, PacksAndResultsAreWrittenThroughLinksToo) {
  HSTU_NEEDS_NVRTC();
  for (const char* name : {"pack", "results"}) fs::create_symlink(std::string("the ") + name, at(name));
  ASSERT_EQ(run({"build", "--workload", norms(), "--arch", "sm_80", "-o", at("pack")}).code, 0);
  ASSERT_EQ(run({"bench", norms(), "--arch", "sm_80", "--json", at("results")}).code, 0);
  for (const char* name : {"pack", "results"}) {
    EXPECT_TRUE(fs::is_symlink(at(name)));
    EXPECT_GT(fs::file_size(at(std::string("the ") + name)), 0u);
  }
  EXPECT_EQ(run({"pack", "list", at("pack")}).code, 0);
}

TEST_F(ToolOutputs, AFileThatMayNotGrowIsAnErrorAndNoSignal) {
  const Outcome outcome = run_by("ulimit -f 1; exec \"$@\"", {"report", at("page.html")});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(contains(outcome.err, "page.html: cannot be written: File too large")) << outcome.err;
  EXPECT_FALSE(fs::exists(at("page.html")));
}

// ---- The store

TEST_F(ToolOutputs, WarmTellsWhenTheStoreCannotBeWritten) {
  HSTU_NEEDS_NVRTC();
  ASSERT_EQ(publish_file(at("file"), "no folder"), 0);
  const Outcome outcome = run({"warm", norms(), "--arch", "sm_80", "--store", at("file/store")});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(contains(outcome.err, "1 kernels and 0 records were not kept in the store: " + at("file/store")))
      << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "Not a directory")) << outcome.err;
  EXPECT_EQ(run({"warm", norms(), "--arch", "sm_80", "--store", ""}).code, 0) << "nothing was to be kept";
}

TEST_F(ToolOutputs, TuneTellsWhenTheStoreCannotBeWritten) {
  HSTU_NEEDS_NVRTC();
  ASSERT_EQ(publish_file(at("file"), "no folder"), 0);
  const Outcome outcome = hstu_tune({"tune", norms(), "--budget", "1", "--store", at("file/store")}, "",
                                    {{"HSTUJIT_LIBCUDA", norm_driver_path()}});
  EXPECT_EQ(outcome.code, 1) << outcome.out;
  EXPECT_TRUE(contains(outcome.err, " records were not kept in the store: " + at("file/store"))) << outcome.err;
  EXPECT_FALSE(contains(outcome.err, " and 0 records")) << outcome.err;
}

TEST_F(ToolOutputs, TakingOverTellsWhenTheStoreCannotBeWritten) {
  ASSERT_EQ(publish_file(at("file"), "no folder"), 0);
  ASSERT_EQ(run({"export", at("records.json")}).code, 0);
  const std::string unit(32, 'a');
  ASSERT_EQ(publish_file(at("store/kernels/aa/" + unit + "-0123456789abcdef.kernel"), "a kernel"), 0);
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"import", at("records.json")}, {"merge", at("store")}}) {
    std::vector<std::string> arguments = command;
    arguments.insert(arguments.end(), {"--store", at("file/store")});
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, 1) << command[0];
    EXPECT_FALSE(outcome.err.empty()) << command[0];
  }
}

}  // namespace
}  // namespace hstujit::test
