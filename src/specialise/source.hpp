// Problem + Config -> the translation unit that NVRTC compiles: about 25 lines that name a Config and ask for one
// entry.
#pragma once

#include "families/family.hpp"

#include <string>
#include <vector>

namespace hstujit {

struct Source {
  std::string name;                  ///< for messages and logs: "attn_fwd_sm80 sm_90a block_m=128 ..."
  std::string header;                ///< "attention/attn_fwd_sm80.cuh", looked up in the kernel sources
  std::string unit;                  ///< the text
  std::string entry;                 ///< name expression, "hstu::attn_fwd_sm80<hstu::Config>"
  std::string target;                ///< "sm_90a", or "compute_90" for PTX
  std::vector<std::string> options;  ///< in canonical order, the target among them
};

/// Pure: equal arguments give equal text on every machine.
Source specialise(const Family& family, const Problem& problem, const Config& config, const DeviceFacts& device);

}  // namespace hstujit
