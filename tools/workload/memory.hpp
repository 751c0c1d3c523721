// Buffers on the device that a context computes on: host memory for "cpu", the driver's for a GPU. What is allocated
// lives as long as the object.
#pragma once

#include "cuda/driver.hpp"

#include <cstddef>
#include <memory>
#include <string_view>

namespace hstujit {

class Memory {
 public:
  virtual ~Memory() = default;

  /// At least `bytes` (0 is allowed), aligned to 256, contents undefined. Throws Error{OUT_OF_MEMORY}.
  virtual void* allocate(size_t bytes) = 0;
  virtual void upload(void* to, const void* from, size_t bytes) = 0;
  virtual void download(void* to, const void* from, size_t bytes) = 0;
  /// Within the device; to and from do not overlap.
  virtual void copy(void* to, const void* from, size_t bytes) = 0;
  /// Waits for all work of the device's legacy stream and of copies.
  virtual void synchronise() = 0;
};

std::unique_ptr<Memory> host_memory();
/// Uses the device's primary context, and leaves the caller's current context as it is.
std::unique_ptr<Memory> gpu_memory(const Driver& driver, int ordinal);

}  // namespace hstujit
