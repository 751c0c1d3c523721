// Tuning in several processes: each its share in a store of its own, merged afterwards in any order.
#include "support/nvrtc.hpp"
#include "support/temp_dir.hpp"
#include "support/tool_process.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

namespace hstujit::test {
namespace {

class ToolShards : public testing::Test {
 protected:
  void SetUp() override {
    HSTU_NEEDS_NVRTC();
    std::ofstream(workload_) << R"({"format": "hstujit-workload-1", "name": "norms", "operators": [
      {"op": "layer_norm", "rows": 60, "dim": 64}, {"op": "layer_norm", "rows": 120, "dim": 64},
      {"op": "layer_norm", "rows": 30, "dim": 64}]})";
  }
  Outcome run(const std::vector<std::string>& arguments, const std::string& store, Variables more = {}) {
    more.emplace("HSTUJIT_LIBCUDA", norm_driver_path());
    return hstu_tune(arguments, at(store), more);
  }
  std::string at(const std::string& name) const { return dir_.str() + "/" + name; }

  TempDir dir_;
  const std::string workload_ = dir_.str() + "/norms.json";
};

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_F(ToolShards, ShareTheProblemsAndMergeInAnyOrder) {
  const Outcome first = run({"tune", workload_, "--budget", "1", "--shard", "0/2"}, "store");
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_TRUE(contains(first.out, "shard 0 of 2 (--shard)")) << first.out;
  EXPECT_TRUE(contains(first.out, "norms: 2 problems")) << first.out;
  // The other as mpirun would start it.
  const Outcome second = run({"tune", workload_, "--budget", "1"}, "store",
                             {{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}});
  ASSERT_EQ(second.code, 0) << second.err;
  EXPECT_TRUE(contains(second.out, "shard 1 of 2 (mpirun)")) << second.out;
  EXPECT_TRUE(contains(second.out, "norms: 1 problems")) << second.out;

  const std::string a = at("store/shard-0-of-2"), b = at("store/shard-1-of-2");
  const Outcome merged = run({"merge", a, b}, "store");
  EXPECT_EQ(merged.code, 0) << merged.err;
  EXPECT_TRUE(contains(merged.out, "3 jobs and ")) << merged.out;
  EXPECT_TRUE(contains(merged.out, "3 tuned problems")) << merged.out;
  EXPECT_TRUE(contains(run({"merge", b, a, a}, "store").out, "0 jobs and 0 trials added")) << "idempotent";
  ASSERT_EQ(run({"merge", b + "/tuner.db", a}, "other").code, 0);
  const Outcome all = run({"export", "--all", "-"}, "store");
  EXPECT_TRUE(contains(all.out, "layer_norm"));
  EXPECT_EQ(all.out, run({"export", "--all", "-"}, "other").out) << "commutative";
}

TEST_F(ToolShards, AShardWithoutAProblemIsFine) {
  const Outcome outcome = run({"tune", workload_, "--shard", "3/4"}, "store");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "no problem for this shard")) << outcome.out;
}

TEST_F(ToolShards, LaunchersAreUnderstoodAndBatchScriptsAreNoShards) {
  const auto of = [&](const Variables& variables) {
    return run({"tune", workload_, "--budget", "0"}, "s", variables).out;
  };
  EXPECT_TRUE(contains(of({{"SLURM_PROCID", "3"}, {"SLURM_STEP_NUM_TASKS", "4"}}), "shard 3 of 4 (srun)"));
  EXPECT_TRUE(contains(of({{"PMI_RANK", "3"}, {"PMI_SIZE", "5"}}), "shard 3 of 5 (an MPI launcher)"));
  EXPECT_FALSE(contains(of({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}}), "shard"));
  EXPECT_FALSE(contains(of({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "1"}}), "shard"));
}

/// Open MPI's mpirun: every rank knows its share from the launcher, keeps a store of its own, and merge makes one of
/// them.
TEST_F(ToolShards, MpirunStartsARankForEachShard) {
  const Outcome version = run_program({"mpirun", "--version"});
  if (!contains(version.out, "Open MPI")) GTEST_SKIP() << "Open MPI's mpirun is not installed";
  const Outcome tuned = run_program(
      {"mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", hstu_tune_path(), "tune", workload_, "--budget",
       "1"},
      {{"HSTUJIT_STORE", at("store")}, {"HSTUJIT_LIBCUDA", norm_driver_path()}, {"HSTU_FAKE_DEVICES", "2"}});
  ASSERT_EQ(tuned.code, 0) << tuned.err << tuned.out;
  EXPECT_TRUE(contains(tuned.out, "shard 0 of 2 (mpirun)")) << tuned.out;
  EXPECT_TRUE(contains(tuned.out, "shard 1 of 2 (mpirun)")) << tuned.out;
  const Outcome merged = run({"merge", at("store/shard-0-of-2"), at("store/shard-1-of-2")}, "store");
  EXPECT_TRUE(contains(merged.out, "3 jobs and ")) << merged.out << merged.err;
  EXPECT_TRUE(contains(merged.out, "3 tuned problems")) << merged.out;
}

