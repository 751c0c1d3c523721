// Opening a driver: what happens without one, with the toolkit's stub, and on the fake one.
#include "cuda/driver.hpp"

#include "support/error.hpp"
#include "support/use_fake_driver.hpp"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <thread>

namespace hstujit {
namespace {

template <class Action>
Error error_of(Action action) {
  try {
    action();
  } catch (const Error& error) { return error; }
  return {HSTU_OK, "nothing was thrown"};
}

TEST(Driver, NamesWhatItLookedForAndTheWayOut) {
  const Error error = error_of([] { open_driver("libcuda-that-is-not-there.so.1"); });
  EXPECT_EQ(error.status(), HSTU_ERROR_DEVICE);
  EXPECT_NE(error.message().find("libcuda-that-is-not-there.so.1"), std::string::npos) << error.message();
  EXPECT_NE(error.message().find("HSTUJIT_LIBCUDA"), std::string::npos) << error.message();
}

TEST(Driver, RecognisesTheToolkitsStub) {
  const std::string stub = "/usr/local/cuda/lib64/stubs/libcuda.so";
  if (!std::filesystem::exists(stub)) GTEST_SKIP() << "no toolkit stub on this machine";
  const Error error = error_of([&] { open_driver(stub); });
  EXPECT_EQ(error.status(), HSTU_ERROR_DEVICE);
  EXPECT_NE(error.message().find("stub"), std::string::npos) << error.message();
}

TEST(Driver, RefusesALibraryThatIsNoDriver) {
  const Error error = error_of([] { open_driver("libm.so.6"); });
  EXPECT_EQ(error.status(), HSTU_ERROR_DEVICE);
  EXPECT_NE(error.message().find("cuGetProcAddress_v2"), std::string::npos) << error.message();
}

class DriverOnFake : public testing::Test {
 protected:
  const fake_driver_controls& fake = test::use_fake_driver();
  const Driver& cuda = driver();

  void SetUp() override {
    fake.reset();
    CUcontext context = nullptr;
    ASSERT_EQ(cuda.cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuda.cuCtxPushCurrent(context), CUDA_SUCCESS);
  }
  void TearDown() override {
    CUcontext context = nullptr;
    cuda.cuCtxPopCurrent(&context);
    cuda.cuDevicePrimaryCtxRelease(0);
    EXPECT_EQ(fake.live_handles(), 0);
    EXPECT_EQ(fake.live_bytes(), 0);
  }

  CUfunction function() {
    CUfunction out = nullptr;
    EXPECT_EQ(cuda.cuModuleLoadData(&module_, "binary"), CUDA_SUCCESS);
    EXPECT_EQ(cuda.cuModuleGetFunction(&out, module_, "entry_name"), CUDA_SUCCESS);
    return out;
  }
  void unload() { cuda.cuModuleUnload(module_); }

  static CUlaunchConfig config(unsigned blocks, unsigned threads, unsigned smem_bytes) {
    CUlaunchConfig out{};
    out.gridDimX = blocks;
    out.gridDimY = out.gridDimZ = 1;
    out.blockDimX = threads;
    out.blockDimY = out.blockDimZ = 1;
    out.sharedMemBytes = smem_bytes;
    return out;
  }

 private:
  CUmodule module_ = nullptr;
};

TEST_F(DriverOnFake, OpensOnceAndRemembersThePath) {
  EXPECT_EQ(&driver(), &cuda);
  EXPECT_EQ(cuda.version, CUDA_VERSION);
  EXPECT_NE(cuda.path.find("fake_driver"), std::string::npos);
}

TEST_F(DriverOnFake, FactsAreThoseOfAnH200) {
  const DeviceFacts facts = device_facts(cuda, 0), expected = *facts_of_target("sm_90a");
  EXPECT_EQ(facts.device_class(), "NVIDIA H200 sm_90a");
  EXPECT_EQ(facts.compute_capability, expected.compute_capability);
  EXPECT_EQ(facts.sm_count, expected.sm_count);
  EXPECT_EQ(facts.smem_per_block, expected.smem_per_block);
  EXPECT_EQ(facts.smem_per_sm, expected.smem_per_sm);
  EXPECT_EQ(facts.registers_per_sm, expected.registers_per_sm);
  EXPECT_EQ(facts.threads_per_sm, expected.threads_per_sm);
  EXPECT_EQ(facts.l2_bytes, expected.l2_bytes);
}

TEST_F(DriverOnFake, FactsFollowTheComputeCapability) {
  fake.set_attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 8);
  fake.set_attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 6);
  EXPECT_EQ(device_facts(cuda, 0).target, "sm_86");
}

