// hstu-tune as a process where it compiles and runs without a GPU: warm, show, run, verify, bench.
#include "support/json.hpp"
#include "support/nvrtc.hpp"
#include "support/source_dir.hpp"
#include "support/temp_dir.hpp"
#include "support/tool_process.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace hstujit::test {
namespace {

class ToolCompiles : public testing::Test {
 protected:
  Outcome run(const std::vector<std::string>& arguments, const Variables& more = {}) {
    return hstu_tune(arguments, store_.str() + "/store", more);
  }

  std::string file(const std::string& name, const std::string& text) {
    std::string path = store_.str() + "/" + name;
    std::ofstream(path) << text;
    return path;
  }

  std::string norms() {
    return file("norms.json", R"({"format": "hstujit-workload-1", "name": "norms", "operators": [
      {"op": "layer_norm", "rows": 1000, "dim": 64}, {"op": "layer_norm", "rows": 900, "dim": 64}]})");
  }

  std::string layer() {
    return file("layer.json", R"({"format": "hstujit-workload-1", "name": "small",
      "sequences": {"batch": 2, "history": 9, "targets": 3},
      "stack": {"layers": 1, "embedding_dim": 32, "num_heads": 1, "attn_dim": 32, "hidden_dim": 32}})");
  }

  TempDir store_;
};

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_F(ToolCompiles, WarmFillsTheStoreForEveryTarget) {
  HSTU_NEEDS_NVRTC();
  const Outcome first = run({"warm", norms(), "--arch", "sm_80,sm_90a"});
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_TRUE(contains(first.out, "norms: 2 compiled, 0 from the store")) << first.out;
  const Outcome second = run({"warm", norms(), "--arch", "sm_80,sm_90a"});
  EXPECT_TRUE(contains(second.out, "norms: 0 compiled, 2 from the store")) << second.out;

  const Outcome show = run({"show", "--kernels"});
  EXPECT_TRUE(contains(show.out, "layer_norm_sm80 sm_90a")) << show.out;
  EXPECT_TRUE(contains(show.out, "NVRTC")) << show.out;
  EXPECT_FALSE(contains(run({"show", "--kernels", "sm_90a"}).out, "layer_norm_sm80 sm_80"));
  EXPECT_TRUE(contains(run({"show", "--log", "sm_90a"}).out, "==== layer_norm_sm80 sm_90a"));
}

TEST_F(ToolCompiles, WarmCompilesWholeSpacesAndEachKernelOnce) {
  HSTU_NEEDS_NVRTC();
  const std::string sums = file("sums.json", R"({"format": "hstujit-workload-1", "name": "sums", "operators": [
      {"op": "complete_cumsum", "tensors": {
        "values": {"dtype": "i32", "shape": [500]}, "out": {"dtype": "i32", "shape": [501]}}},
      {"op": "complete_cumsum", "tensors": {
        "values": {"dtype": "i32", "shape": [900]}, "out": {"dtype": "i32", "shape": [901]}}}]})");
  const Outcome first = run({"warm", sums, "--spaces", "--arch", "sm_80"});
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_TRUE(contains(first.out, "complete_cumsum_sm80               6        6         0")) << first.out;
  EXPECT_TRUE(contains(first.out, "complete_cumsum_sm80               6        0         0")) << first.out;
  EXPECT_TRUE(contains(first.out, "sums: 6 compiled, 0 from the store")) << first.out;
  const Outcome second = run({"warm", sums, "--spaces", "--wide", "--arch", "sm_80"});
  EXPECT_TRUE(contains(second.out, "sums: 0 compiled, 6 from the store")) << second.out;
  EXPECT_EQ(run({"warm", sums, "--wide", "--arch", "sm_80"}).code, 2);
}

TEST_F(ToolCompiles, WarmBeginsWithWhatTakesLongestAndEndsWithKernelsThatOthersHave) {
  const std::string tensors = R"("max_seq_len": 64, "tensors": {"seq_offsets": {"offsets": {"batch": 2, "lengths": 64}},
      "q": [128, 1, 64], "k": [128, 1, 64], "v": [128, 1, 64], "out": [128, 1, 64]}})";
  const std::string mixed = file("mixed.json", R"({"format": "hstujit-workload-1", "name": "mixed", "operators": [
      {"op": "layer_norm", "name": "norm", "rows": 9, "dim": 64},
      {"op": "layer_norm", "name": "norm of more", "rows": 90000, "dim": 64},
      {"op": "attention", "name": "plain", )" + tensors +
                                                   R"(,
      {"op": "attention", "name": "window", "max_attn_len": 16, )" +
                                                   tensors + "]}");
  const Outcome outcome =
      run({"warm", mixed, "--arch", "sm_90a"}, {{"HSTUJIT_LIBNVRTC", fake_nvrtc_path()}, {"HSTUJIT_LOG", "debug"}});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::string begin = "in turn: ";
  std::vector<std::string> order;
  std::istringstream log(outcome.err);
  for (std::string line; std::getline(log, line);)
    if (const size_t at = line.find(begin); at != std::string::npos) order.push_back(line.substr(at + begin.size()));
  EXPECT_EQ(order, (std::vector<std::string>{"window for sm_90a", "plain for sm_90a", "norm for sm_90a",
                                             "norm of more for sm_90a"}))
      << outcome.err;
}

