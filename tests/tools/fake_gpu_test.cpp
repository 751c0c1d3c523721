// hstu-tune's ways through a GPU, on the fake driver: its kernels write nothing, so what depends on results must fail,
// and say so.
#include "support/json.hpp"
#include "support/nvrtc.hpp"
#include "support/source_dir.hpp"
#include "support/temp_dir.hpp"
#include "support/tool_process.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace hstujit::test {
namespace {

class ToolOnFakeGpu : public testing::Test {
 protected:
  void SetUp() override { HSTU_NEEDS_NVRTC(); }

  Outcome run(const std::vector<std::string>& arguments) {
    return hstu_tune(arguments, dir_.str() + "/store", {{"HSTUJIT_LIBCUDA", fake_driver_path()}});
  }

  std::string norm() {
    const std::string path = dir_.str() + "/norm.json";
    std::ofstream(path) << R"({"format": "hstujit-workload-1", "name": "norm", "operators": [
      {"op": "layer_norm", "rows": 1000, "dim": 64}]})";
    return path;
  }

  std::string layer() {
    const std::string path = dir_.str() + "/layer.json";
    std::ofstream(path) << R"({"format": "hstujit-workload-1", "name": "small",
      "sequences": {"batch": 2, "history": 9, "targets": 3},
      "stack": {"layers": 1, "embedding_dim": 32, "num_heads": 1, "attn_dim": 32, "hidden_dim": 32}})";
    return path;
  }

  TempDir dir_;
};

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_F(ToolOnFakeGpu, WarmCompilesForTheDevice) {
  const Outcome outcome = run({"warm", norm()});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "norm: 1 compiled, 0 from the store")) << outcome.out;
}

TEST_F(ToolOnFakeGpu, AGenerationOfKernelsCanBeChosen) {
  for (const auto& [device, family] : {std::pair{"cuda", "attn_fwd_sm90"}, {"cuda:0@sm_80", "attn_fwd_sm80"}}) {
    const Outcome outcome = run({"warm", layer(), "--device", device});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_TRUE(contains(outcome.out, family)) << device << outcome.out;
    EXPECT_EQ(contains(outcome.out, "_sm90"), std::string(device) == "cuda") << outcome.out;
  }
  const Outcome outcome = run({"run", layer(), "--device", "cuda@sm_80", "--budget", "1"});
  EXPECT_TRUE(contains(outcome.out, "small on NVIDIA H200 as sm_80 (sm_90a)")) << outcome.out << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "figure small_on_sm_80_pass: ")) << outcome.out;
  const Outcome other = run({"run", layer(), "--device", "cuda@sm_70"});
  EXPECT_EQ(other.code, 2) << other.out;
  EXPECT_TRUE(contains(other.err, "cuda@sm_70")) << other.err;
}

TEST_F(ToolOnFakeGpu, TuneRefusesAKernelThatWritesNothing) {
  const Outcome outcome = run({"tune", norm(), "--budget", "1"});
  EXPECT_EQ(outcome.code, 1) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "norm: 1 problems on NVIDIA H200 (sm_90a), at most 1 s")) << outcome.out;
  EXPECT_TRUE(contains(outcome.err, "layer_norm 1000 x 64: layer_norm_sm80")) << outcome.err;
  EXPECT_TRUE(contains(run({"show", "--records"}).out, "none")) << "a failed problem gets no record";
}

TEST_F(ToolOnFakeGpu, RunFailsItsCheck) {
  const Outcome outcome = run({"run", layer(), "--budget", "1"});
  EXPECT_EQ(outcome.code, 1) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "check FAILED")) << outcome.out << outcome.err;
}

// The time to the first result has a name for what had to be done before. (No kernel stands tuning's check here.)
TEST_F(ToolOnFakeGpu, RunSaysWhatTheFirstResultTook) {
  for (const char* const name : {"small_first_result_empty_store", "small_first_result_filled_store"}) {
    const Outcome outcome = run({"run", layer(), "--budget", "1"});
    EXPECT_TRUE(contains(outcome.out, name)) << outcome.out << outcome.err;
  }
}

