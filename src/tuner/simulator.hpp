// Runs a strategy on a space whose times are all known: how good strategies are is a question of arithmetic, not of
// GPUs.
#pragma once

#include "records/record.hpp"
#include "tuner/search.hpp"
#include "tuner/trial_run.hpp"

#include <functional>
#include <optional>
#include <vector>

namespace hstujit {

/// What trying a point took, beside the time that it was tried for; nothing where nobody recorded it.
struct TrialSeconds {
  std::optional<double> compiling;  ///< of one core
  std::optional<double> measuring;  ///< of the GPU: verified and timed
};

/// Every point's time in seconds; nothing for a point that fails.
struct RecordedSpace {
  Space space;
  std::vector<std::optional<double>> seconds;  ///< by index in space.points()
  std::vector<TrialSeconds> trials;            ///< likewise; empty: nothing was recorded

  RecordedSpace(Space points, const std::function<std::optional<double>(const Config&)>& time);
  double best() const;
};

/// The space that an exhaustive job measured: knob values are those that occur in its trials of the family, whose
/// default configuration is `standard`. Nothing when it has no trial of that.
std::optional<RecordedSpace> recorded_space(const Job& job, const Family& family, const Config& standard);

/// Says what the trials of the space took that are among these.
void add_trial_seconds(RecordedSpace& recorded, const Family& family, const std::vector<TrialCost>& costs);

/// best() / time of the best point found, after each evaluation; 0 while nothing ran. Failures count as evaluations.
/// Ends after `evaluations` or when the search does.
std::vector<double> simulate(Search& search, const RecordedSpace& recorded, size_t evaluations);

/// Share of the optimum reached after `evaluations`, one number per seed 0 ... seeds-1, sorted.
std::vector<double> simulate_seeds(std::string_view strategy, const RecordedSpace& recorded, size_t evaluations,
                                   int seeds);

}  // namespace hstujit
