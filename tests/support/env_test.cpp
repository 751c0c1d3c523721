// Environment switches and where the default store lies.
#include "support/env.hpp"

#include "support/scoped_env.hpp"

#include <gtest/gtest.h>

namespace hstujit {
namespace {

using test::ScopedEnv;

TEST(Environment, StoreIsAskedForThenCacheThenHome) {
  const ScopedEnv home("HOME", "/home/ada");
  {
    const ScopedEnv store("HSTUJIT_STORE", "/fast/store"), cache("XDG_CACHE_HOME", "/cache");
    EXPECT_EQ(Environment::read().store, "/fast/store");
  }
  const ScopedEnv store("HSTUJIT_STORE", nullptr);
  {
    const ScopedEnv cache("XDG_CACHE_HOME", "/cache");
    EXPECT_EQ(Environment::read().store, "/cache/hstujit");
  }
  const ScopedEnv cache("XDG_CACHE_HOME", nullptr);
  EXPECT_EQ(Environment::read().store, "/home/ada/.cache/hstujit");
}

TEST(Environment, NoHomeMeansNoStore) {
  const ScopedEnv home("HOME", nullptr), cache("XDG_CACHE_HOME", nullptr), store("HSTUJIT_STORE", nullptr);
  EXPECT_EQ(Environment::read().store, "");
}

TEST(Environment, RelativeCacheFoldersAreIgnored) {
  const ScopedEnv home("HOME", "here"), cache("XDG_CACHE_HOME", "there"), store("HSTUJIT_STORE", nullptr);
  EXPECT_EQ(Environment::read().store, "");
}

TEST(Environment, EmptyStoreMeansMemoryOnly) {
  const ScopedEnv home("HOME", "/home/ada"), store("HSTUJIT_STORE", "");
  EXPECT_EQ(Environment::read().store, "");
}

TEST(Environment, EverySwitchIsRead) {
  const ScopedEnv cuda("HSTUJIT_LIBCUDA", "/a"), nvrtc("HSTUJIT_LIBNVRTC", "/b"), system("HSTUJIT_SYSTEM_STORE", "/c"),
      kernels("HSTUJIT_KERNELS", "/d"), level("HSTUJIT_LOG", "info"), home("CUDA_HOME", "/e"), path("CUDA_PATH", "/f");
  const Environment env = Environment::read();
  EXPECT_EQ(env.libcuda, "/a");
  EXPECT_EQ(env.libnvrtc, "/b");
  EXPECT_EQ(env.system_store, "/c");
  EXPECT_EQ(env.kernels, "/d");
  EXPECT_EQ(env.log_level, "info");
  EXPECT_EQ(env.cuda_homes, (std::vector<std::string>{"/e", "/f"}));
}

}  // namespace
}  // namespace hstujit
