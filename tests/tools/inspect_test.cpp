// hstu-tune as a process: usage, doctor, devices, ops, export and import.
#include "records/database.hpp"
#include "support/nvrtc.hpp"
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

TEST_F(Tool, RefusesABudgetThatIsNoNumberOfSeconds) {
  for (const char* command : {"tune", "run"})
    for (const char* budget : {"nan", "-nan", "-1", "inf", "soon"}) {
      const Outcome outcome = run({command, "/absent.json", "--budget", budget});
      EXPECT_EQ(outcome.code, 2) << command << " " << budget;
      EXPECT_NE((outcome.out + outcome.err).find("--budget"), std::string::npos) << outcome.out << outcome.err;
    }
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

// ---- Broken machines, each with the command that mends it.

/// The fake disk in front of everything, of a sanitizer's runtime as well, which else refuses to start.
Variables on_fake_disk(const std::string& kind, const std::string& path) {
  return {{"LD_PRELOAD", fake_disk_path()}, {kind, path}, {"ASAN_OPTIONS", "verify_asan_link_order=0"}};
}

TEST_F(Tool, DoctorSaysWhenTheStoreIsReadOnly) {
  const Outcome outcome = run({"doctor", "--store", store_.str() + "/home/.cache/hstujit"},
                              on_fake_disk("HSTU_FAKE_READ_ONLY", store_.str()));
  EXPECT_TRUE(contains(outcome.out, "missing  store")) << outcome.out << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "cannot be written: Read-only file system")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "to mend: export HSTUJIT_STORE=/var/tmp/hstujit-")) << outcome.out;
}

TEST_F(Tool, DoctorDoubtsAStoreOnTheNetwork) {
  const Variables nfs = on_fake_disk("HSTU_FAKE_NETWORK", store_.str());
  const Outcome outcome = run({"doctor"}, nfs);
  EXPECT_TRUE(contains(outcome.out, "doubtful store")) << outcome.out << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "on a network file system (NFS)")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "to mend: export HSTUJIT_STORE=/var/tmp/hstujit-")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, " and 1 doubtful, see above")) << outcome.out;
  EXPECT_FALSE(contains(run({"doctor"}).out, "doubtful"));
}

TEST_F(Tool, DoctorSaysWhenALaterLibraryOwnsTheStore) {
  ASSERT_EQ(run({"doctor"}).code, 0);
  {
    Connection database(store_.str() + "/tuner.db", Connection::Mode::writable);
    database.run("PRAGMA user_version = 99");
  }
  const Outcome outcome = run({"doctor"});
  EXPECT_TRUE(contains(outcome.out, "tuner.db cannot be used")) << outcome.out;
}

TEST_F(Tool, DoctorSaysWhenTheDriverIsOlderThanTheCompiler) {
  Variables machine = {{"HSTUJIT_LIBCUDA", fake_driver_path()},
                       {"HSTUJIT_LIBNVRTC", fake_nvrtc_path()},
                       {"HSTU_FAKE_NVRTC", "13000"},
                       {"HSTU_FAKE_DRIVER_VERSION", "12040"}};
  const Outcome older = run({"doctor"}, machine);
  EXPECT_TRUE(contains(older.out, "missing  NVRTC        NVRTC 13.0 is newer than the driver, which is of CUDA 12.4"))
      << older.out;
  EXPECT_TRUE(contains(older.out,
                       "to mend: update the driver to CUDA 13.0 or newer; or use an older compiler: pip "
                       "install nvidia-cuda-nvrtc-cu12"))
      << older.out;
  machine["HSTU_FAKE_NVRTC"] = "12080";
  const Outcome same_major = run({"doctor"}, machine);
  EXPECT_TRUE(contains(same_major.out, "its binaries run nevertheless")) << same_major.out;
  EXPECT_TRUE(contains(same_major.out, "nothing is missing")) << same_major.out;
  machine["HSTU_FAKE_DRIVER_VERSION"] = "12080";
  EXPECT_FALSE(contains(run({"doctor"}, machine).out, "newer than the driver"));
}

TEST_F(Tool, DoctorSaysWhenTheDriverIsTooOldAltogether) {
  const Outcome outcome =
      run({"doctor"}, {{"HSTUJIT_LIBCUDA", fake_driver_path()}, {"HSTU_FAKE_DRIVER_VERSION", "11080"}});
  EXPECT_TRUE(contains(outcome.out, "missing  driver")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "(CUDA 11.8) lacks cuTensorMapEncodeTiled: CUDA 12.0 or newer is needed"))
      << outcome.out;
}

TEST_F(Tool, DoctorSaysWhenTheDriverHasNoDevice) {
  const Outcome outcome = run({"doctor"}, {{"HSTUJIT_LIBCUDA", fake_driver_path()}, {"HSTU_FAKE_DEVICES", "0"}});
  EXPECT_TRUE(contains(outcome.out, "missing  devices")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "to mend: check nvidia-smi and CUDA_VISIBLE_DEVICES")) << outcome.out;
}

TEST_F(Tool, DoctorSaysWhenTheCompilerLacksItsBuiltins) {
  const Outcome outcome =
      run({"doctor"}, {{"HSTUJIT_LIBNVRTC", fake_nvrtc_path()}, {"HSTU_FAKE_NVRTC_BUILTINS", "missing"}});
  EXPECT_TRUE(contains(outcome.out, "missing  NVRTC        NVRTC 13.0")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "failed to open libnvrtc-builtins.so.13.0")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "to mend: put libnvrtc-builtins.so.13.0 of the same toolkit beside it"))
      << outcome.out;
}

TEST_F(Tool, DoctorTriesTheCompilerThatIsThere) {
  HSTU_NEEDS_NVRTC();
  const Outcome outcome = run({"doctor"});
  EXPECT_TRUE(contains(outcome.out, "ok       NVRTC")) << outcome.out;
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
