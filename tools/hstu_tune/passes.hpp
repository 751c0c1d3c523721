// Passes of a stack from a CUDA graph, one behind another and with rests between, and what they ask of the device.
#pragma once

#include "hstu_tune/report.hpp"
#include "hstu_tune/stopwatch.hpp"

namespace hstujit::tool {

struct Passes {
  double back_to_back_ms = 0, rested_ms = 0;
  std::optional<double> joules, watts;  ///< of a pass, and through a second of them
  int mhz = 0;                          ///< SM clock through that; 0 unknown
  std::string held_back_by;             ///< what limited it; "" nothing, or unknown
};

Passes time_passes(const Driver& driver, const GpuWork& pass, Stopwatch& watch);

/// target: of passes one behind another, in ms. families: of the stack's kernels.
void report_passes(const std::string& name, const Passes& passes, std::optional<double> target,
                   const std::string& rival, const std::vector<std::string>& families, Report& report);

}  // namespace hstujit::tool
