#include "tuner/device_buffer.hpp"

#include "cuda/library.hpp"
#include "support/error.hpp"

namespace hstujit {

DeviceBuffer::DeviceBuffer(const Driver& driver, size_t bytes, const char* what) : driver_(&driver), bytes_(bytes) {
  if (bytes == 0) return;
  const CUresult result = driver.cuMemAlloc(&address_, bytes);
  if (result == CUDA_ERROR_OUT_OF_MEMORY)
    fail(HSTU_ERROR_OUT_OF_MEMORY,
         "{}: {} bytes of device memory cannot be had; tuning needs buffers of its own beside the caller's, so tune a "
         "smaller batch, or before the model is loaded",
         what, bytes);
  driver.check(result, what);
}

DeviceBuffer::~DeviceBuffer() {
  if (address_) driver_->cuMemFree(address_);
}

DeviceBuffer& DeviceBuffer::operator=(DeviceBuffer&& other) noexcept {
  std::swap(driver_, other.driver_);
  std::swap(address_, other.address_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

void DeviceBuffer::upload(const void* from, size_t bytes) const {
  if (bytes > 0) driver_->upload(address_, from, bytes);
}

void DeviceBuffer::download(void* to, size_t bytes) const {
  if (bytes > 0) driver_->check(driver_->cuMemcpyDtoH(to, address_, bytes), "copying from the device");
}

HostBuffer::HostBuffer(const Driver& driver, size_t bytes) : bytes_(bytes) {
  CUresult (*allocate)(void**, size_t) = nullptr;
  if (driver.library && bytes > 0) {
    driver.library->find_into(allocate, "cuMemAllocHost_v2");
    driver.library->find_into(free_, "cuMemFreeHost");
  }
  if (!allocate || !free_ || allocate(&locked_, bytes) != CUDA_SUCCESS) {
    locked_ = nullptr;
    plain_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
  }
}

HostBuffer::~HostBuffer() {
  if (locked_) free_(locked_);
}

HostBuffer& HostBuffer::operator=(HostBuffer&& other) noexcept {
  std::swap(locked_, other.locked_);
  std::swap(free_, other.free_);
  std::swap(plain_, other.plain_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

}  // namespace hstujit
