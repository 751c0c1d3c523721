// One candidate on the bench: is it right, how long does it take, and when to stop asking.
#pragma once

#include "records/record.hpp"
#include "tuner/bench.hpp"

#include <string>

namespace hstujit {

/// What a trial took, by the configuration's name.
struct TrialCost {
  std::string family, config;
  double compiling = 0, measuring = 0;  ///< seconds, of a core and of the GPU; 0 unknown
};

/// A trial of the candidate with what is known without running it. The kernel may be missing.
Trial blank_trial(const Candidate& candidate, const Problem& problem);

/// Verifies, then measures until the median is settled, a fixed number of repetitions is reached, or the candidate is
/// clearly slower than best_ns (0: nothing to compare with). Fills status and timing; Error of the bench becomes
/// TrialStatus::failed. Returns why the candidate is rejected, "" when it is not.
std::string run_trial(Bench& bench, const Candidate& candidate, int64_t best_ns, Trial& trial);

/// The bench's measure(). Throws Error{TUNING} where a time is none that a kernel can take, as of a timer gone wrong.
Sample measure(Bench& bench, const Candidate& candidate, int repetitions);

/// The measuring half of run_trial(), for a candidate that was verified; may throw the bench's Error and that of
/// measure().
void measure_trial(Bench& bench, const Candidate& candidate, int64_t best_ns, Trial& trial);

}  // namespace hstujit
