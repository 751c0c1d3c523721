// One tuning run: compile ahead, check, measure, decide. Knows no device: the bench runs kernels, the compile function
// makes them, and Records keep every trial as soon as it is known, so that an interrupted run goes on where it stopped.
#pragma once

#include "records/records.hpp"
#include "tuner/bench.hpp"
#include "tuner/compile_pool.hpp"
#include "tuner/space.hpp"

#include <atomic>
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

struct TuneProgress {
  int done = 0;   ///< configurations known, whether measured now or before
  int fresh = 0;  ///< those of them that this run looked at
  int total = 0;  ///< configurations there are; a budgeted search ends before it has seen them all
  bool finals = false;
  double best_seconds = 0, standard_seconds = 0;  ///< 0 while unknown
  double elapsed_seconds = 0, left_seconds = 0;   ///< of the budget
  std::string last;                               ///< the configuration that was last looked at, and what came of it
};

struct TuneOptions {
  int64_t budget_ms = 30'000;  ///< of the whole run; the default configuration and a short final run in any case
  uint64_t seed = 1;
  int compile_threads = 0;     ///< 0: default_compile_threads()
  std::string strategy;        ///< "": default_strategy() of each space
  Width width = Width::usual;  ///< wide: to record spaces; a winner that a rule refuses is not used
  bool again = false;          ///< tune even if a finished job of the same circumstances is there
  const std::atomic<bool>* cancel =
      nullptr;  ///< set to true from anywhere (a signal handler): stop and keep what is known
  std::function<void(const TuneProgress&)> progress;  ///< called from the tuning thread
};

struct TuneResult {
  Record record;                 ///< what find() answers from now on
  int measured = 0, failed = 0;  ///< in this run: timed; rejected, whatever the reason
  int reused = 0;                ///< known from an interrupted run, or, if all, from a finished one
  bool cancelled = false;
  bool out_of_time = false;  ///< the budget ended before the search did
  double seconds = 0;
};

/// Throws Error: COMPILE when the default configuration does not compile, TUNING when it gives no valid result, DEVICE
/// when a kernel has broken the device (it is recorded, so that the next run leaves it out); TUNING when cancelled
/// before anything was known.
TuneResult tune(const TuneTask& task, Records& records, Bench& bench, const Compile& compile,
                const TuneOptions& options = {});

}  // namespace hstujit
