// Which architecture a device's kernels are compiled for, and how NVRTC is found and named.
#include "cuda/nvrtc.hpp"

#include "cuda/device.hpp"
#include "support/error.hpp"
#include "support/scoped_env.hpp"
#include "support/tool_process.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace hstujit {
namespace {

constexpr std::array kArchs = {80, 86, 89, 90, 100, 120};

TEST(Target, KnownDevicesGetTheirOwnBinary) {
  EXPECT_EQ(target_for(80, kArchs), "sm_80");
  EXPECT_EQ(target_for(86, kArchs), "sm_86");
  EXPECT_EQ(target_for(89, kArchs), "sm_89");
  EXPECT_EQ(target_for(100, kArchs), "sm_100");
}

TEST(Target, HopperGetsItsArchitectureSpecificVariant) { EXPECT_EQ(target_for(90, kArchs), "sm_90a"); }

TEST(Target, UnknownDevicesGetPtxOfTheNewestOlderArchitecture) {
  EXPECT_EQ(target_for(130, kArchs), "compute_120");
  EXPECT_EQ(target_for(103, kArchs), "compute_100");
  EXPECT_EQ(target_for(87, kArchs), "compute_86");
}

TEST(Target, DevicesOlderThanTheCompilerAreRefused) {
  try {
    target_for(70, kArchs);
    FAIL() << "7.0 is older than everything in the list";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), HSTU_ERROR_UNSUPPORTED);
    EXPECT_NE(error.message().find("7.0"), std::string::npos);
  }
}

TEST(Target, OfADeviceAgreesWithTheNamedArchitectures) {
  for (const char* name : {"sm_80", "sm_86", "sm_89", "sm_90a"})
    EXPECT_EQ(target_of_device(facts_of_target(name)->compute_capability), name);
}

TEST(Nvrtc, MissingLibraryNamesEveryPlaceLookedAt) {
  try {
    Nvrtc nvrtc("/nowhere/libnvrtc.so.13");
    FAIL() << "there is no such file";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), HSTU_ERROR_COMPILE);
    EXPECT_NE(error.message().find("/nowhere/libnvrtc.so.13"), std::string::npos) << error.message();
    EXPECT_NE(error.message().find("HSTUJIT_LIBNVRTC"), std::string::npos) << error.message();
  }
}

TEST(Nvrtc, ALibraryThatIsNotNvrtcIsRefused) {
  try {
    Nvrtc nvrtc("libm.so.6");
    FAIL() << "libm is no compiler";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), HSTU_ERROR_COMPILE);
    EXPECT_NE(error.message().find("nvrtcVersion"), std::string::npos) << error.message();
  }
}

// As with a toolkit that the loader was not told of, and with NVRTC of PyPI.
TEST(Nvrtc, BuiltinsAreOpenedFromTheFolderOfNvrtc) {
  constexpr char kBuiltins[] = "libnvrtc-builtins.so.99.0";
  const test::ScopedEnv version("HSTU_FAKE_NVRTC", "99000");
  ASSERT_EQ(dlopen(kBuiltins, RTLD_LAZY | RTLD_NOLOAD), nullptr);
  const Nvrtc nvrtc(test::fake_nvrtc_path());
  void* const opened = dlopen(kBuiltins, RTLD_LAZY | RTLD_NOLOAD);
  ASSERT_NE(opened, nullptr) << dlerror();
  dlclose(opened);
}

TEST(Nvrtc, IdentityHasVersionAndBuildId) {
  const std::string anywhere;
  const Nvrtc& nvrtc = nvrtc_at(anywhere);
  EXPECT_GE(nvrtc.version, 12080);
  const std::string start = fmt::format("NVRTC {}.{} ", nvrtc.version / 1000, nvrtc.version % 1000 / 10);
  ASSERT_EQ(nvrtc.identity.substr(0, start.size()), start);
  EXPECT_GE(nvrtc.identity.size(), start.size() + 16) << nvrtc.identity;
  EXPECT_EQ(nvrtc.identity.find_first_not_of("0123456789abcdef", start.size()), std::string::npos) << nvrtc.identity;
  EXPECT_NE(std::find(nvrtc.archs.begin(), nvrtc.archs.end(), 90), nvrtc.archs.end());
  EXPECT_EQ(&nvrtc, &nvrtc_at(""));
}

}  // namespace
}  // namespace hstujit
