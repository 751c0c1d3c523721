// Device memory with an owner.
#pragma once

#include "cuda/driver.hpp"

#include <cstddef>
#include <memory>
#include <utility>

namespace hstujit {

/// The device's context must be current whenever one is made, copied into or dies.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  /// Zero bytes allocate nothing. Throws Error{OUT_OF_MEMORY}.
  DeviceBuffer(const Driver& driver, size_t bytes, const char* what);
  ~DeviceBuffer();
  DeviceBuffer(DeviceBuffer&& other) noexcept { *this = std::move(other); }
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept;

  CUdeviceptr address() const { return address_; }
  void* data() const { return reinterpret_cast<void*>(address_); }
  size_t bytes() const { return bytes_; }

  void upload(const void* from, size_t bytes) const;
  void download(void* to, size_t bytes) const;

 private:
  const Driver* driver_ = nullptr;
  CUdeviceptr address_ = 0;
  size_t bytes_ = 0;
};

/// Host memory that the device copies to at full speed: page-locked if the driver offers that, else ordinary.
class HostBuffer {
 public:
  HostBuffer() = default;
  HostBuffer(const Driver& driver, size_t bytes);
  ~HostBuffer();
  HostBuffer(HostBuffer&& other) noexcept { *this = std::move(other); }
  HostBuffer& operator=(HostBuffer&& other) noexcept;

  std::byte* data() const { return locked_ ? static_cast<std::byte*>(locked_) : plain_.get(); }
  size_t bytes() const { return bytes_; }

 private:
  using Free = CUresult (*)(void*);
  void* locked_ = nullptr;
  Free free_ = nullptr;
  std::unique_ptr<std::byte[]> plain_;
  size_t bytes_ = 0;
};

}  // namespace hstujit
