// The border without a GPU: options, statuses, messages, introspection, and contexts that compile for a named target.
#include "call/recent_calls.hpp"
#include "jit/pack.hpp"
#include "support/files.hpp"
#include "support/scoped_env.hpp"
#include "support/temp_dir.hpp"

#include <hstujit/hstujit.h>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <filesystem>
#include <set>
#include <string>
#include <thread>

namespace hstujit {
namespace {

hstu_context_options options_for(const char* device) {
  hstu_context_options options{};
  options.struct_size = sizeof options;
  options.device = device;
  options.store_path = "";
  options.system_store_path = "";
  return options;
}

/// Creates and destroys; returns the status.
hstu_status status_of(const hstu_context_options& options) {
  hstu_context* context = nullptr;
  const hstu_status status = hstu_context_create(&context, &options);
  EXPECT_EQ(context == nullptr, status != HSTU_OK);
  hstu_context_destroy(context);
  return status;
}

bool last_error_names(const char* word) { return std::strstr(hstu_last_error(), word) != nullptr; }

TEST(CApi, EveryStatusHasItsName) {
  EXPECT_STREQ(hstu_status_name(HSTU_OK), "HSTU_OK");
  EXPECT_STREQ(hstu_status_name(HSTU_ERROR_COMPILE), "HSTU_ERROR_COMPILE");
  EXPECT_STREQ(hstu_status_name(static_cast<hstu_status>(15)), "HSTU_STATUS_UNKNOWN");
}

TEST(CApi, ListsItsOperators) {
  const int32_t count = hstu_operator_count();
  ASSERT_GE(count, 4);
  EXPECT_STREQ(hstu_operator_name(0), "layer_norm");
  EXPECT_STREQ(hstu_operator_name(2), "attention");
  EXPECT_EQ(hstu_operator_name(-1), nullptr);
  EXPECT_NE(hstu_operator_name(count - 1), nullptr);
  EXPECT_EQ(hstu_operator_name(count), nullptr);
}

TEST(CApi, NullPointersAreNamed) {
  hstu_context* context = nullptr;
  const hstu_context_options options = options_for("cpu");
  EXPECT_EQ(hstu_context_create(nullptr, &options), HSTU_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(last_error_names("out")) << hstu_last_error();
  ASSERT_EQ(hstu_context_create(&context, &options), HSTU_OK) << hstu_last_error();
  const hstu_addmm_args args{};
  EXPECT_EQ(hstu_addmm(nullptr, &args, nullptr), HSTU_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(last_error_names("context")) << hstu_last_error();
  EXPECT_EQ(hstu_layer_norm(context, nullptr, nullptr), HSTU_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hstu_addmm(context, nullptr, nullptr), HSTU_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hstu_attention(context, nullptr, nullptr), HSTU_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hstu_norm_mul(context, nullptr, nullptr), HSTU_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(last_error_names("args")) << hstu_last_error();
  EXPECT_EQ(hstu_context_counters(context, nullptr), HSTU_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hstu_context_set_miss_policy(nullptr, HSTU_MISS_FAIL), HSTU_ERROR_INVALID_ARGUMENT);
  hstu_context_destroy(context);
  hstu_context_destroy(nullptr);
}

TEST(CApi, AStructOfAnotherSizeIsRefused) {
  hstu_context_options options = options_for("cpu");
  options.struct_size = 8;
  EXPECT_EQ(status_of(options), HSTU_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(last_error_names("struct_size")) << hstu_last_error();
}

TEST(CApi, StrictStoresAreWhereNobodyElseCanWrite) {
  const test::TempDir folder;
  std::filesystem::permissions(folder.path(), std::filesystem::perms::all);
  const std::string path = folder.str();
  for (const bool system : {false, true}) {
    hstu_context_options options = options_for("cpu");
    (system ? options.system_store_path : options.store_path) = path.c_str();
    EXPECT_EQ(status_of(options), HSTU_OK) << hstu_last_error();
    options.strict_store = 1;
    EXPECT_EQ(status_of(options), HSTU_ERROR_STORE);
    EXPECT_TRUE(last_error_names("strict_store")) << hstu_last_error();
    std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_all);
    EXPECT_EQ(status_of(options), HSTU_OK) << hstu_last_error();
    std::filesystem::permissions(folder.path(), std::filesystem::perms::all);
  }
}

TEST(CApi, ADefaultStoreThatOthersMayWriteToIsLeftOut) {
  const test::TempDir folder;
  const test::ScopedEnv store("HSTUJIT_STORE", nullptr), cache("XDG_CACHE_HOME", folder.str().c_str());
  hstu_context_options options = options_for("cpu");
  options.store_path = nullptr;
  EXPECT_EQ(status_of(options), HSTU_OK) << hstu_last_error();
  const auto inside = folder.path() / "hstujit";
  EXPECT_EQ(std::filesystem::status(inside).permissions(), std::filesystem::perms::owner_all);
  EXPECT_TRUE(std::filesystem::exists(inside / "tuner.db"));
  std::filesystem::remove(inside / "tuner.db");
  std::filesystem::permissions(inside, std::filesystem::perms::all);
  EXPECT_EQ(status_of(options), HSTU_OK) << hstu_last_error();
  EXPECT_FALSE(std::filesystem::exists(inside / "tuner.db"));
}

TEST(CApi, APackWhoseRecordsCannotBeReadIsLeftOut) {
  const test::TempDir folder;
  const std::string path = folder.str() + "/pack";
  for (const bool unpacks : {true, false}) {
    std::string bytes = PackBuilder().finish("no records");
    if (!unpacks) {  // of another size than it says, by a header that is sound
      const uint64_t size = 5;
      std::memcpy(bytes.data() + 32, &size, sizeof size);
      const uint64_t hash = hash64(bytes.data(), 56);
      std::memcpy(bytes.data() + 56, &hash, sizeof hash);
    }
    ASSERT_EQ(publish_file(path, bytes), 0);
    hstu_context_options options = options_for("cpu");
    options.system_store_path = path.c_str();
    EXPECT_EQ(status_of(options), HSTU_OK) << hstu_last_error();
  }
}

TEST(CApi, MessagesHaveNoControlCharactersOfOthers) {
  EXPECT_EQ(status_of(options_for("\x1b[2J")), HSTU_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(last_error_names("\\x1b[2J")) << hstu_last_error();
}

TEST(CApi, UnknownDevicesAndPoliciesAreRefused) {
  for (const char* device : {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", "cuda@", "cuda:0@sm_70",
                             "cuda@sm_80@sm_80", "@sm_80", "cpu@sm_80", "sm_70", "CPU"}) {
    EXPECT_EQ(status_of(options_for(device)), HSTU_ERROR_INVALID_ARGUMENT) << device;
    EXPECT_TRUE(last_error_names("device")) << hstu_last_error();
  }
  hstu_context_options options = options_for("cpu");
  const int unknown_policy = 17;
  std::memcpy(&options.miss_policy, &unknown_policy, sizeof unknown_policy);
  EXPECT_EQ(status_of(options), HSTU_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(last_error_names("miss_policy")) << hstu_last_error();
  options = options_for("cpu");
  options.tune_budget_ms = -1;
  EXPECT_EQ(status_of(options), HSTU_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(last_error_names("tune_budget_ms")) << hstu_last_error();
}

TEST(CApi, AnUnknownLogLevelIsRefused) {
  setenv("HSTUJIT_LOG", "chatty", 1);
  EXPECT_EQ(status_of(options_for("cpu")), HSTU_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(last_error_names("HSTUJIT_LOG")) << hstu_last_error();
  unsetenv("HSTUJIT_LOG");
  EXPECT_EQ(status_of(options_for("cpu")), HSTU_OK) << hstu_last_error();
}

TEST(CApi, EachThreadHasItsOwnLastError) {
  EXPECT_EQ(status_of(options_for("nowhere")), HSTU_ERROR_INVALID_ARGUMENT);
  const std::string mine = hstu_last_error();
  std::thread([] { EXPECT_STREQ(hstu_last_error(), ""); }).join();
  EXPECT_EQ(mine, hstu_last_error());
}

TEST(CApi, ANamedTargetCompilesWithoutADevice) {
  for (const char* target : {"sm_80", "sm_86", "sm_89", "sm_90a"}) {
    const hstu_context_options options = options_for(target);
    hstu_context* context = nullptr;
    ASSERT_EQ(hstu_context_create(&context, &options), HSTU_OK) << hstu_last_error();
    alignas(16) static float x[256];
    hstu_layer_norm_args args{};
    args.struct_size = sizeof args;
    args.x = hstu_matrix(x, HSTU_DTYPE_BF16, 4, 64);
    args.out = hstu_matrix(x, HSTU_DTYPE_BF16, 4, 64);
    EXPECT_EQ(hstu_layer_norm(context, &args, nullptr), HSTU_OK) << hstu_last_error();
    hstu_counters counters{};
    counters.struct_size = sizeof counters;
    ASSERT_EQ(hstu_context_counters(context, &counters), HSTU_OK);
    EXPECT_EQ(counters.compiles, 1);
    EXPECT_EQ(counters.default_plans, 1);
    hstu_context_destroy(context);
  }
}

TEST(CApi, AThreadRemembersNothingOfCallsOnTheCpu) {
  const hstu_context_options options = options_for("cpu");
  hstu_context* context = nullptr;
  ASSERT_EQ(hstu_context_create(&context, &options), HSTU_OK) << hstu_last_error();
  std::thread([&] {
    float x[4] = {1, 2, 3, 4};
    hstu_layer_norm_args args{};
    args.struct_size = sizeof args;
    args.x = args.out = hstu_matrix(x, HSTU_DTYPE_F32, 1, 4);
    for (int i = 0; i < 3; ++i) ASSERT_EQ(hstu_layer_norm(context, &args, nullptr), HSTU_OK) << hstu_last_error();
    EXPECT_EQ(RecentCalls::known(), nullptr);
  }).join();
  hstu_context_destroy(context);
}

TEST(CApi, CpuRunsInPlace) {
  const hstu_context_options options = options_for("cpu");
  hstu_context* context = nullptr;
  ASSERT_EQ(hstu_context_create(&context, &options), HSTU_OK) << hstu_last_error();
  float x[4] = {1, 2, 3, 4};
  hstu_layer_norm_args args{};
  args.struct_size = sizeof args;
  args.x = args.out = hstu_matrix(x, HSTU_DTYPE_F32, 1, 4);
  ASSERT_EQ(hstu_layer_norm(context, &args, nullptr), HSTU_OK) << hstu_last_error();
  EXPECT_NEAR(x[0], -1.3416354, 1e-5);
  EXPECT_NEAR(x[3], 1.3416354, 1e-5);
  hstu_context_destroy(context);
}

/// A gradient's struct begins with its forward's, whose size comes first.
TEST(RecentCall, IsToldFromOthersByTheTensorsOfTheForwardItBeginsWith) {
  auto args = sized<hstu_layer_norm_backward_args>();
  const auto mark = [&] { return RecentCall::mark_of(Op::layer_norm_backward, &args, sizeof args); };
  std::set<uint64_t> marks = {mark()};
  hstu_tensor* const first[] = {&args.forward.x, &args.forward.weight, &args.forward.bias};
  for (uintptr_t i = 0; i < 3; ++i) {
    first[i]->data = reinterpret_cast<void*>((i + 1) << 20);
    marks.insert(mark());
  }
  EXPECT_EQ(marks.size(), 4u);
}

}  // namespace
}  // namespace hstujit
