// Which names are those of a store's files: what is made is recognised, and nothing beside it.
#include "jit/store_names.hpp"

#include "jit/tiny_kernel.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace hstujit {
namespace {

using namespace store_names;

const std::string kUnit(32, 'a'), kCompiler(16, '0'), kEntry = kUnit + "-" + kCompiler + ".kernel";

TEST(StoreNames, WhatIsMadeIsRecognised) {
  const KernelKey key(test::TinyKernels::source(1), Digest{1, 2}), other(test::TinyKernels::source(2), Digest{1, 2});
  const std::string made = entry(key, "NVRTC 13.0 abc");
  EXPECT_TRUE(is_entry(made));
  EXPECT_TRUE(is_entry_of(made, key));
  EXPECT_FALSE(is_entry_of(made, other));
  EXPECT_TRUE(is_shard(shard(key)));
  EXPECT_TRUE(made.starts_with(shard(key)));
  EXPECT_TRUE(is_failure(failure(key)));
  EXPECT_TRUE(is_set_aside(set_aside(made, 1'700'000'000'000'000'000)));
  EXPECT_EQ(published_name(made + ".tmp-123-0123456789abcdef"), made);
}

TEST(StoreNames, OthersNamesAreNot) {
  EXPECT_TRUE(is_entry(kEntry));
  for (const std::string& name :
       {std::string("x.kernel"), kEntry + "~", kEntry + ".bak", "my-" + kEntry, kUnit + ".kernel",
        kUnit + "_" + kCompiler + ".kernel", std::string(32, 'A') + "-" + kCompiler + ".kernel",
        kUnit + "-" + kCompiler + ".kernel.kernel", std::string(".kernel"), std::string()})
    EXPECT_FALSE(is_entry(name)) << name;
  for (const char* name : {"", "a", "abc", "AB", "..", "gh", ".a"}) EXPECT_FALSE(is_shard(name)) << name;
  for (const std::string& name : {std::string("notes.cu"), kUnit, kUnit + ".cu~", kUnit + ".cuh", std::string(".cu")})
    EXPECT_FALSE(is_failure(name)) << name;
  for (const std::string& name : {kEntry, kEntry + "-", kEntry + "-x", kEntry + "-1x", std::string("letter-1")})
    EXPECT_FALSE(is_set_aside(name)) << name;
  for (const char* name : {"", "a", "a.tmp-", "a.tmp-1", "a.tmp-1-2", "a.tmp--0123456789abcdef", ".tmp-backup",
                           "a.tmp-1-0123456789abcdeg", "a.tmp-1-0123456789abcdef.kernel"})
    EXPECT_EQ(published_name(name), "") << name;
}

}  // namespace
}  // namespace hstujit
