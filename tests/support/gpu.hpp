// For tests that need a GPU: skip them, visibly, where there is none; device memory; and a kernel from a file of the
// tests.
#pragma once

#include "cuda/driver.hpp"
#include "launch/module.hpp"
#include "launch/tile_counters.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace hstujit::test {

/// Device 0 with its primary context and counters of tiles, kept for the life of the process; null without a device.
struct Gpu {
  const Driver* driver = nullptr;
  CUcontext context = nullptr;
  DeviceFacts facts;
  const TileCounters* tile_counters = nullptr;
};
const Gpu* gpu();

/// Device memory for one test, filled from the host and read back.
class DeviceBuffer {
 public:
  explicit DeviceBuffer(size_t bytes);
  DeviceBuffer(const void* from, size_t bytes) : DeviceBuffer(bytes) { write(from, bytes); }
  ~DeviceBuffer();
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;

  void* data() const { return reinterpret_cast<void*>(address_); }
  size_t bytes() const { return bytes_; }
  void write(const void* from, size_t bytes);
  template <class T>
  std::vector<T> read() const {
    std::vector<T> out(bytes_ / sizeof(T));
    read_bytes(out.data(), out.size() * sizeof(T));
    return out;
  }

 private:
  void read_bytes(void* to, size_t bytes) const;

  CUdeviceptr address_ = 0;
  size_t bytes_ = 0;
};

/// Compiles `entry` of tests/kernels/<header> for the device and loads it, with that much dynamic shared memory.
std::unique_ptr<LoadedKernel> kernel_of_tests(const std::string& header, const std::string& entry, int smem_bytes = 0);

/// Launches it and waits.
void run_check(const LoadedKernel& kernel, const Launch& launch);
/// Runs one block of a check of tests/kernels/<header>, hstu::check::<entry>, which takes two addresses, on `in`, and
/// returns `out_words` words; what it does not write stays 0xffffffff.
std::vector<uint32_t> run_check(const std::string& header, const std::string& entry, std::span<const std::byte> in,
                                size_t out_words, uint32_t threads);

}  // namespace hstujit::test

#define HSTU_NEEDS_GPU() \
  if (!hstujit::test::gpu()) GTEST_SKIP() << "there is no GPU"