TEST_F(DriverOnFake, FactsCanBeThoseOfAnOlderGeneration) {
  const DeviceFacts own = device_facts(cuda, 0), old = limited_to(own, "sm_80");
  EXPECT_EQ(old.device_class(), "NVIDIA H200 as sm_80 sm_90a") << "records of their own, compiled for the device";
  EXPECT_EQ(old.compute_capability, 80);
  EXPECT_EQ(old.smem_per_sm, own.smem_per_sm);
  EXPECT_EQ(limited_to(own, "sm_90a").device_class(), own.device_class());
  const Error error = error_of([&] { limited_to(old, "sm_86"); });
  EXPECT_EQ(error.status(), HSTU_ERROR_INVALID_ARGUMENT);
  EXPECT_NE(error.message().find("compute capability 8.0, kernels of sm_86"), std::string::npos) << error.message();
}

TEST(GpuName, HasANumberAndAGeneration) {
  const auto is = [](std::string_view text, int ordinal, std::string_view generation) {
    const auto name = parse_gpu_name(text);
    return name && name->ordinal == ordinal && name->generation == generation;
  };
  EXPECT_TRUE(is("cuda", 0, ""));
  EXPECT_TRUE(is("cuda:12", 12, ""));
  EXPECT_TRUE(is("cuda@sm_80", 0, "sm_80"));
  EXPECT_TRUE(is("cuda:3@sm_90a", 3, "sm_90a"));
  for (const char* other : {"", "cpu", "cuda:", "cuda:-1", "cuda:1x", "cuda@", "cuda@sm_70", "cuda:@sm_80"})
    EXPECT_FALSE(parse_gpu_name(other)) << other;
}

TEST_F(DriverOnFake, SaysHowManyDevicesThereAre) {
  const Error error = error_of([&] { device_facts(cuda, 3); });
  EXPECT_EQ(error.status(), HSTU_ERROR_DEVICE);
  EXPECT_NE(error.message().find("cuda:3"), std::string::npos) << error.message();
  EXPECT_NE(error.message().find("has 1 CUDA device"), std::string::npos) << error.message();
}

