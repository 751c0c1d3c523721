// Buffers on a device: the same on host memory and, through the fake driver, on a GPU.
#include "workload/memory.hpp"

#include "support/error.hpp"
#include "support/use_fake_driver.hpp"
#include "workload/stack.hpp"

#include <gtest/gtest.h>

namespace hstujit {
namespace {

class MemoryOnGpu : public testing::Test {
 protected:
  const fake_driver_controls& fake_ = test::use_fake_driver();
};

void copies_there_and_back(Memory& memory) {
  const std::vector<int> sent = {1, 2, 3, 4};
  std::vector<int> received(4);
  auto* data = static_cast<int*>(memory.allocate(sizeof(int) * 8));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % 256, 0u);
  memory.upload(data, sent.data(), sizeof(int) * 4);
  memory.copy(data + 4, data, sizeof(int) * 4);
  memory.synchronise();
  memory.download(received.data(), data + 4, sizeof(int) * 4);
  EXPECT_EQ(received, sent);
  EXPECT_NE(memory.allocate(0), nullptr);
}

TEST(MemoryOnHost, CopiesThereAndBack) { copies_there_and_back(*host_memory()); }

TEST_F(MemoryOnGpu, CopiesThereAndBack) { copies_there_and_back(*gpu_memory(driver(), 0)); }

TEST_F(MemoryOnGpu, GivesEverythingBack) {
  const int64_t bytes = fake_.live_bytes(), handles = fake_.live_handles();
  {
    const auto memory = gpu_memory(driver(), 0);
    memory->allocate(1000);
    memory->allocate(5000);
    EXPECT_GT(fake_.live_bytes(), bytes);
  }
  EXPECT_EQ(fake_.live_bytes(), bytes);
  EXPECT_EQ(fake_.live_handles(), handles);
}

TEST_F(MemoryOnGpu, LeavesTheCallersContextAlone) {
  const auto memory = gpu_memory(driver(), 0);
  CUcontext current = nullptr;
  memory->allocate(16);
  ASSERT_EQ(driver().cuCtxGetCurrent(&current), CUDA_SUCCESS);
  EXPECT_EQ(current, nullptr);
}

TEST_F(MemoryOnGpu, TellsWhenMemoryRunsOut) {
  const auto memory = gpu_memory(driver(), 0);
  fake_.fail_calls("cuMemAlloc", CUDA_ERROR_OUT_OF_MEMORY, 1);
  try {
    memory->allocate(123);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), HSTU_ERROR_OUT_OF_MEMORY);
    EXPECT_NE(error.message().find("123 bytes of device memory"), std::string::npos) << error.message();
  }
  EXPECT_NE(memory->allocate(123), nullptr) << "the next one may fit";
}

TEST_F(MemoryOnGpu, StackFillsBuffersAsOnTheHost) {
  Calls calls;
  calls.buffers.push_back({"x", HSTU_DTYPE_F16, 1'500'000, Buffer::Content::random, 0, 1, {}});
  calls.buffers.push_back({"empty", HSTU_DTYPE_F32, 0, Buffer::Content::random, 0, 1, {}});
  const auto gpu = gpu_memory(driver(), 0), host = host_memory();
  const Stack on_gpu(calls, *gpu, 4), on_host(calls, *host, 4);
  EXPECT_EQ(on_gpu.read("x"), on_host.read("x"));
  EXPECT_TRUE(on_gpu.read("empty").empty());
}

}  // namespace
}  // namespace hstujit