TEST_F(ToolCompiles, TheLogSaysWhatIsCompiled) {
  HSTU_NEEDS_NVRTC();
  const Outcome quiet = run({"warm", norms(), "--arch", "sm_80"});
  EXPECT_EQ(quiet.err, "");
  const Outcome logged = run({"warm", norms(), "--arch", "sm_90a"}, {{"HSTUJIT_LOG", "info"}});
  EXPECT_EQ(logged.code, 0);
  EXPECT_TRUE(contains(logged.err, "layer_norm_sm80 sm_90a")) << logged.err;
  EXPECT_TRUE(contains(logged.err, "miss, compiled in")) << logged.err;
}

TEST_F(ToolCompiles, AnUnknownLogLevelIsNamed) {
  const Outcome outcome = run({"warm", norms(), "--arch", "sm_80"}, {{"HSTUJIT_LOG", "loud"}});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(contains(outcome.err, "HSTUJIT_LOG = loud")) << outcome.err;
}

TEST_F(ToolCompiles, ShowSkipsDamagedKernels) {
  HSTU_NEEDS_NVRTC();
  ASSERT_EQ(run({"warm", norms(), "--arch", "sm_80"}).code, 0);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(store_.path()))
    if (entry.path().extension() == ".kernel") std::filesystem::resize_file(entry.path(), 100);
  const Outcome show = run({"show", "--kernels"});
  EXPECT_EQ(show.code, 0);
  EXPECT_TRUE(contains(show.out, "none; hstu-tune warm")) << show.out;
}

TEST_F(ToolCompiles, WarmRefusesUnknownTargets) {
  const Outcome outcome = run({"warm", norms(), "--arch", "sm_80,sm_12"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome.err, "sm_12: known targets are")) << outcome.err;
}

TEST_F(ToolCompiles, WarmWithoutADeviceOrTargetSaysWhatIsMissing) {
  const Outcome outcome = run({"warm", norms()});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(contains(outcome.err, "/nowhere/libcuda.so.1")) << outcome.err;
}

TEST_F(ToolCompiles, WarmFailsWhereNothingCanCompile) {
  const Outcome outcome = run({"warm", norms(), "--arch", "sm_80"}, {{"HSTUJIT_LIBNVRTC", "/nowhere/libnvrtc.so"}});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(contains(outcome.err, "/nowhere/libnvrtc.so")) << outcome.err;
}

TEST_F(ToolCompiles, BadWorkloadsAreBadUsage) {
  const std::string bad = file("bad.json", R"({"format": "hstujit-workload-1", "name": "x", "stak": {}})");
  for (const char* command : {"warm", "tune", "run", "bench"}) {
    const Outcome outcome = run({command, bad});
    EXPECT_EQ(outcome.code, 2) << command;
    EXPECT_TRUE(contains(outcome.err, "bad.json: /stak: unknown")) << outcome.err;
  }
}

TEST_F(ToolCompiles, TuneNeedsAGpu) {
  const Outcome none = run({"tune", norms()});
  EXPECT_EQ(none.code, 1);
  EXPECT_TRUE(contains(none.err, "/nowhere/libcuda.so.1")) << none.err;
  EXPECT_EQ(run({"tune", norms(), "--device", "cpu"}).code, 2);
}

TEST_F(ToolCompiles, RunTunesAnewOnAGpuAlone) {
  const Outcome none = run({"run", layer(), "--retune"});
  EXPECT_EQ(none.code, 1);
  EXPECT_TRUE(contains(none.err, "/nowhere/libcuda.so.1")) << none.err;
}

TEST_F(ToolCompiles, RunWithoutAGpuCompilesAndChecksASmallLayer) {
  HSTU_NEEDS_NVRTC();
  const std::string json = store_.str() + "/run.json";
  const Outcome outcome = run({"run", layer(), "--json", json});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "no GPU")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "small: 10 compiled, 0 from the store")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "check passed")) << outcome.out;
  EXPECT_EQ(Json::parse(std::ifstream(json)).at("check").at("passed"), true);
}

