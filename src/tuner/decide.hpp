// Trials -> record: which configuration a job, or several jobs of one problem, speak for. Pure functions of the trials,
// so that merging databases in any order gives the same winners.
#pragma once

#include "tuner/record.hpp"

#include <optional>
#include <span>
#include <vector>

namespace hstujit {

/// Two medians closer than twice this share are a tie.
constexpr double kTieFloor = 0.0025;

/// The order among equally fast configurations, the same on every machine: less shared memory, fewer registers, then
/// knob values from first to last, then family.
bool preferred(const Trial& a, const Trial& b);

/// The winner of one job, from its finals if it got that far: the default, unless something is faster beyond noise.
/// Nothing when the default was not measured.
std::optional<Record> decide(const Job& job);

/// The winner of the newest finished job of one problem and device class; of the newest unfinished one if there is no
/// other.
std::optional<Record> decide(std::span<const Job> jobs);

/// The trials that decide() looks at.
std::vector<Trial> deciding_trials(const Job& job);

}  // namespace hstujit
