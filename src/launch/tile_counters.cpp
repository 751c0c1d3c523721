#include "launch/tile_counters.hpp"

#include "cuda/relaxed_capture.hpp"
#include "tile/tile_counter.h"

namespace hstujit {
namespace {

constexpr size_t kBytes = sizeof(hstu::LaunchMemory);

}  // namespace

TileCounters::TileCounters(const Driver& driver) : driver_(driver), home_(driver) {
  const RelaxedCapture relaxed(driver);
  driver.check(driver.cuMemAlloc(&address_, kBytes), "allocating the counters of tiles");
  try {
    clear();
  } catch (...) {
    release();
    throw;
  }
}

/// On a stream that waits for no other: the legacy stream may not be used while a stream that waits for it captures.
void TileCounters::clear() {
  CUstream stream = nullptr;
  driver_.check(driver_.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "creating a stream");
  const CUresult queued = driver_.cuMemsetD8Async(address_, 0, kBytes, stream);
  const CUresult done = driver_.cuStreamSynchronize(stream);
  driver_.cuStreamDestroy(stream);
  driver_.check(queued != CUDA_SUCCESS ? queued : done, "clearing the counters of tiles");
}

void TileCounters::release() noexcept {
  home_.leave([&] { driver_.cuMemFree(address_); });
}

TileCounters::~TileCounters() { release(); }

}  // namespace hstujit
