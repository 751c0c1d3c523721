#include "tuner/tune.hpp"

#include "records/choose.hpp"
#include "support/error.hpp"
#include "support/log.hpp"
#include "tuner/finals.hpp"
#include "tuner/search.hpp"
#include "tuner/space.hpp"
#include "tuner/trial_run.hpp"
#include "tuner/tuning_job.hpp"

#include <algorithm>
#include <chrono>
#include <deque>

namespace hstujit {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kSearchShare = 0.85;  // of the budget; the rest is for the finals
constexpr size_t kHints = 4;           // neighbours' winners to start from
constexpr int kAheadPerThread = 2;     // kernels being compiled or waiting for the bench

class Tuner {
 public:
  Tuner(const TuneTask& task, Records& records, Bench& bench, const Compile& compile, const TuneOptions& options)
      : task_(task),
        records_(records),
        bench_(bench),
        options_(options),
        start_(Clock::now()),
        pool_(options.compile_threads > 0 ? options.compile_threads : default_compile_threads(), compile) {}

  TuneResult run();

 private:
  struct Pending {
    Candidate candidate;
    std::future<KernelPtr> kernel;
  };

  Pending submit(const Family& family, const Config& config);
  bool wait_for(Pending& pending);
  void try_standard(TuningJob& job);
  void search_family(TuningJob& job, const Family& family, double deadline);
  void try_candidate(TuningJob& job, Pending& pending);
  std::string judge(Pending& pending, Trial& trial);
  void keep(TuningJob& job, const Trial& trial, const std::string& rejected);
  std::optional<NamedConfig> config_of(const Trial& trial) const;
  void hold_finals(TuningJob& job);
  TuneResult finish(TuningJob& job);
  void refuse_dead_device(TuningJob& job, const Trial& culprit);

  std::vector<Config> hints(const Family& family) const;
  void report(const std::string& last, bool finals = false);
  bool cancelled() const { return options_.cancel && options_.cancel->load(std::memory_order_relaxed); }
  double elapsed() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  double budget() const { return static_cast<double>(options_.budget_ms) * 1e-3; }

