// The final of a tuning run: what cannot be told apart from the best is measured again, in turns, so that drifting
// clocks and neighbours on the machine hit all alike. The default is always among the finalists.
#pragma once

#include "records/record.hpp"
#include "tuner/bench.hpp"

#include <functional>
#include <vector>

namespace hstujit {

/// Of the trials of a search: the default, what won before (null: nothing did), the best, and what is within noise of
/// it, fastest first, not too many.
std::vector<Trial> finalists_of(const std::vector<Trial>& trials, const Trial* before);

/// Measures the candidates in turns; trials (one per candidate, as the search left them) come back with the stage, time
/// and spread of the finals. enough(rounds) is asked after each round and ends it. A candidate whose launch fails now
/// is left out. Empty when it ended before two rounds were complete.
std::vector<Trial> run_finals(Bench& bench, const std::vector<Candidate>& candidates, std::vector<Trial> trials,
                              const std::function<bool(int rounds)>& enough);

}  // namespace hstujit
