// Trials -> record: which configuration a job, or several jobs of one problem, speak for. Pure functions of the trials,
// so that merging databases in any order gives the same winners.
#pragma once

#include "records/record.hpp"

#include <optional>
#include <span>
#include <vector>

namespace hstujit {

/// Two medians closer than twice this share are a tie.
constexpr double kTieFloor = 0.0025;
/// The default, and what won before, stay where they are closer than twice this share to the best. Two GPUs of one
/// model and host, tuned apart, differ by 1 to 2 % in what such a difference is: less is no reason to leave what every
/// GPU starts from, or tuning elsewhere, or again, would decide otherwise.
constexpr double kStayFloor = 0.01;

/// The order among equally fast configurations, the same on every machine: less shared memory, fewer registers, then
/// knob values from first to last, then family.
bool preferred(const Trial& a, const Trial& b);

/// The winner of one job on its own, from its finals if it got that far: the default, unless something is clearly
/// faster. Nothing when the default was not measured.
std::optional<Record> decide(const Job& job);

/// The winner of all jobs of one problem and device class: the newest finished one speaks, and what won in the one
/// before, under the same circumstances, stays unless it is clearly beaten. The newest unfinished one speaks if there
/// is no other.
std::optional<Record> decide(std::span<const Job> jobs);

/// The jobs that are enough to decide alike: the one that speaks and, if that is another, the one before it since which
/// its winner has won. Oldest first; empty when nothing is decided.
std::vector<const Job*> deciding_jobs(std::span<const Job> jobs);

/// The trials that decide() looks at.
std::vector<Trial> deciding_trials(const Job& job);

}  // namespace hstujit