// ---- All GPUs of a machine by one command

TEST_F(ToolShards, AllGpusShareTheProblemsAndFillOneStore) {
  const Variables two = {{"HSTU_FAKE_DEVICES", "2"}};
  const Outcome tuned = run({"tune", workload_, "--budget", "1", "--all-gpus"}, "store", two);
  ASSERT_EQ(tuned.code, 0) << tuned.err << tuned.out;
  EXPECT_TRUE(contains(tuned.out, "[cuda:0] shard 0 of 2 (--shard)")) << tuned.out;
  EXPECT_TRUE(contains(tuned.out, "[cuda:0] norms: 2 problems on NVIDIA H200")) << tuned.out;
  EXPECT_TRUE(contains(tuned.out, "[cuda:1] norms: 1 problems on NVIDIA H200")) << tuned.out;
  EXPECT_TRUE(contains(tuned.out, "3 jobs and ")) << tuned.out;
  EXPECT_TRUE(contains(tuned.out, "3 tuned problems")) << tuned.out;
  const Outcome warm = run({"warm", workload_}, "store", {{"HSTUJIT_LIBNVRTC", "/nowhere/libnvrtc.so"}});
  EXPECT_EQ(warm.code, 0) << warm.err << "the kernels came along";
  EXPECT_TRUE(contains(warm.out, "norms: 0 compiled")) << warm.out;
  EXPECT_TRUE(contains(warm.out, "(tuned record)")) << warm.out;
  const Outcome again = run({"tune", workload_, "--budget", "1", "--all-gpus"}, "store", two);
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_TRUE(contains(again.out, "3 tuned problems")) << again.out;
}

TEST_F(ToolShards, AllGpusOfOneAreThatOne) {
  const Outcome tuned = run({"tune", workload_, "--budget", "1", "--all-gpus"}, "store");
  ASSERT_EQ(tuned.code, 0) << tuned.err << tuned.out;
  EXPECT_TRUE(contains(tuned.out, "[cuda:0] norms: 3 problems")) << tuned.out;
  EXPECT_TRUE(contains(run({"export", "-"}, "store").out, "layer_norm"));
}

TEST_F(ToolShards, AllGpusPassCtrlCOnAndKeepWhatTheyHave) {
  ToolProcess tool({"tune", workload_, "--budget", "300", "--all-gpus"}, at("store"),
                   {{"HSTUJIT_LIBCUDA", norm_driver_path()}, {"HSTU_FAKE_DEVICES", "2"}});
  const auto measured = [&](const char* shard) {
    return contains(run({"export", "--all", "-"}, shard).out, "threads=");
  };
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!measured("store/shard-0-of-2") || !measured("store/shard-1-of-2")) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  tool.signal(SIGINT);
  const Outcome interrupted = tool.wait();
  EXPECT_EQ(interrupted.code, 1);
  EXPECT_TRUE(contains(interrupted.out, "[cuda:0] hstu-tune: interrupted; what was measured is kept"))
      << interrupted.out;
  EXPECT_TRUE(contains(interrupted.err, "the process on cuda:1 ended with 1")) << interrupted.err;
  EXPECT_TRUE(contains(run({"export", "--all", "-"}, "store").out, "threads=")) << "merged";
}

TEST_F(ToolShards, AllGpusReportAProcessThatFails) {
  const Outcome outcome = run({"tune", workload_, "--budget", "1", "--all-gpus"}, "store",
                              {{"HSTUJIT_LIBCUDA", fake_driver_path()}, {"HSTU_FAKE_DEVICES", "2"}});
  EXPECT_EQ(outcome.code, 1) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "[cuda:1] hstu-tune: layer_norm 120 x 64: layer_norm_sm80")) << outcome.out;
  EXPECT_TRUE(contains(outcome.err, "the process on cuda:0 ended with 1")) << outcome.err;
}

TEST_F(ToolShards, AllGpusAreNoShard) {
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{"--shard", "0/2"}, {"--device", "cuda:1"}, {"--store", ""}}) {
    std::vector<std::string> command = {"tune", workload_, "--all-gpus"};
    command.insert(command.end(), more.begin(), more.end());
    EXPECT_EQ(run(command, "store").code, 2) << more.front();
  }
  EXPECT_EQ(
      run({"tune", workload_, "--all-gpus"}, "store", {{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}})
          .code,
      2);
}

TEST_F(ToolShards, BadShardsAreBadUsage) {
  for (const char* shard : {"2/2", "-1/2", "1", "1/0", "a/b", "1/2x"})
    EXPECT_EQ(run({"tune", workload_, "--shard", shard}, "store").code, 2) << shard;
  EXPECT_EQ(run({"merge", at("absent")}, "store").code, 2);
  EXPECT_EQ(run({"merge", workload_}, "store").code, 1) << "not an export";
}

}  // namespace
}  // namespace hstujit::test
