// The memory in which the blocks of a launch count the tiles they take (kernels/tile/tile_counter.cuh), and post sums
// for each other (kernels/jagged/runs/launch_board.cuh). Launches, and graphs that captured them, have its address: it
// is there before a context's first launch, and as long as its kernels.
#pragma once

#include "cuda/driver.hpp"
#include "launch/device_context.hpp"

#include <cuda.h>

namespace hstujit {

class TileCounters {
 public:
  /// In the device memory of the thread's current context, zero when this returns. Breaks no capture. Throws Error.
  explicit TileCounters(const Driver& driver);
  /// Waits for the launches that use it; any context may be current.
  ~TileCounters();
  TileCounters(const TileCounters&) = delete;
  TileCounters& operator=(const TileCounters&) = delete;

  void* address() const { return reinterpret_cast<void*>(address_); }

 private:
  void clear();
  void release() noexcept;

  const Driver& driver_;
  const HomeContext home_;
  CUdeviceptr address_ = 0;
};

}  // namespace hstujit
