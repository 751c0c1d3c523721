// Recorded spaces as files: every configuration of one problem with its time, for the simulator. A zstd-compressed
// text, "zstdcat FILE" shows it:
//
//   hstujit-space-1
//   source attn_fwd_sm90 for hstu_attention dtype=bf16 ... on NVIDIA H200 sm_90a, driver 13000
//   knobs block_m block_n stages
//   64 64 2 103400          the default configuration: values in the order of the knobs, then nanoseconds
//   64 128 2 -              one that failed
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
};

std::string bytes_of(const NamedSpace& space);

/// Throws Error{STORE} saying what is wrong with bytes that bytes_of() did not write.
NamedSpace space_of_bytes(std::string_view bytes);

}  // namespace hstujit
