// Recorded spaces as files: every configuration of one problem with its time, for the simulator. A zstd-compressed
// text, "zstdcat FILE" shows it:
//
//   hstujit-space-2
//   source attn_fwd_sm90 for hstu_attention dtype=bf16 ... on NVIDIA H200 sm_90a, driver 13000
//   clock NVRTC 13.0 on an Intel Xeon at 2.2 GHz, seconds of one core; trials on NVIDIA H200
//   knobs block_m block_n stages
//   64 64 2 103400 512000 41000   the default configuration: values in the order of the knobs, then nanoseconds, then
//                                 microseconds of compiling and of the trial
//   64 128 2 - 840000 -           one that failed; what is not known is a dash, too
//
// hstujit-space-1 has neither the line "clock" nor the last two columns.
#pragma once

#include "tuner/simulator.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace hstujit {

struct NamedSpace {
  std::string source;  ///< one line: what was measured, where
  std::vector<std::string> knobs;
  RecordedSpace recorded;
  /// One line: on what compilations and trials took the time that recorded.trials has; "" when it has none.
  std::string clock = {};
};

std::string bytes_of(const NamedSpace& space);

/// Throws Error{STORE} saying what is wrong with bytes that bytes_of() did not write.
NamedSpace space_of_bytes(std::string_view bytes);

}  // namespace hstujit
