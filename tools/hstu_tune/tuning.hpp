// Tunes the problems of a workload on a GPU, showing how far it is.
#pragma once

#include "hstu_tune/command.hpp"
#include "tuner/tune.hpp"

#include <string>
#include <vector>

namespace hstujit::tool {

struct TuningOptions {
  double budget_s = 60;       ///< for all problems together
  bool only_missing = false;  ///< leave problems alone that have a record of any age
  bool again = false;         ///< measure anew what was tuned under the same circumstances
  double until = 0;           ///< see TuneOptions::until
  bool by_time = false;       ///< a problem's gain counts for the time that the traffic spends in it, and for no more
  Width width = Width::usual;
  uint64_t seed = 1;
  std::string strategy;  ///< "": by the size of the space
};

/// What became of one problem.
struct Tuned {
  const Need* need = nullptr;
  std::optional<TuneResult> result;  ///< absent: it had a record, or it failed
  std::string error;
};

struct TuningOutcome {
  std::vector<Tuned> problems;
  bool interrupted = false;  ///< some problems may be missing

  int measured() const;  ///< configurations, over all problems
  bool failed() const;
  int out_of_time() const;  ///< problems that the budget did not suffice for
};

/// All problems share the budget, which goes where gain is expected: see tuner/tune.hpp. Ctrl-C ends it early and keeps
/// what was measured.
TuningOutcome tune_all(Context& context, int ordinal, const std::vector<Need>& needs, const TuningOptions& options);

/// A line per problem: winner, time, gain over the default configuration.
void print_tuned(const TuningOutcome& outcome, Context& context);

}  // namespace hstujit::tool
