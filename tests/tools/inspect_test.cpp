// hstu-tune as a process: usage, doctor, devices, ops, export and import.
#include "support/temp_dir.hpp"
#include "support/tool_process.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace hstujit::test {
namespace {

class Tool : public testing::Test {
 protected:
  Outcome run(const std::vector<std::string>& arguments, const Variables& more = {}) {
    return hstu_tune(arguments, store_.str(), more);
  }
  TempDir store_;
};

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_F(Tool, CallsForASubcommand) {
  const Outcome outcome = run({});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome.err, "subcommand")) << outcome.err;
}

TEST_F(Tool, RefusesUnknownOptionsAndSubcommands) {
  EXPECT_EQ(run({"ops", "--fast"}).code, 2);
  EXPECT_EQ(run({"guess"}).code, 2);
  EXPECT_EQ(run({"tune"}).code, 2) << "the workload is missing";
}

TEST_F(Tool, HelpsAndNamesItsVersion) {
  const Outcome help = run({"--help"});
  EXPECT_EQ(help.code, 0);
  for (const char* name : {"doctor", "devices", "ops", "run", "tune", "warm", "build", "pack", "bench", "verify",
                           "show", "export", "import", "merge"})
    EXPECT_TRUE(contains(help.out, name)) << name;
  EXPECT_TRUE(contains(run({"--version"}).out, "0."));
}

TEST_F(Tool, ListsOperatorsFamiliesAndKnobs) {
  const Outcome outcome = run({"ops"});
  EXPECT_EQ(outcome.code, 0);
  for (const char* name : {"layer_norm_sm80", "addmm_sm80", "attn_fwd_sm80", "norm_mul_sm80", "head_dim_qk"})
    EXPECT_TRUE(contains(outcome.out, name)) << name;
}

TEST_F(Tool, DoctorWorksOnAMachineWithNothing) {
  const Outcome outcome = run({"doctor"}, {{"HSTUJIT_LIBNVRTC", "/nowhere/libnvrtc.so"}});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "missing  driver")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "missing  NVRTC")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "to mend: ")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, store_.str() + ", writable, 0 kernels")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "2 missing")) << outcome.out;
}

TEST_F(Tool, DoctorSaysWhyAStoreCannotBeWritten) {
  std::ofstream(store_.str() + "/file") << "x";
  const Outcome outcome = run({"doctor", "--store", store_.str() + "/file/store"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_TRUE(contains(outcome.out, "cannot be written: Not a directory")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "HSTUJIT_STORE")) << outcome.out;
}

TEST_F(Tool, DoctorLeavesNothingBehindInTheStore) {
  ASSERT_EQ(run({"doctor"}).code, 0);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(store_.path()))
    EXPECT_FALSE(contains(entry.path().filename().string(), "doctor")) << entry.path();
}

TEST_F(Tool, DoctorChecksEverySwitchOfTheEnvironment) {
  const Outcome outcome =
      run({"doctor"}, {{"HSTUJIT_KERNELS", "/nowhere/kernels"}, {"HSTUJIT_SYSTEM_STORE", "/nowhere/store"}});
  EXPECT_TRUE(contains(outcome.out, "missing  kernels")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "missing  system store")) << outcome.out;
}

TEST_F(Tool, DevicesFailsWithoutADriver) {
  const Outcome outcome = run({"devices"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(contains(outcome.err, "/nowhere/libcuda.so.1")) << outcome.err;
}

TEST_F(Tool, DevicesAndDoctorListWhatTheDriverHas) {
  const Variables fake = {{"HSTUJIT_LIBCUDA", fake_driver_path()}};
  const Outcome devices = run({"devices"}, fake);
  EXPECT_EQ(devices.code, 0) << devices.err;
  EXPECT_TRUE(contains(devices.out, "cuda:0")) << devices.out;
  EXPECT_TRUE(contains(devices.out, "sm_90a")) << devices.out;
  const Outcome doctor = run({"doctor"}, fake);
  EXPECT_TRUE(contains(doctor.out, "ok       driver")) << doctor.out;
  EXPECT_TRUE(contains(doctor.out, "cuda:0")) << doctor.out;
}

TEST_F(Tool, ExportsAndImportsAnEmptyStore) {
  const std::string file = store_.str() + "/records.json";
  EXPECT_EQ(run({"export", file}).code, 0);
  const Outcome outcome = run({"import", file});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "0 jobs and 0 trials added")) << outcome.out;
  EXPECT_TRUE(contains(run({"export", "-"}).out, "{")) << "standard output";
}

TEST_F(Tool, ImportRefusesWhatIsNoExport) {
  const std::string file = store_.str() + "/records.json";
  std::ofstream(file) << "{\"not\": \"records\"}";
  const Outcome damaged = run({"import", file});
  EXPECT_EQ(damaged.code, 1);
  EXPECT_FALSE(damaged.err.empty());
  const Outcome absent = run({"import", store_.str() + "/absent.json"});
  EXPECT_EQ(absent.code, 2);
  EXPECT_TRUE(contains(absent.err, "absent.json: cannot be read")) << absent.err;
}

TEST_F(Tool, ExportSaysWhyAFileCannotBeWritten) {
  const Outcome outcome = run({"export", "/proc/nothing/records.json"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(contains(outcome.err, "/proc/nothing/records.json: cannot be written")) << outcome.err;
}

TEST_F(Tool, ShowSaysThatAStoreIsEmpty) {
  const Outcome outcome = run({"show"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "none; hstu-tune tune WORKLOAD makes some")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "none; hstu-tune warm WORKLOAD makes some")) << outcome.out;
}

}  // namespace
}  // namespace hstujit::test