TEST_F(ToolCompiles, RunFailsWhenAKernelDoesNotCompile) {
  HSTU_NEEDS_NVRTC();
  const std::string kernels = store_.str() + "/kernels";
  std::filesystem::copy(source_dir() / "kernels", kernels, std::filesystem::copy_options::recursive);
  std::ofstream(kernels + "/norm/layer_norm_sm80.cuh", std::ios::app) << "\nthis is no C++\n";
  const Outcome outcome = run({"run", layer()}, {{"HSTUJIT_KERNELS", kernels}});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(contains(outcome.err, "layer_norm_sm80")) << outcome.err;
}

TEST_F(ToolCompiles, BenchWithoutAGpuTimesColdCompiles) {
  HSTU_NEEDS_NVRTC();
  const std::string json = store_.str() + "/bench.json";
  const Outcome outcome = run({"bench", norms(), "--arch", "sm_80", "--json", json});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto report = Json::parse(std::ifstream(json));
  ASSERT_EQ(report.at("cold_compiles").size(), 1u);
  EXPECT_GT(report.at("cold_compiles")[0].at("ms"), 1.0);
  EXPECT_EQ(report.at("figures")[0].at("id"), "cold_compile_max");
  EXPECT_EQ(report.at("figures")[0].at("better"), "lower");
}

TEST_F(ToolCompiles, BenchNamesTheFiguresThatADeviceLacks) {
  HSTU_NEEDS_NVRTC();
  const std::string workload = file("gated.json", R"({"format": "hstujit-workload-1", "name": "gated", "operators": [
    {"op": "layer_norm", "rows": 1000, "dim": 64},
    {"op": "gated_addmm", "name": "gated, 64 rows",
     "tensors": {"attn": [64, 64], "u": [64, 64], "moments": {"shape": [64, 1, 2], "dtype": "f32"}, "weight": [64],
                 "bias": [64], "w": [192, 64], "residual": [64, 64], "out": [64, 64]},
     "figure": {"id": "gated_64", "rate": "tflops"}}]})");
  const std::string said = "left out, for sm_80 lacks the operator: gated, 64 rows\n";
  const Outcome outcome = run({"bench", workload, "--arch", "sm_80"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, said)) << outcome.out;
  EXPECT_FALSE(contains(run({"bench", norms(), "--arch", "sm_80"}).out, "left out"));
}

// ---- verify

class ToolVerifies : public ToolCompiles {
 protected:
  std::filesystem::path golden(const char* name) { return source_dir() / "tests/golden/data" / name; }

  std::string goldens(const std::vector<const char*>& names) {
    const std::filesystem::path folder = store_.path() / "goldens";
    for (const char* name : names) {
      std::filesystem::create_directories((folder / name).parent_path());
      std::filesystem::copy_file(golden(name), folder / name);
    }
    return folder.string();
  }
};

/// A copy of a file with every `from` replaced by `to`, of the same length.
void write_renamed(const std::string& path, const std::string& from, const std::string& to, const std::string& copy) {
  std::ifstream in(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), {});
  for (size_t at = bytes.find(from); at != std::string::npos; at = bytes.find(from, at))
    bytes.replace(at, from.size(), to);
  std::ofstream(copy, std::ios::binary) << bytes;
}

TEST_F(ToolVerifies, PassesAndSkipsALinePerCase) {
  const std::string folder = goldens({"addmm/one_row.safetensors", "addmm/bias1d_bf16.safetensors"});
  write_renamed(folder + "/addmm/one_row.safetensors", "addmm", "adder", folder + "/unknown.safetensors");
  const Outcome outcome = run({"verify", "--goldens", folder, "--device", "cpu"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "passed   addmm/one_row")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "skipped  adder/")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "2 passed, 0 failed, 1 skipped")) << outcome.out;
}

TEST_F(ToolVerifies, FailsOnADamagedExpectation) {
  const std::string folder = goldens({"addmm/one_row.safetensors"});
  const std::string path = folder + "/addmm/one_row.safetensors";
  {
    std::fstream damaged(path, std::ios::in | std::ios::out | std::ios::binary);
    damaged.seekp(-3, std::ios::end);  // the expectation stands last
    damaged.write("\x7f\x7f\x7f", 3);
  }
  const Outcome outcome = run({"verify", "--goldens", folder});
  EXPECT_EQ(outcome.code, 1) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "FAILED   addmm/one_row")) << outcome.out;
}

TEST_F(ToolVerifies, RefusesAFolderThatIsNotThere) {
  EXPECT_EQ(run({"verify", "--goldens", store_.str() + "/absent"}).code, 2);
}

TEST_F(ToolVerifies, FailsOnAFolderWithoutCases) { EXPECT_EQ(run({"verify", "--goldens", store_.str()}).code, 1); }

}  // namespace
}  // namespace hstujit::test