TEST_F(DriverOnFake, CheckNamesCallAndError) {
  fake.fail_calls("cuMemAlloc", CUDA_ERROR_OUT_OF_MEMORY, 1);
  CUdeviceptr memory = 0;
  const Error full = error_of([&] { cuda.check(cuda.cuMemAlloc(&memory, 64), "allocating a buffer"); });
  EXPECT_EQ(full.status(), HSTU_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(full.message(), "allocating a buffer: CUDA_ERROR_OUT_OF_MEMORY (2: the fake driver says so)");
  const Error other = error_of([&] { cuda.check(CUDA_ERROR_INVALID_VALUE, "trying"); });
  EXPECT_EQ(other.status(), HSTU_ERROR_DEVICE);
}

TEST_F(DriverOnFake, MemoryReallyHoldsBytes) {
  CUdeviceptr memory = 0;
  ASSERT_EQ(cuda.cuMemAlloc(&memory, 16), CUDA_SUCCESS);
  ASSERT_EQ(cuda.cuMemsetD32Async(memory, 7, 4, nullptr), CUDA_SUCCESS);
  std::array<int, 4> host{};
  ASSERT_EQ(cuda.cuMemcpyDtoH(host.data(), memory, 16), CUDA_SUCCESS);
  EXPECT_EQ(host, (std::array{7, 7, 7, 7}));
  EXPECT_EQ(fake.live_bytes(), 16);
  ASSERT_EQ(cuda.cuMemFree(memory), CUDA_SUCCESS);
}

TEST_F(DriverOnFake, LaunchIsCountedAndRecorded) {
  const CUfunction kernel = function();
  fake.set_params_bytes(sizeof(int));
  int value = 42;
  void* params[] = {&value};
  const CUlaunchConfig launch = config(5, 128, 1024);
  ASSERT_EQ(cuda.cuLaunchKernelEx(&launch, kernel, params, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(fake.launches(), 1);
  const fake_launch last = fake.last_launch();
  EXPECT_EQ(last.config.gridDimX, 5u);
  EXPECT_STREQ(last.entry, "entry_name");
  EXPECT_EQ(last.params[0], 42);
  unload();
}

TEST_F(DriverOnFake, LaunchBeyondTheOptedInSharedMemoryFails) {
  const CUfunction kernel = function();
  const CUlaunchConfig launch = config(1, 32, 100 * 1024);
  void* params[] = {nullptr};
  EXPECT_EQ(cuda.cuLaunchKernelEx(&launch, kernel, params, nullptr), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuda.cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100 * 1024), CUDA_SUCCESS);
  EXPECT_EQ(cuda.cuLaunchKernelEx(&launch, kernel, params, nullptr), CUDA_SUCCESS);
  unload();
}

TEST_F(DriverOnFake, LaunchCanBeToldToNeedACurrentContext) {
  fake.set_launch_needs_context(1);
  const CUfunction kernel = function();
  const CUlaunchConfig launch = config(1, 32, 0);
  void* params[] = {nullptr};
  CUresult result = CUDA_SUCCESS;
  std::thread([&] { result = cuda.cuLaunchKernelEx(&launch, kernel, params, nullptr); }).join();
  EXPECT_EQ(result, CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(fake.launches(), 0);
  unload();
}

TEST_F(DriverOnFake, HookAdvancesTheClockThatEventsRead) {
  const CUfunction kernel = function();
  fake.set_launch_hook([](const CUlaunchConfig* launch, const char*, void**, void*) { return launch->gridDimX * 2.0; },
                       nullptr);
  CUevent start = nullptr, stop = nullptr;
  ASSERT_EQ(cuda.cuEventCreate(&start, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuda.cuEventCreate(&stop, 0), CUDA_SUCCESS);
  const CUlaunchConfig launch = config(500, 32, 0);
  void* params[] = {nullptr};
  cuda.cuEventRecord(start, nullptr);
  ASSERT_EQ(cuda.cuLaunchKernelEx(&launch, kernel, params, nullptr), CUDA_SUCCESS);
  cuda.cuEventRecord(stop, nullptr);
  float ms = 0;
  ASSERT_EQ(cuda.cuEventElapsedTime(&ms, start, stop), CUDA_SUCCESS);
  EXPECT_FLOAT_EQ(ms, 1.0f);
  cuda.cuEventDestroy(start);
  cuda.cuEventDestroy(stop);
  unload();
}

TEST_F(DriverOnFake, CountsWhatWouldBreakACapture) {
  fake.set_capture_status(CU_STREAM_CAPTURE_STATUS_ACTIVE);
  CUstreamCaptureStatus status{};
  ASSERT_EQ(cuda.cuStreamIsCapturing(nullptr, &status), CUDA_SUCCESS);
  EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
  EXPECT_EQ(fake.calls_unsafe_in_capture(), 0);
  cuda.cuStreamSynchronize(nullptr);
  EXPECT_EQ(fake.calls_unsafe_in_capture(), 1);
  fake.set_capture_status(CU_STREAM_CAPTURE_STATUS_NONE);
}

}  // namespace
}  // namespace hstujit
