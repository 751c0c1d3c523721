// Where a context keeps things: one folder, whatever its path looks like and wherever the process goes.
#include "support/nvrtc.hpp"
#include "support/temp_dir.hpp"

#include <hstujit/hstujit.h>

#include <gtest/gtest.h>

#include <filesystem>

namespace hstujit::test {
namespace {

namespace fs = std::filesystem;

class StorePath : public testing::Test {
 protected:
  StorePath() : before_(fs::current_path()) {}
  ~StorePath() override {
    hstu_context_destroy(context_);
    fs::current_path(before_);
  }

  void open(const std::string& store, const char* device = "sm_80") {
    hstu_context_options options{};
    options.struct_size = sizeof options;
    options.device = device;
    options.store_path = store.c_str();
    options.system_store_path = "";
    ASSERT_EQ(hstu_context_create(&context_, &options), HSTU_OK) << hstu_last_error();
  }
  void compile_something() const {
    char data[64] = {};
    hstu_layer_norm_args args{};
    args.struct_size = sizeof args;
    args.x = args.out = hstu_matrix(data, HSTU_DTYPE_BF16, 1, 8);
    ASSERT_EQ(hstu_layer_norm(context_, &args, nullptr), HSTU_OK) << hstu_last_error();
  }

  const fs::path before_;
  TempDir dir_;
  hstu_context* context_ = nullptr;
};

TEST_F(StorePath, MayBeginWithAnyNumberOfSlashes) {
  for (const std::string slashes : {"/", "//"}) {
    const std::string store = slashes + dir_.str() + "/store" + std::to_string(slashes.size());
    open(store, "cpu");
    EXPECT_TRUE(fs::exists(store + "/tuner.db")) << store;
    hstu_context_destroy(context_);
    context_ = nullptr;
  }
}

TEST_F(StorePath, StaysOneFolderWhenTheProcessGoesElsewhere) {
  HSTU_NEEDS_NVRTC();
  fs::create_directory(dir_.path() / "first");
  fs::create_directory(dir_.path() / "second");
  fs::current_path(dir_.path() / "first");
  open("store");
  fs::current_path(dir_.path() / "second");
  compile_something();
  EXPECT_TRUE(fs::exists(dir_.path() / "first/store/tuner.db"));
  EXPECT_TRUE(fs::exists(dir_.path() / "first/store/kernels"));
  EXPECT_TRUE(fs::is_empty(dir_.path() / "second"));
}

TEST_F(StorePath, InAFolderThatIsGoneMeansMemory) {
  fs::create_directory(dir_.path() / "gone");
  fs::current_path(dir_.path() / "gone");
  fs::remove(dir_.path() / "gone");
  open("store", "cpu");
  fs::current_path(dir_.path());
  EXPECT_TRUE(fs::is_empty(dir_.path()));
}

}  // namespace
}  // namespace hstujit::test
