// A tuning run: the problems of a workload share one queue of kernels to compile, one GPU and one budget, which goes
// where gain is expected.
//
//   searches -- proposals, most gain per second first --> cores, side by side
//   cores ----- kernels, as they come ------------------> ready, most gain first --> GPU: verified, timed, recorded
//   GPU ------- times -----------------------------------> searches
//
// A problem ends when everything is measured, when a second more of it is expected to gain less than was asked for, or
// with the budget; its finals decide. Nothing here knows a device or a compiler: benches run kernels, Cores make them
// and have the clock, and Records keep every trial as soon as it is known, so that an interrupted run goes on where it
// stopped. What is decided depends on nothing but the sequence of what Cores and benches answer.
#pragma once

#include "records/records.hpp"
#include "tuner/bench.hpp"
#include "tuner/compile_pool.hpp"
#include "tuner/experience.hpp"
#include "tuner/space.hpp"
#include "tuner/trial_run.hpp"

#include <atomic>
#include <exception>
#include <functional>
#include <string>
#include <vector>

namespace hstujit {

struct TuneTask {
  Problem problem;
  DeviceFacts device;
  std::vector<const Family*> families;  ///< that cover the problem, preferred first: families_for()
  Evidence evidence;                    ///< compiler is filled in by the first kernel
};

/// A task in a queue of several.
struct TuneProblem {
  TuneTask task;
  /// What a gain counts for here: the share of the traffic's time, say. Only its ratio to the others' matters.
  double weight = 1;
  /// Makes the bench when its turn comes; it is gone when others need the room, and made again.
  std::function<std::unique_ptr<Bench>()> open;
};

struct TuneProgress {
  size_t problem = 0;             ///< the one that was last looked at, by its place in the queue
  size_t problems = 1, over = 0;  ///< there are; are done
  int done = 0;                   ///< configurations of it that are known, whether measured now or before
  int fresh = 0;                  ///< those of them that this run looked at
  int fresh_of_all = 0;           ///< the same of all problems
  int total = 0;                  ///< configurations there are; a budgeted search ends before it has seen them all
  bool finals = false;
  double best_seconds = 0, standard_seconds = 0;  ///< 0 while unknown
  double elapsed_seconds = 0, left_seconds = 0;   ///< of the budget
  double cores_busy = 0, gpu_busy = 0;            ///< shares of the time since the run began
  std::string last;                               ///< the configuration that was last looked at, and what came of it
};

struct TuneOptions {
  int64_t budget_ms = 30'000;  ///< of the whole run; the default configuration and a short final run in any case
  /// A problem ends when a second more is expected to make it faster by less than this share; 0: it does not end so.
  double until = 0;
  uint64_t seed = 1;
  int compile_threads = 0;     ///< 0: default_compile_threads()
  std::string strategy;        ///< "": kDefaultStrategy
  Width width = Width::usual;  ///< wide: to record spaces; a winner that a rule refuses is not used
  bool again = false;          ///< tune even if a finished job of the same circumstances is there
  size_t most_open = 8;        ///< benches at a time: each has the problem's tensors on the GPU
  const std::atomic<bool>* cancel =
      nullptr;  ///< set to true from anywhere (a signal handler): stop and keep what is known
  std::function<void(const TuneProgress&)> progress;  ///< called from the tuning thread
  /// Known of other problems, beside what the records have; null for nothing.
  const Experience* experience = nullptr;
  /// What to search instead of all that fits; empty for that.
  std::function<Space(const TuneTask&, const Family&)> space;
};

/// Why a search ended.
enum class SearchEnd {
  exhausted,    ///< everything was measured
  settled,      ///< more was not expected to be worth its time: TuneOptions::until
  out_of_time,  ///< with the budget
  cancelled,
};

struct TuneResult {
  Record record;                 ///< what find() answers from now on
  int measured = 0, failed = 0;  ///< in this run: timed; rejected, whatever the reason
  int reused = 0;                ///< known from an interrupted run, or, if all, from a finished one
  SearchEnd end = SearchEnd::exhausted;
  /// By what share the rest of the space is expected to be faster than the best found; nothing where the strategy has
  /// no idea.
  std::optional<double> rest = std::nullopt;
  double seconds = 0;                 ///< from the problem's first order to its decision, others in between
  std::vector<TrialCost> costs = {};  ///< of this run's trials

  bool cancelled() const { return end == SearchEnd::cancelled; }
  bool out_of_time() const { return end == SearchEnd::out_of_time; }
};

/// Either a result or what went wrong.
struct TuneOutcome {
  std::optional<TuneResult> result;
  std::exception_ptr error;
};

/// One outcome per problem. Errors: COMPILE when the default configuration does not compile, TUNING when it gives no
/// valid result, DEVICE when a kernel has broken the device (it is recorded, so that the next run leaves it out; all
/// that were not done have this error); TUNING when cancelled before anything was known. Throws what is nobody's fault.
std::vector<TuneOutcome> tune(const std::vector<TuneProblem>& problems, Records& records, Cores& cores,
                              const TuneOptions& options = {});

/// One problem on a bench that is there, with threads of its own. Throws its error.
TuneResult tune(const TuneTask& task, Records& records, Bench& bench, const Compile& compile,
                const TuneOptions& options = {});

}  // namespace hstujit
