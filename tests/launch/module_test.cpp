// Loaded kernels: in the context that was current, and gone from it whichever is current then.
#include "launch/module.hpp"

#include "support/error.hpp"
#include "support/use_fake_driver.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace hstujit::test {
namespace {

constexpr int kSmemBytes = 100 * 1024;

class LoadedKernelOnFakeGpu : public testing::Test {
 protected:
  void SetUp() override {
    fake_ = &use_fake_driver();
    fake_->set_device_count(2);
    for (int device = 0; device < 2; ++device) primary_[device].emplace(driver(), device);
    handles_ = fake_->live_handles();
    kernel_.name = kernel_.entry = "entry";
    kernel_.binary = "binary";
  }

  const fake_driver_controls* fake_ = nullptr;
  std::optional<PrimaryContext> primary_[2];
  int64_t handles_ = 0;
  CompiledKernel kernel_;
};

TEST_F(LoadedKernelOnFakeGpu, IsUnloadedWhicheverContextIsCurrent) {
  std::optional<LoadedKernel> none, other;
  for (std::optional<LoadedKernel>* kernel : {&none, &other}) {
    const CurrentContext current(driver(), primary_[0]->get());
    kernel->emplace(driver(), kernel_, kSmemBytes);
  }
  EXPECT_EQ(fake_->live_handles(), handles_ + 2);
  none.reset();
  EXPECT_EQ(fake_->live_handles(), handles_ + 1);
  const CurrentContext current(driver(), primary_[1]->get());
  other.reset();
  EXPECT_EQ(fake_->live_handles(), handles_);
}

TEST_F(LoadedKernelOnFakeGpu, UnloadingBreaksNoCapture) {
  const CurrentContext current(driver(), primary_[0]->get());
  std::optional<LoadedKernel> kernel;
  kernel.emplace(driver(), kernel_, kSmemBytes);
  fake_->set_capture_status(CU_STREAM_CAPTURE_STATUS_ACTIVE);
  kernel.reset();
  EXPECT_EQ(fake_->calls_unsafe_in_capture(), 0);
}

TEST_F(LoadedKernelOnFakeGpu, LeavesNothingWhenItCannotBeLoaded) {
  const CurrentContext current(driver(), primary_[0]->get());
  for (const char* call : {"cuModuleLoadData", "cuModuleGetFunction", "cuFuncSetAttribute"}) {
    fake_->fail_calls(call, CUDA_ERROR_OUT_OF_MEMORY, 1);
    EXPECT_THROW((LoadedKernel{driver(), kernel_, kSmemBytes}), Error) << call;
    EXPECT_EQ(fake_->live_handles(), handles_) << call;
  }
}

TEST_F(LoadedKernelOnFakeGpu, NeedsNoUnloadingOnceItsContextIsGone) {
  std::optional<LoadedKernel> kernel;
  {
    const CurrentContext current(driver(), primary_[1]->get());
    kernel.emplace(driver(), kernel_, kSmemBytes);
  }
  primary_[1].reset();  // nobody else holds this one
  const int64_t unloads = fake_->calls("cuModuleUnload");
  kernel.reset();
  EXPECT_EQ(fake_->calls("cuModuleUnload"), unloads);
}

}  // namespace
}  // namespace hstujit::test