  const TuneTask& task_;
  Records& records_;
  Bench& bench_;
  const TuneOptions& options_;
  const Clock::time_point start_;
  Candidate standard_;
  int64_t standard_ns_ = 0, best_ns_ = 0;
  int done_ = 0, total_ = 0;
  TuneResult result_;
  CompilePool pool_;  ///< last: its threads end before anything else does
};

/// What a known trial tells a search.
std::optional<double> seconds_of(const Trial& trial) {
  if (trial.status != TrialStatus::ok && trial.status != TrialStatus::slow) return std::nullopt;
  return static_cast<double>(trial.timing.median_ns) * 1e-9;
}

TuneResult Tuner::run() {
  const Family& preferred = *task_.families.front();
  Pending standard = submit(preferred, preferred.default_config(task_.problem, task_.device));
  standard.candidate.standard = true;
  if (!wait_for(standard)) fail(HSTU_ERROR_TUNING, "cancelled before the default configuration was compiled");
  standard_ = standard.candidate;
  TuningJob job(records_, task_, options_, standard_.kernel->compiler);
  if (job.finished()) {
    result_.record = *job.finished();
    result_.reused = static_cast<int>(job.job().trials.size());
    return result_;
  }
  result_.reused = job.reused();
  try_standard(job);
  size_t left = task_.families.size();
  for (const Family* family : task_.families) {
    const double now = elapsed();
    search_family(job, *family, now + std::max(0.0, kSearchShare * budget() - now) / static_cast<double>(left--));
  }
  pool_.drop_waiting();  // what the search ordered and did not wait for
  hold_finals(job);
  return finish(job);
}

Tuner::Pending Tuner::submit(const Family& family, const Config& config) {
  Pending pending;
  pending.candidate.family = &family;
  pending.candidate.config = config;
  pending.kernel = pool_.submit(specialise(family, task_.problem, config, task_.device));
  return pending;
}

/// False when cancelled meanwhile. Throws what compiling threw.
bool Tuner::wait_for(Pending& pending) {
  using namespace std::chrono_literals;
  while (pending.kernel.wait_for(20ms) != std::future_status::ready)
    if (cancelled()) return false;
  pending.candidate.kernel = pending.kernel.get();
  return true;
}

/// The default comes first: its output is what all others must reproduce, its time what they must beat.
void Tuner::try_standard(TuningJob& job) {
  if (const std::string_view flaw = standard_.kernel->flaw(); !flaw.empty())
    log().warn("tuner: {} is a default configuration and {}", standard_.kernel->name, flaw);
  Trial trial = blank_trial(standard_, task_.problem);
  const Trial* known = job.known(*standard_.family, standard_.config);
  const Verdict verdict = bench_.verify(standard_);
  if (!verdict.right)
    fail(HSTU_ERROR_TUNING, "{}: the default configuration gives no valid result to compare with: {}",
         standard_.kernel->name, verdict.why);
  if (!known) measure_trial(bench_, standard_, 0, trial);
  standard_ns_ = best_ns_ = known ? known->timing.median_ns : trial.timing.median_ns;
  for (const Trial& t : job.job().trials)
    if (t.status == TrialStatus::ok) best_ns_ = std::min(best_ns_, t.timing.median_ns);
  if (!known) keep(job, trial, "");
}

std::vector<Config> Tuner::hints(const Family& family) const {
  std::vector<Config> out;
  const std::string device_class = task_.device.device_class();
  for (const Neighbour& near : records_.neighbours(task_.problem, device_class, kHints))
    if (near.record.trial.family == family.name)
      if (const auto config =
              parse_config(family, near.record.trial.config, family.default_config(task_.problem, task_.device)))
        out.push_back(*config);
  return out;
}

void Tuner::search_family(TuningJob& job, const Family& family, double deadline) {
  const Space space = enumerate(family, task_.problem, task_.device, nullptr, options_.width);
  const std::string strategy = options_.strategy.empty() ? std::string(default_strategy(space)) : options_.strategy;
  const auto search = make_search(strategy, space, hints(family), options_.seed);
  if (!search) fail(HSTU_ERROR_INVALID_ARGUMENT, "strategy = {}: there are exhaustive, random and local", strategy);
  total_ += static_cast<int>(space.size());
  std::deque<Pending> ahead;
  const size_t most_ahead = static_cast<size_t>(kAheadPerThread * pool_.threads());
  for (;;) {
    if (cancelled()) return;
    if (elapsed() > deadline) {
      result_.out_of_time = true;
      return;
    }
    if (ahead.size() < most_ahead) {
      if (const auto config = search->next()) {
        if (const Trial* known = job.known(family, *config))
          search->report(*config, seconds_of(*known));
        else
          ahead.push_back(submit(family, *config));
        continue;
      }
    }
    if (ahead.empty()) return;
    // In the order of proposal, whatever is ready first: the search stays deterministic, and the pool stays busy.
    Pending pending = std::move(ahead.front());
    ahead.pop_front();
    try_candidate(job, pending);
    if (const Trial* known = job.known(family, pending.candidate.config))
      search->report(pending.candidate.config, seconds_of(*known));
  }
}

/// Leaves a trial in the job, unless cancelled before the kernel was there.
void Tuner::try_candidate(TuningJob& job, Pending& pending) {
  Trial trial;
  const std::string rejected = judge(pending, trial);
  if (trial.family.empty()) return;
  keep(job, trial, rejected);
  if (trial.status == TrialStatus::failed) refuse_dead_device(job, trial);
}

std::string Tuner::judge(Pending& pending, Trial& trial) {
  const Candidate& candidate = pending.candidate;
  try {
    if (!wait_for(pending)) return "cancelled";
  } catch (const Error& e) {
    if (e.status() == HSTU_ERROR_OUT_OF_MEMORY) throw;  // says nothing of the candidate
    trial = blank_trial(candidate, task_.problem);
    trial.status = TrialStatus::compile_failed;
    return e.message();
  }
  trial = blank_trial(candidate, task_.problem);
  if (const std::string_view flaw = candidate.kernel->flaw(); !flaw.empty()) {
    trial.status = TrialStatus::flawed;
    return std::string(flaw);
  }
  return run_trial(bench_, candidate, best_ns_, trial);
}

void Tuner::keep(TuningJob& job, const Trial& trial, const std::string& rejected) {
  job.add(trial);
  done_ = job.searched();
  if (trial.status == TrialStatus::ok) best_ns_ = std::min(best_ns_, trial.timing.median_ns);
  ++(rejected.empty() ? result_.measured : result_.failed);
  if (!rejected.empty()) log().info("tuner: {} {} rejected: {}", trial.family, trial.config, rejected);
  report(trial.family + ' ' + trial.config + (rejected.empty() ? "" : ": " + rejected));
}

void Tuner::refuse_dead_device(TuningJob& job, const Trial& culprit) {
  if (bench_.alive()) return;
  job.close(JobState::cancelled);
  fail(HSTU_ERROR_DEVICE,
       "{} {} broke the device's context; it is recorded as failed and will be left out when tuning goes on in a new "
       "process",
       culprit.family, culprit.config);
}

/// What the trial ran, which may be one of a job that was begun before: its text comes from the database.
std::optional<NamedConfig> Tuner::config_of(const Trial& trial) const {
  const auto family = std::ranges::find(task_.families, trial.family, &Family::name);
  if (family == task_.families.end()) return std::nullopt;
  const Config standard = (*family)->default_config(task_.problem, task_.device);
  const auto config = parse_config(**family, trial.config, standard);
  if (!config || !(*config == standard || runs(**family, task_.problem, *config, task_.device))) return std::nullopt;
  return NamedConfig{*family, *config};
}

void Tuner::hold_finals(TuningJob& job) {
  if (cancelled()) return;
  const auto before = job.decided_before();
  std::vector<Trial> trials = finalists_of(job.job().trials, before ? &before->trial : nullptr);
  std::erase_if(trials, [&](const Trial& trial) { return !config_of(trial); });
  if (trials.size() < 2) return;  // the default stands alone
  std::vector<Candidate> candidates;
  for (const Trial& trial : trials) {
    const NamedConfig named = *config_of(trial);
    Pending pending = submit(*named.family, named.config);  // known to the compiler's caches
    if (!wait_for(pending)) return;
    pending.candidate.standard = trial.standard;
    candidates.push_back(std::move(pending.candidate));
  }
  constexpr int kLeast = 2;
  std::vector<Trial> finals = run_finals(bench_, candidates, std::move(trials), [&](int rounds) {
    report("finals", true);
    return cancelled() || (rounds >= kLeast && elapsed() > budget());
  });
  // The default last: without it the finals do not count, so an interrupted list is no half truth.
  std::stable_partition(finals.begin(), finals.end(), [](const Trial& t) { return !t.standard; });
  for (const Trial& trial : finals) job.add(trial);
}

TuneResult Tuner::finish(TuningJob& job) {
  result_.cancelled = cancelled();
  const auto record = job.close(result_.cancelled ? JobState::cancelled : JobState::finished);
  if (!record) fail(HSTU_ERROR_TUNING, "cancelled before the default configuration was measured");
  result_.record = *record;
  result_.seconds = elapsed();
  log().info("tuner: {} -> {} {}, {} ns, default {} ns; {} measured, {} rejected, {} known before, {:.1f} s{}",
             text(task_.problem), record->trial.family, record->trial.config, record->trial.timing.median_ns,
             record->standard_ns, result_.measured, result_.failed, result_.reused, result_.seconds,
             result_.cancelled ? ", cancelled" : "");
  return result_;
}

void Tuner::report(const std::string& last, bool finals) {
  if (!options_.progress) return;
  TuneProgress progress;
  progress.done = done_;
  progress.fresh = result_.measured + result_.failed;
  progress.total = std::max(total_, done_);
  progress.finals = finals;
  progress.best_seconds = static_cast<double>(best_ns_) * 1e-9;
  progress.standard_seconds = static_cast<double>(standard_ns_) * 1e-9;
  progress.elapsed_seconds = elapsed();
  progress.left_seconds = std::max(0.0, budget() - elapsed());
  progress.last = last;
  options_.progress(progress);
}

}  // namespace

TuneResult tune(const TuneTask& task, Records& records, Bench& bench, const Compile& compile,
                const TuneOptions& options) {
  if (task.families.empty())
    fail(HSTU_ERROR_UNSUPPORTED, "{}: no kernel family covers this problem on {}", text(task.problem),
         task.device.name);
  return Tuner(task, records, bench, compile, options).run();
}

}  // namespace hstujit
