// What the numbers of a measurement can be. Records come from files of anybody's and times from a driver: whoever takes
// one of them asks here first, so that nothing else computes with a time that is none.
#pragma once

#include "records/record.hpp"

#include <span>
#include <string>
#include <string_view>

namespace hstujit {

/// A number that is outside of its range, as a message: "median_ns = -1: it must be from 1 to 86400000000000".
using Impossible = std::string;  ///< "" when there is none

/// The numbers of one trial, with those of them that only some statuses have.
struct TrialNumbers {
  Stage stage;
  TrialStatus status;
  Timing timing;
  int32_t sm_mhz, registers, smem_bytes, spill_bytes;
  int64_t at_ms;
};
Impossible impossible(const TrialNumbers& numbers);
Impossible impossible(const Trial& trial);
/// Of a job without its trials, its uid too.
Impossible impossible(const Job& head);
/// Of a record's own beside its trial.
Impossible impossible_standard(int64_t standard_ns);

/// Seconds that a bench gave: finite, more than nothing and at most a day.
Impossible impossible(std::span<const double> seconds);

}  // namespace hstujit
