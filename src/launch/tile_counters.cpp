#include "launch/tile_counters.hpp"

#include "cuda/relaxed_capture.hpp"
#include "params/tile_counter.h"

namespace hstujit {
namespace {

constexpr size_t kBytes = (hstu::kTileCounters + hstu::kSpareTileCounters) * sizeof(hstu::TileCounter);

}  // namespace

TileCounters::TileCounters(const Driver& driver) : driver_(driver) {
  const RelaxedCapture relaxed(driver);
  driver.check(driver.cuCtxGetCurrent(&context_), "asking for the current context");
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

/// Unchecked: when a process ends, the driver may end first.
void TileCounters::release() noexcept {
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  driver_.cuThreadExchangeStreamCaptureMode(&mode);
  if (driver_.cuCtxPushCurrent(context_) == CUDA_SUCCESS) {
    driver_.cuMemFree(address_);
    driver_.cuCtxPopCurrent(&context_);
  }
  driver_.cuThreadExchangeStreamCaptureMode(&mode);
}

TileCounters::~TileCounters() { release(); }

}  // namespace hstujit
