// Packs from the tool's hands: built twice alike without a GPU, served without compiling or writing, listed, compared.
#include "records/records.hpp"
#include "support/files.hpp"
#include "support/nvrtc.hpp"
#include "support/source_dir.hpp"
#include "support/temp_dir.hpp"
#include "support/tool_process.hpp"
#include "workload/calls.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace hstujit::test {
namespace {

namespace fs = std::filesystem;

class ToolPacks : public testing::Test {
 protected:
  void SetUp() override {
    HSTU_NEEDS_NVRTC();
    std::ofstream(workload()) << R"({"format": "hstujit-workload-1", "name": "norms", "operators": [
      {"op": "layer_norm", "rows": 1000, "dim": 64}, {"op": "layer_norm", "rows": 1000, "dim": 128}]})";
  }
  std::string workload() const { return dir_.str() + "/norms.json"; }
  std::string at(const std::string& name) const { return dir_.str() + "/" + name; }

  Outcome build(const std::string& pack, const std::string& targets, const std::string& store) {
    return hstu_tune({"build", "--workload", workload(), "--arch", targets, "-o", at(pack)}, at(store));
  }
  Outcome on_fake_gpu(const std::vector<std::string>& arguments, const std::string& store, const std::string& pack) {
    return hstu_tune(arguments, store,
                     {{"HSTUJIT_LIBCUDA", fake_driver_path()},
                      {"HSTUJIT_LIBNVRTC", "/nowhere/libnvrtc.so"},
                      {"HSTUJIT_SYSTEM_STORE", at(pack)}});
  }
  std::string bytes(const std::string& name) const {
    std::ifstream in(at(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  TempDir dir_;
};

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Attention for sm_90a has a variable in its module, whose name must not tell processes apart.
TEST_F(ToolPacks, TwoBuildsAreBitIdentical) {
  std::ofstream(workload()) << R"({"format": "hstujit-workload-1", "name": "norms", "operators": [
      {"op": "layer_norm", "rows": 1000, "dim": 64},
      {"op": "attention", "num_heads": 2, "attn_dim": 64, "sequences": {"batch": 8, "history": 256}}]})";
  const Outcome first = build("one", "sm_80,sm_90a", "store one");
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_TRUE(contains(first.out, "norms: 4 kernels")) << first.out;
  ASSERT_EQ(build("two", "sm_90a,sm_80", "store two").code, 0);
  EXPECT_GT(bytes("one").size(), 1000u);
  EXPECT_TRUE(bytes("one") == bytes("two"));
}

TEST_F(ToolPacks, AServerWithOneCompilesNothingAndWritesNothing) {
  ASSERT_EQ(build("pack", "sm_90a", "store").code, 0);
  const Outcome server = on_fake_gpu({"warm", workload()}, "", "pack");
  EXPECT_EQ(server.code, 0) << server.err;
  EXPECT_TRUE(contains(server.out, "norms: 0 compiled, 2 from the store")) << server.out;

  // A store that cannot be written is not needed either.
  fs::create_directory(at("read only"));
  fs::permissions(at("read only"), fs::perms::owner_read | fs::perms::owner_exec);
  const Outcome read_only = on_fake_gpu({"warm", workload()}, at("read only/store"), "pack");
  EXPECT_TRUE(contains(read_only.out, "norms: 0 compiled, 2 from the store")) << read_only.out << read_only.err;
}

TEST_F(ToolPacks, TunedRecordsTravelInThePack) {
  const std::vector<Calls> calls = expand(read_workload(workload()));
  Trial trial;
  trial.family = "layer_norm_sm80";
  trial.standard = true;
  trial.timing = {30, 1000, 1, 999, 1001};
  Job job;
  job.uid = "1";
  job.problem = needs(calls).front().problem;
  job.device_class = "NVIDIA H200 sm_90a";
  job.state = JobState::finished;
  job.trials = {trial};
  Records({at("store"), ""}).absorb({job});
  ASSERT_EQ(build("pack", "sm_90a", "store").code, 0);
  const Outcome list = hstu_tune({"pack", "list", at("pack")}, "");
  EXPECT_TRUE(contains(list.out, "1 tuned records")) << list.out;
  const Outcome server = on_fake_gpu({"warm", workload()}, "", "pack");
  EXPECT_TRUE(contains(server.out, "(tuned record)")) << server.out << server.err;
  ASSERT_EQ(build("other target", "sm_80", "store").code, 0);
  EXPECT_TRUE(contains(hstu_tune({"pack", "list", at("other target")}, "").out, "0 tuned records"));
}

