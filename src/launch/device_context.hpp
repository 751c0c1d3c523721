// The driver's contexts: a device's primary one, one made current for a scope, and the one that something was made in.
#pragma once

#include "cuda/driver.hpp"

#include <cuda.h>

namespace hstujit {

/// A device's primary context, alive as long as this. What is loaded or allocated in it must be gone by then.
class PrimaryContext {
 public:
  /// Throws Error{DEVICE}.
  PrimaryContext(const Driver& driver, int ordinal);
  ~PrimaryContext();
  PrimaryContext(const PrimaryContext&) = delete;
  PrimaryContext& operator=(const PrimaryContext&) = delete;
  CUcontext get() const { return context_; }

 private:
  const Driver& driver_;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
};

/// Makes a context current for one scope, and the caller's own current again afterwards.
class CurrentContext {
 public:
  CurrentContext(const Driver& driver, CUcontext context);
  ~CurrentContext();
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;

 private:
  const Driver& driver_;
};

/// The context in which something was made, for giving it back from a thread that may have another or none.
class HomeContext {
 public:
  /// The thread's current context. Throws Error{DEVICE}.
  explicit HomeContext(const Driver& driver);

  /// Calls give_back() with this context current; breaks no capture. Unchecked, and without the call when the context
  /// is gone: when a process ends, the driver may end first.
  template <class GiveBack>
  void leave(const GiveBack& give_back) const noexcept {
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    driver_.cuThreadExchangeStreamCaptureMode(&mode);
    if (driver_.cuCtxPushCurrent(context_) == CUDA_SUCCESS) {
      give_back();
      CUcontext popped = nullptr;
      driver_.cuCtxPopCurrent(&popped);
    }
    driver_.cuThreadExchangeStreamCaptureMode(&mode);
  }

 private:
  const Driver& driver_;
  CUcontext context_ = nullptr;
};

}  // namespace hstujit
