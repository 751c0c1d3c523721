// Keeps this thread's own work from disturbing a CUDA graph capture, its own or another thread's: in the modes Global
// and ThreadLocal the driver refuses loading and allocating meanwhile and the capture is lost.
#pragma once

#include "cuda/driver.hpp"

namespace hstujit {

class RelaxedCapture {
 public:
  explicit RelaxedCapture(const Driver& driver) : driver_(driver) {
    driver.check(driver.cuThreadExchangeStreamCaptureMode(&mode_), "leaving other streams' captures alone");
  }
  ~RelaxedCapture() { driver_.cuThreadExchangeStreamCaptureMode(&mode_); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  const Driver& driver_;
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;  ///< while this lives, the thread's mode before
};

}  // namespace hstujit