TEST_F(ToolPacks, ListsAndCompares) {
  ASSERT_EQ(build("both", "sm_80,sm_90a", "store").code, 0);
  ASSERT_EQ(build("one", "sm_90a", "store").code, 0);
  const Outcome list = hstu_tune({"pack", "list", at("both")}, "");
  EXPECT_EQ(list.code, 0) << list.err;
  EXPECT_TRUE(contains(list.out, "layer_norm_sm80 sm_90a")) << list.out;
  EXPECT_TRUE(contains(list.out, "4 kernels, 0 tuned records, sound")) << list.out;
  EXPECT_TRUE(contains(hstu_tune({"show", "--kernels"}, "", {{"HSTUJIT_SYSTEM_STORE", at("both")}}).out, "sm_90a"));

  EXPECT_EQ(hstu_tune({"pack", "diff", at("both"), at("both")}, "").code, 0);
  const Outcome diff = hstu_tune({"pack", "diff", at("both"), at("one")}, "");
  EXPECT_EQ(diff.code, 1);
  EXPECT_TRUE(contains(diff.out, "- layer_norm_sm80 sm_80")) << diff.out;
  EXPECT_FALSE(contains(diff.out, "sm_90a")) << diff.out;
  EXPECT_TRUE(contains(diff.out, "2 differences")) << diff.out;
}

TEST_F(ToolPacks, ComparesMachineCodeWhateverTheText) {
  ASSERT_EQ(build("shipped", "sm_90a", "store").code, 0);
  namespace fs = std::filesystem;
  fs::copy(test::source_dir() / "kernels", at("kernels"), fs::copy_options::recursive);
  const std::string file = at("kernels") + "/norm/layer_norm_sm80.cuh";
  std::string text;
  ASSERT_EQ(read_file(file, text), 0);
  const auto build_with = [&](const std::string& kernel, const std::string& name) {
    ASSERT_EQ(publish_file(file, kernel), 0);
    const Outcome built = hstu_tune({"build", "--workload", workload(), "-o", at(name), "--arch", "sm_90a"}, at("own"),
                                    {{"HSTUJIT_KERNELS", at("kernels")}});
    ASSERT_EQ(built.code, 0) << built.err;
  };
  build_with("// Another word.\n" + text, "commented");
  EXPECT_EQ(hstu_tune({"pack", "diff", at("shipped"), at("commented")}, "").code, 1) << "their keys differ";
  const Outcome same = hstu_tune({"pack", "diff", "--code", at("shipped"), at("commented")}, "");
  EXPECT_EQ(same.code, 0) << same.out << same.err;
  EXPECT_TRUE(contains(same.out, "2 kernels with the same machine code, 0 differences")) << same.out;

  const Outcome other = hstu_tune({"pack", "diff", "--code", at("shipped"), at("empty")}, "");
  EXPECT_EQ(other.code, 1) << "there is none";
  const size_t body = text.rfind("__global__");
  ASSERT_NE(body, std::string::npos);
  const size_t brace = text.find(") {", body) + 3;
  build_with(text.substr(0, brace) + " if (clock64() == 7) return; " + text.substr(brace), "changed");
  const Outcome changed = hstu_tune({"pack", "diff", "--code", at("shipped"), at("changed")}, "");
  EXPECT_EQ(changed.code, 1) << changed.out;
  EXPECT_TRUE(contains(changed.out, "- layer_norm_sm80 sm_90a")) << changed.out;
  EXPECT_TRUE(contains(changed.out, "+ layer_norm_sm80 sm_90a")) << changed.out;
}

TEST_F(ToolPacks, ADamagedOneIsNamedAndNotUsed) {
  ASSERT_EQ(build("pack", "sm_90a", "store").code, 0);
  std::fstream(at("pack"), std::ios::in | std::ios::out | std::ios::binary).seekp(500).put('!').put('?');
  const Outcome list = hstu_tune({"pack", "list", at("pack")}, "");
  EXPECT_EQ(list.code, 1);
  EXPECT_TRUE(contains(list.err, "damaged")) << list.err;
  EXPECT_TRUE(contains(on_fake_gpu({"doctor"}, "", "pack").out, "missing  pack")) << "the doctor sees it";
  EXPECT_EQ(on_fake_gpu({"warm", workload()}, "", "pack").code, 1) << "there is no compiler to fall back to";
}

TEST_F(ToolPacks, TheDoctorSeesAPackForAnotherGpu) {
  ASSERT_EQ(build("pack", "sm_80", "store").code, 0);
  const Outcome wrong = on_fake_gpu({"doctor"}, "", "pack");
  EXPECT_TRUE(contains(wrong.out, "none for sm_90a")) << wrong.out;
  EXPECT_TRUE(contains(wrong.out, "to mend: build it again")) << wrong.out;
  ASSERT_EQ(build("pack", "sm_80,sm_90a", "store").code, 0);
  EXPECT_TRUE(contains(on_fake_gpu({"doctor"}, "", "pack").out, "ok       pack")) << wrong.out;
}

TEST_F(ToolPacks, BuildSaysWhatItNeeds) {
  EXPECT_EQ(hstu_tune({"build", "--workload", workload(), "-o", at("pack")}, "").code, 2);
  EXPECT_EQ(hstu_tune({"build", "--arch", "sm_80", "-o", at("pack")}, "").code, 2);
  EXPECT_EQ(hstu_tune({"build", "--workload", workload(), "--arch", "sm_7", "-o", at("pack")}, "").code, 2);
  EXPECT_EQ(build("no/such/folder/pack", "sm_80", "store").code, 0) << "folders are made";
}

}  // namespace
}  // namespace hstujit::test
