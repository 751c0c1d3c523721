#include "workload/memory.hpp"

#include "launch/device_context.hpp"
#include "support/error.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace hstujit {
namespace {

constexpr size_t kAlignment = 256;

size_t rounded(size_t bytes) { return (bytes / kAlignment + 1) * kAlignment; }

class HostMemory final : public Memory {
 public:
  ~HostMemory() override {
    for (void* block : blocks_) std::free(block);
  }

  void* allocate(size_t bytes) override {
    blocks_.push_back(nullptr);
    blocks_.back() = std::aligned_alloc(kAlignment, rounded(bytes));
    if (!blocks_.back()) fail(HSTU_ERROR_OUT_OF_MEMORY, "{} bytes of host memory cannot be had", bytes);
    return blocks_.back();
  }
  void upload(void* to, const void* from, size_t bytes) override { copy(to, from, bytes); }
  void download(void* to, const void* from, size_t bytes) override { copy(to, from, bytes); }
  void copy(void* to, const void* from, size_t bytes) override {
    if (bytes > 0) std::memcpy(to, from, bytes);
  }
  void synchronise() override {}

 private:
  std::vector<void*> blocks_;
};

CUdeviceptr device_pointer(const void* data) { return reinterpret_cast<CUdeviceptr>(data); }

class GpuMemory final : public Memory {
 public:
  GpuMemory(const Driver& driver, int ordinal) : driver_(driver), primary_(driver, ordinal) {}
  ~GpuMemory() override {
    if (driver_.cuCtxPushCurrent(primary_.get()) == CUDA_SUCCESS) {
      for (const CUdeviceptr block : blocks_) driver_.cuMemFree(block);
      CUcontext popped = nullptr;
      driver_.cuCtxPopCurrent(&popped);
    }
  }

  void* allocate(size_t bytes) override {
    const CurrentContext current(driver_, primary_.get());
    blocks_.reserve(blocks_.size() + 1);
    CUdeviceptr block = 0;
    // No more than asked for: compute-sanitizer then sees one element too far. The driver aligns to 256 and more.
    const CUresult result = driver_.cuMemAlloc(&block, std::max(bytes, size_t{1}));
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
      fail(HSTU_ERROR_OUT_OF_MEMORY, "{} bytes of device memory cannot be had; use a smaller workload", bytes);
    driver_.check(result, "allocating device memory");
    blocks_.push_back(block);
    return reinterpret_cast<void*>(block);
  }
  void upload(void* to, const void* from, size_t bytes) override {
    const CurrentContext current(driver_, primary_.get());
    driver_.upload(device_pointer(to), from, bytes);
  }
  void download(void* to, const void* from, size_t bytes) override {
    const CurrentContext current(driver_, primary_.get());
    driver_.check(driver_.cuMemcpyDtoH(to, device_pointer(from), bytes), "copying from the device");
  }
  void copy(void* to, const void* from, size_t bytes) override {
    const CurrentContext current(driver_, primary_.get());
    driver_.check(driver_.cuMemcpyDtoDAsync(device_pointer(to), device_pointer(from), bytes, nullptr),
                  "copying within the device");
  }
  void synchronise() override {
    const CurrentContext current(driver_, primary_.get());
    driver_.check(driver_.cuStreamSynchronize(nullptr), "waiting for the device");
  }

 private:
  const Driver& driver_;
  const PrimaryContext primary_;
  std::vector<CUdeviceptr> blocks_;
};

}  // namespace

std::unique_ptr<Memory> host_memory() { return std::make_unique<HostMemory>(); }

std::unique_ptr<Memory> gpu_memory(const Driver& driver, int ordinal) {
  return std::make_unique<GpuMemory>(driver, ordinal);
}

}  // namespace hstujit
