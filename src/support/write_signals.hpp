// Writing without the signals that end a process by default: SIGXFSZ, when a file reaches the limit on its size, and
// SIGPIPE, when nobody reads any more. What the signals are for stays the host's: only its thread's mask is changed.
#pragma once

#include <csignal>

namespace hstujit {

/// While one lives, writes of this thread fail with EFBIG and EPIPE and send it no signal. They nest.
class HeldWriteSignals {
 public:
  HeldWriteSignals();
  ~HeldWriteSignals();  ///< leaves errno alone
  HeldWriteSignals(const HeldWriteSignals&) = delete;
  HeldWriteSignals& operator=(const HeldWriteSignals&) = delete;

 private:
  sigset_t mask_before_, ours_;  ///< ours_: those that were not pending when we came
};

}  // namespace hstujit