TEST_F(ToolOnFakeGpu, VerifyFails) {
  const Outcome outcome =
      run({"verify", "--goldens", (source_dir() / "tests/golden/data/addmm").string(), "--device", "cuda:0"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(contains(outcome.out, "0 passed, 4 failed, 0 skipped")) << outcome.out;
}

// Ranges for profilers: one around each call, plan, compilation and load, all of them ended.
TEST_F(ToolOnFakeGpu, TellsAProfilerWhatItDoes) {
#if __has_include(<nvtx3/nvToolsExt.h>)
  const std::string log = dir_.str() + "/ranges";
  const Outcome outcome = hstu_tune(
      {"first-calls", norm(), "--device", "cuda", "--store", dir_.str() + "/store"}, "",
      {{"HSTUJIT_LIBCUDA", fake_driver_path()}, {"NVTX_INJECTION64_PATH", fake_nvtx_path()}, {"HSTU_FAKE_NVTX", log}});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  std::ifstream in(log);
  int depth = 0, deepest = 0;
  std::string lines;
  for (std::string line; std::getline(in, line); lines += line + '\n') {
    depth += line.starts_with("push") - line.starts_with("pop");
    deepest = std::max(deepest, depth);
    ASSERT_GE(depth, 0) << lines;
  }
  EXPECT_EQ(depth, 0) << lines;
  EXPECT_EQ(deepest, 3) << "a call that plans, and compiles for it\n" << lines;
  for (const char* name : {"domain hstujit\n", "push layer_norm\n", "push plan layer_norm ",
                           "push compile layer_norm_sm80 sm_90a", "push load layer_norm_sm80 sm_90a"})
    EXPECT_TRUE(contains(lines, name)) << name << lines;
#else
  GTEST_SKIP() << "this toolkit has no NVTX headers";
#endif
}

TEST_F(ToolOnFakeGpu, BenchMeasuresTheHostsShare) {
  const std::string json = dir_.str() + "/bench.json";
  const Outcome outcome = run({"bench", norm(), "--only", "warm-calls,first-calls,compiles", "--json", json});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_FALSE(contains(outcome.out, "yardsticks")) << outcome.out;
  const auto report = Json::parse(std::ifstream(json));
  std::vector<std::string> ids;
  for (const auto& figure : report.at("figures")) ids.push_back(figure.at("id"));
  EXPECT_EQ(ids,
            (std::vector<std::string>{"stack_call_host_time_over_bare_launches", "warm_call_overhead_max",
                                      "warm_call_other_buffers_overhead_max", "warm_call_host_time_max",
                                      "plan_launch_overhead_max", "first_call_filled_store_max", "cold_compile_max"}));
  EXPECT_EQ(report.at("warm_calls").size(), 5u) << "the operators of a layer, and a stack";
  EXPECT_EQ(report.at("first_calls").at("compiles"), 0);
  EXPECT_EQ(run({"bench", norm(), "--only", "everything"}).code, 2);
}

TEST_F(ToolOnFakeGpu, BenchOfFiguresByNameMeasuresNoOthers) {
  const std::string json = dir_.str() + "/bench.json";
  const Outcome outcome =
      run({"bench", norm(), "--figures", "warm_call_host_time_max,cold_compile_max", "--json", json});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto report = nlohmann::json::parse(std::ifstream(json));
  EXPECT_EQ(report.at("warm_calls").size(), 4u) << "a stack has a figure of its own";
  EXPECT_FALSE(report.contains("operators"));
  EXPECT_FALSE(report.contains("first_calls"));
  std::map<std::string, nlohmann::json> figures;
  for (const auto& figure : report.at("figures")) figures[figure.at("id")] = figure;
  const nlohmann::json &warm = figures.at("warm_call_host_time_max"), &compiled = figures.at("cold_compile_max");
  EXPECT_EQ(warm.at("command"), compiled.at("command"));
  EXPECT_FALSE(contains(warm.at("command"), "figures ")) << warm.at("command");
  EXPECT_FALSE(contains(warm.at("command"), "warm_call")) << warm.at("command");
  // What its kernels were, so that a record of it ages with them; and the way to them.
  EXPECT_EQ(compiled.at("families"), nlohmann::json({"layer_norm_sm80"}));
  EXPECT_EQ(warm.at("families").size(), 4u);
  EXPECT_EQ(warm.at("of_launching"), true);
  EXPECT_FALSE(compiled.contains("of_launching"));
}

TEST_F(ToolOnFakeGpu, BenchOfAGenerationOfKernelsNamesIt) {
  const Outcome own = run({"bench", norm(), "--only", "compiles"});
  EXPECT_TRUE(contains(own.out, "figure cold_compile_max: ")) << own.out << own.err;
  EXPECT_TRUE(contains(own.out, "target 1.5")) << own.out;
  const Outcome older = run({"bench", norm(), "--device", "cuda@sm_80", "--only", "compiles"});
  EXPECT_TRUE(contains(older.out, "figure cold_compile_max_on_sm_80: ")) << older.out << older.err;
  EXPECT_FALSE(contains(older.out, "target 1.5")) << "what is asked is asked of the device's own kernels";
}

TEST_F(ToolOnFakeGpu, BenchPutsTheEngineBesideItsRivals) {
  const std::string path = dir_.str() + "/norms.json", json = dir_.str() + "/bench.json",
                    script = dir_.str() + "/rivals.py";
  std::ofstream workload(path);
  workload << R"({"format": "hstujit-workload-1", "name": "norms", "operators": [)";
  for (int i = 0; i < 64; ++i)
    workload << (i ? "," : "") << R"({"op": "layer_norm", "rows": 64, "dim": )" << 8 + 8 * i << "}";
  workload << "]}" << std::flush;
  std::ofstream(script) << "print('{\"triton\": {\"version\": \"3.6\", \"call_us\": 20, \"start_64_ms\": 90}}')\n";
  const Outcome outcome = run({"bench", path, "--only", "warm-calls,engine", "--rivals", script, "--json", json});
  ASSERT_EQ(outcome.code, 0) << outcome.err << outcome.out;
  const auto report = Json::parse(std::ifstream(json));
  std::map<std::string, Json> figures;
  for (const auto& figure : report.at("figures")) figures[figure.at("id")] = figure;
  EXPECT_EQ(report.at("prewarm").at("kernels"), 64);
  EXPECT_GT(figures["prewarm_64_kernels"].at("value"), 0.1);
  EXPECT_EQ(report.at("starts").size(), 2u);
  EXPECT_TRUE(figures.contains("start_1_kernel")) << outcome.out;
  EXPECT_GT(figures["start_64_kernels"].at("value"), figures["start_1_kernel"].at("value"));
  EXPECT_TRUE(contains(figures["start_64_kernels"].at("yardstick"), ", triton 3.6: 90 ms"));
  EXPECT_TRUE(contains(figures["warm_call_host_time_max"].at("yardstick"), ", triton 3.6: 20 us"));
  const Outcome none =
      run({"bench", norm(), "--only", "engine", "--rivals", dir_.str() + "/absent.py", "--json", json});
  EXPECT_EQ(none.code, 0) << none.err;
  EXPECT_TRUE(contains(none.err, "absent.py measured no rivals")) << none.err;
}

TEST_F(ToolOnFakeGpu, RefusesDevicesThatAreNone) {
  EXPECT_EQ(run({"tune", norm(), "--device", "cuda:x"}).code, 2);
  EXPECT_EQ(run({"tune", norm(), "--device", "gpu"}).code, 2);
  const Outcome absent = run({"tune", norm(), "--device", "cuda:77"});
  EXPECT_EQ(absent.code, 1);
  EXPECT_TRUE(contains(absent.err, "cuda:77")) << absent.err;
}

}  // namespace
}  // namespace hstujit::test
