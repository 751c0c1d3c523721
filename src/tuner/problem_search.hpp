// One problem of a tuning run: what to compile next, what is ready for the GPU, and what came of it. The queue that it
// stands in (tune.cpp) says when.
#pragma once

#include "records/choose.hpp"
#include "tuner/search.hpp"
#include "tuner/timed_bench.hpp"
#include "tuner/tune.hpp"
#include "tuner/tuning_job.hpp"

#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace hstujit {

class ProblemSearch {
 public:
  ProblemSearch(const TuneProblem& problem, Records& records, Cores& cores, const TuneOptions& options);
  ProblemSearch(const ProblemSearch&) = delete;
  ProblemSearch& operator=(const ProblemSearch&) = delete;

  static constexpr double kFirst = std::numeric_limits<double>::infinity();  ///< promise of what goes before all else

  // ---- Kernels
  /// The gain expected per second of a core of what order_next() would order; 0: nothing for now.
  double promise();
  /// False when there is nothing on its way after all.
  bool order_next(uint64_t ticket);
  void arrived(Compiled compiled);
  /// Its order was dropped.
  void dropped(uint64_t ticket);
  /// What a kernel takes a core, on average; 0 unknown.
  double kernel_seconds() const { return trials_ > 0 ? core_seconds_ / trials_ : 0; }
  /// What a trial takes the GPU, likewise.
  double trial_seconds() const { return trials_ > 0 ? trial_seconds_ / trials_ : 0; }
  size_t ready() const { return ready_.size(); }

  // ---- The GPU. Errors end the problem.
  /// The gain expected per second of the GPU of what measure() would measure; 0: nothing is ready.
  double readiness() const;
  bool holds_bench() const { return bench_ != nullptr; }
  /// It will need a bench for the first time, and its default is not there yet.
  bool may_prepare() const { return opened_ && !over() && !had_bench_ && !known_before_; }
  void open_bench();  ///< throws Error
  void close_bench() { bench_.reset(); }
  void measure();
  /// Its last candidate made the device useless, for all problems.
  bool broke_device() const { return broke_device_; }
  double gpu_seconds() const { return gpu_seconds_; }

  // ---- The end
  bool opened() const { return opened_; }
  bool over() const { return outcome_.result || outcome_.error; }
  /// Its default has a time, or it is over.
  bool standing() const { return over() || standard_ns_ > 0; }
  /// exhausted or settled, when the search has come to its end.
  std::optional<SearchEnd> end();
  /// The gain expected of a second more; kFirst where the strategy has no idea.
  double rate() const;
  /// What the finals are expected to take.
  double finals_seconds() const;
  /// Holds the finals, whose rounds beyond the least ones end at that time, and decides. Needs the bench.
  void finish(SearchEnd end, double until);
  /// Keeps what is known and ends the problem with an error.
  void give_up(std::exception_ptr error);

  TuneProgress progress() const;
  /// Configurations that were looked at in this run.
  int fresh() const { return trials_; }
  std::exception_ptr error() const { return outcome_.error; }
  TuneOutcome take_outcome() { return std::move(outcome_); }
  /// Called when something was found out: what, and whether in the finals.
  std::function<void(const std::string& last, bool finals)> on_news;

 private:
  struct Lane {
    const Family* family;
    Space space;
    std::unique_ptr<Search> search;
    bool waiting = false;  ///< has nothing to propose until a report comes
  };
  struct Ready {
    Candidate candidate;
    std::exception_ptr error;  ///< of its compilation
    double compiling = 0;      ///< seconds of a core
  };

  void open();
  Lane& lane_of(const Family& family);
  const Lane& lane_of(const Family& family) const;
  Order order_of(const Family& family, const Config& config, uint64_t ticket) const;
  void standard_arrived(const Ready& ready);
  double gain_of(const Ready& ready) const;
  void try_standard(const Ready& ready, double begun);
  std::string try_candidate(const Ready& ready, Trial& trial);
  void account_for(const Ready& ready, double begun);
  void keep(const Trial& trial, const std::string& rejected);
  void tell_search(const Candidate& candidate, std::optional<double> seconds);
  void refuse_dead_device(const Trial& culprit);
  std::optional<NamedConfig> config_of(const Trial& trial) const;
  void hold_finals(double until);
  std::optional<double> rest() const;
  bool cancelled() const { return options_.cancel && options_.cancel->load(std::memory_order_relaxed); }
  template <class Step>
  void guarded(const Step& step);

  const TuneTask& task_;
  const std::function<std::unique_ptr<Bench>()>& make_bench_;
  Records& records_;
  Cores& cores_;
  const TuneOptions& options_;
  const bool known_before_;  ///< the records have jobs of it: nothing is proposed before it is seen what they know
  bool found_ = false;       ///< its default needs no compiler: its verdict, which is near, goes before all candidates
  bool opened_ = false;
  double opened_at_ = 0;
  std::vector<Lane> lanes_;
  std::map<uint64_t, Candidate> ordered_;
  std::vector<Ready> ready_;
  std::optional<TuningJob> job_;
  Candidate standard_;
  int64_t standard_ns_ = 0, best_ns_ = 0;
  std::unique_ptr<TimedBench> bench_;
  bool had_bench_ = false, broke_device_ = false;
  int trials_ = 0;
  double core_seconds_ = 0, trial_seconds_ = 0;   ///< of all trials
  double gpu_seconds_ = 0, opening_seconds_ = 0;  ///< in all; of the bench's last opening
  mutable double rate_ = 0;
  mutable int rate_at_ = -1;  ///< trials_ when rate_ was found out
  TuneResult result_;
  TuneOutcome outcome_;
};

}  // namespace hstujit
