// The counters of tiles: zero, found by the kernels that count, and gone with their owner.
#include "launch/tile_counters.hpp"

#include "launch/module.hpp"
#include "support/error.hpp"
#include "support/moving.hpp"
#include "support/use_fake_driver.hpp"
#include "tile/tile_counter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace hstujit::test {
namespace {

class TileCountersOnFakeGpu : public testing::Test {
 protected:
  void SetUp() override {
    fake_ = &use_fake_driver();
    driver().check(driver().cuDevicePrimaryCtxRetain(&context_, 0), "retaining");
  }

  const fake_driver_controls* fake_ = nullptr;
  CUcontext context_ = nullptr;
};

TEST_F(TileCountersOnFakeGpu, AreZeroAndBreakNoCapture) {
  const CurrentContext current(driver(), context_);
  fake_->set_capture_status(CU_STREAM_CAPTURE_STATUS_ACTIVE);
  const TileCounters counters(driver());
  EXPECT_EQ(fake_->calls_unsafe_in_capture(), 0);
  std::vector<char> bytes(sizeof(hstu::LaunchMemory));
  std::memcpy(bytes.data(), counters.address(), bytes.size());
  EXPECT_TRUE(std::ranges::all_of(bytes, [](char byte) { return byte == 0; }));
}

TEST_F(TileCountersOnFakeGpu, AreFreedWhicheverContextIsCurrent) {
  const int64_t bytes = fake_->live_bytes(), handles = fake_->live_handles();
  std::optional<TileCounters> counters;
  {
    const CurrentContext current(driver(), context_);
    counters.emplace(driver());
  }
  EXPECT_GT(fake_->live_bytes(), bytes);
  counters.reset();
  EXPECT_EQ(fake_->live_bytes(), bytes);
  EXPECT_EQ(fake_->live_handles(), handles);
}

TEST_F(TileCountersOnFakeGpu, LeaveNothingWhenTheyCannotBeCleared) {
  const CurrentContext current(driver(), context_);
  const int64_t bytes = fake_->live_bytes(), handles = fake_->live_handles();
  for (const char* call : {"cuMemAlloc", "cuStreamCreate", "cuMemsetD8Async", "cuStreamSynchronize"}) {
    fake_->fail_calls(call, CUDA_ERROR_OUT_OF_MEMORY, 1);
    EXPECT_THROW(TileCounters{driver()}, Error) << call;
    EXPECT_EQ(fake_->live_bytes(), bytes) << call;
    EXPECT_EQ(fake_->live_handles(), handles) << call;
  }
}

TEST_F(TileCountersOnFakeGpu, AreFoundByTheFamiliesThatCountTiles) {
  const CurrentContext current(driver(), context_);
  const DeviceFacts facts = *facts_of_target("sm_90a");
  void* const counters = &context_;
  int found = 0;
  for (const auto& [op, args] : workload_calls()) {
    const MovableArgs call(*op, address(args));
    for (const Family* family : families_for(call.problem(), facts)) {
      if (!family->tile_counters_at) continue;
      Launch launch{};
      bind(*family, call.prepared(), call.problem(), family->default_config(call.problem(), facts), facts, counters,
           launch);
      void* given = nullptr;
      std::memcpy(&given, launch.params + *family->tile_counters_at, sizeof given);
      EXPECT_EQ(given, counters) << family->name;
      ++found;
    }
  }
  EXPECT_GT(found, 2);
}

}  // namespace
}  // namespace hstujit::test
