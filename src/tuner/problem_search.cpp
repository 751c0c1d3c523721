#include "tuner/problem_search.hpp"

#include "support/error.hpp"
#include "support/log.hpp"
#include "tuner/finals.hpp"
#include "tuner/trial_run.hpp"

#include <algorithm>
#include <cmath>

namespace hstujit {
namespace {

constexpr size_t kHints = 4;           // neighbours' winners to start from
constexpr double kUnopened = 0.1;      // promise of a problem that nothing is known of
constexpr int kTrialsToSettle = 8;     // before a model's word is taken for it that nothing is left
constexpr int kFinalRepetitions = 30;  // of each of about ...
constexpr int kUsualFinalists = 6;

/// What a known trial tells a search.
std::optional<double> seconds_of(const Trial& trial) {
  if (trial.status != TrialStatus::ok && trial.status != TrialStatus::slow) return std::nullopt;
  return static_cast<double>(trial.timing.median_ns) * 1e-9;
}

}  // namespace

ProblemSearch::ProblemSearch(const TuneProblem& problem, Records& records, Cores& cores, const TuneOptions& options)
    : task_(problem.task),
      make_bench_(problem.open),
      records_(records),
      cores_(cores),
      options_(options),
      known_before_(!records.jobs(problem.task.problem, problem.task.device.device_class()).empty()) {}

template <class Step>
void ProblemSearch::guarded(const Step& step) {
  try {
    step();
  } catch (const Error&) { give_up(std::current_exception()); }
}

// ---- Kernels

/// Spaces and searches. The default goes ahead of all: it is taken out of its family's search here.
void ProblemSearch::open() {
  if (task_.families.empty())
    fail(HSTU_ERROR_UNSUPPORTED, "{}: no kernel family covers this problem on {}", text(task_.problem),
         task_.device.name);
  opened_ = true;
  opened_at_ = cores_.now();
  if (!lanes_.empty()) return;  // its order was dropped and comes again
  Experience near = options_.experience ? *options_.experience : Experience();
  const std::string device_class = task_.device.device_class();
  near.add_near(records_, task_.problem, device_class, task_.families);
  const std::vector<Neighbour> neighbours = records_.neighbours(task_.problem, device_class, kHints);
  for (const Family* family : task_.families) {
    Space space = options_.space ? options_.space(task_, *family)
                                 : enumerate(*family, task_.problem, task_.device, nullptr, options_.width);
    lanes_.push_back({family, std::move(space), nullptr});
  }
  for (Lane& lane : lanes_) {  // in their final place: searches refer to their spaces
    Beforehand known;
    for (const Neighbour& neighbour : neighbours)
      if (neighbour.record.trial.family == lane.family->name)
        if (const auto config = parse_config(*lane.family, neighbour.record.trial.config, lane.space.standard()))
          known.hints.push_back(*config);
    known.prior = near.prior(*lane.family, task_.problem, lane.space);
    const std::string_view strategy = options_.strategy.empty() ? kDefaultStrategy : options_.strategy;
    lane.search = make_search(strategy, lane.space, known, options_.seed);
    if (!lane.search)
      fail(HSTU_ERROR_INVALID_ARGUMENT, "strategy = {}: there are model, local, random and exhaustive", strategy);
  }
  standard_.family = lanes_.front().family;
  standard_.config = *lanes_.front().search->next();
  standard_.standard = true;
}

ProblemSearch::Lane& ProblemSearch::lane_of(const Family& family) {
  return *std::ranges::find(lanes_, &family, &Lane::family);
}

const ProblemSearch::Lane& ProblemSearch::lane_of(const Family& family) const {
  return *std::ranges::find(lanes_, &family, &Lane::family);
}

Order ProblemSearch::order_of(const Family& family, const Config& config, uint64_t ticket) const {
  // The source is made in another thread, and maybe when this object is gone.
  return {ticket, &task_.problem, &family, config, [&family, config, problem = task_.problem, device = task_.device] {
            return specialise(family, problem, config, device);
          }};
}

double ProblemSearch::promise() {
  if (over()) return 0;
  if (!opened_) return kUnopened;
  if (found_ && !standing()) return 0;
  if ((!job_ && known_before_) || (options_.until > 0 && rate() < options_.until)) return 0;
  double most = 0;
  for (Lane& lane : lanes_)
    if (!lane.waiting) most = std::max(most, lane.search->promise());
  return most;
}

bool ProblemSearch::order_next(uint64_t ticket) {
  bool ordered = false;
  guarded([&] {
    if (!opened_) {
      open();
      ordered_.emplace(ticket, standard_);
      Order order = order_of(*standard_.family, standard_.config, ticket);
      if (auto kept = cores_.find(order)) {
        found_ = true;
        arrived(*std::move(kept));
      } else {
        cores_.order(std::move(order));
        ordered = true;
      }
      return;
    }
    const auto promise = [](const Lane& lane) { return lane.waiting ? 0 : lane.search->promise(); };
    Lane& lane = *std::ranges::max_element(lanes_, {}, promise);
    while (const auto config = lane.search->next()) {
      if (const Trial* known = job_ ? job_->known(*lane.family, *config) : nullptr) {
        lane.search->report(*config, seconds_of(*known));
        continue;
      }
      Candidate candidate;
      candidate.family = lane.family;
      candidate.config = *config;
      ordered_.emplace(ticket, candidate);
      cores_.order(order_of(*lane.family, *config, ticket));
      ordered = true;
      return;
    }
    lane.waiting = true;
  });
  return ordered;
}

void ProblemSearch::dropped(uint64_t ticket) {
  const auto found = ordered_.find(ticket);
  if (found == ordered_.end()) return;
  if (found->second.standard) opened_ = false;
  ordered_.erase(found);
}

void ProblemSearch::arrived(Compiled compiled) {
  const auto found = ordered_.find(compiled.ticket);
  if (over() || found == ordered_.end()) return;
  Ready ready{std::move(found->second), compiled.error, compiled.seconds};
  ready.candidate.kernel = std::move(compiled.kernel);
  ordered_.erase(found);
  guarded([&] {
    if (ready.candidate.standard) standard_arrived(ready);
    ready_.push_back(std::move(ready));
  });
}

/// Whoever wants to know what was known needs the compiler's name, which comes with the first kernel.
void ProblemSearch::standard_arrived(const Ready& ready) {
  if (ready.error) std::rethrow_exception(ready.error);
  standard_ = ready.candidate;
  job_.emplace(records_, task_, options_, standard_.kernel->compiler);
  result_.reused = job_->reused();
  if (!job_->finished()) return;
  result_.record = *job_->finished();
  result_.reused = static_cast<int>(job_->job().trials.size());
  outcome_.result = std::move(result_);
}

// ---- The GPU

double ProblemSearch::gain_of(const Ready& ready) const {
  if (ready.candidate.standard) return kFirst;
  return standing() ? lane_of(*ready.candidate.family).search->gain_of(ready.candidate.config) : 0;
}

double ProblemSearch::readiness() const {
  if (over()) return 0;
  double most = 0;
  for (const Ready& ready : ready_) most = std::max(most, gain_of(ready));
  const double seconds = (trials_ > 0 ? trial_seconds_ / trials_ : 0.0) + (bench_ ? 0.0 : opening_seconds_);
  return most / std::max(seconds, 1e-3);
}

void ProblemSearch::open_bench() {
  const double begun = cores_.now();
  had_bench_ = true;
  bench_ = std::make_unique<TimedBench>(make_bench_(), cores_);
  if (standard_ns_ > 0 && !bench_->verify(standard_).right)
    fail(HSTU_ERROR_TUNING, "{}: the default configuration was right before and is wrong now", standard_.kernel->name);
  opening_seconds_ = cores_.now() - begun;
  gpu_seconds_ += opening_seconds_;
}

void ProblemSearch::measure() {
  guarded([&] {
    const auto most = std::ranges::max_element(ready_, {}, [&](const Ready& ready) { return gain_of(ready); });
    const Ready ready = std::move(*most);
    ready_.erase(most);
    const double begun = cores_.now();
    if (ready.candidate.standard) return try_standard(ready, begun);
    Trial trial;
    const std::string rejected = try_candidate(ready, trial);
    account_for(ready, begun);
    keep(trial, rejected);
    tell_search(ready.candidate, seconds_of(trial));
    if (trial.status == TrialStatus::failed) refuse_dead_device(trial);
  });
}

/// The default comes first: its output is what all others must reproduce, its time what they must beat.
void ProblemSearch::try_standard(const Ready& ready, double begun) {
  if (const std::string_view flaw = standard_.kernel->flaw(); !flaw.empty())
    log().warn("tuner: {} is a default configuration and {}", standard_.kernel->name, flaw);
  Trial trial = blank_trial(standard_, task_.problem);
  const Trial* known = job_->known(*standard_.family, standard_.config);
  const Verdict verdict = bench_->verify(standard_);
  if (!verdict.right)
    fail(HSTU_ERROR_TUNING, "{}: the default configuration gives no valid result to compare with: {}",
         standard_.kernel->name, verdict.why);
  if (!known) measure_trial(*bench_, standard_, 0, trial);
  account_for(ready, begun);
  standard_ns_ = best_ns_ = known ? known->timing.median_ns : trial.timing.median_ns;
  for (const Trial& t : job_->job().trials)
    if (t.status == TrialStatus::ok) best_ns_ = std::min(best_ns_, t.timing.median_ns);
  if (!known) keep(trial, "");
  tell_search(standard_, static_cast<double>(standard_ns_) * 1e-9);
}

/// Why it is rejected, "" when it is not.
std::string ProblemSearch::try_candidate(const Ready& ready, Trial& trial) {
  const Candidate& candidate = ready.candidate;
  trial = blank_trial(candidate, task_.problem);
  try {
    if (ready.error) std::rethrow_exception(ready.error);
  } catch (const Error& e) {
    if (e.status() == HSTU_ERROR_OUT_OF_MEMORY) throw;  // says nothing of the candidate
    trial.status = TrialStatus::compile_failed;
    return e.message();
  }
  if (const std::string_view flaw = candidate.kernel->flaw(); !flaw.empty()) {
    trial.status = TrialStatus::flawed;
    return std::string(flaw);
  }
  return run_trial(*bench_, candidate, best_ns_, trial);
}

/// What a trial took, for those that come.
void ProblemSearch::account_for(const Ready& ready, double begun) {
  const double measuring = cores_.now() - begun;
  ++trials_;
  gpu_seconds_ += measuring;
  trial_seconds_ += measuring;
  core_seconds_ += ready.compiling;
  // A kernel that was in the store says what it took once.
  const double own = ready.candidate.kernel ? ready.candidate.kernel->compile_ms * 1e-3 : ready.compiling;
  result_.costs.push_back({std::string(ready.candidate.family->name),
                           text(*ready.candidate.family, ready.candidate.config), own, measuring});
  // The GPU takes one at a time, so its seconds count for every core.
  const double mean = trial_seconds_ / trials_;
  lane_of(*ready.candidate.family)
      .search->took(ready.candidate.config, ready.compiling + static_cast<double>(cores_.count()) * mean);
}

void ProblemSearch::keep(const Trial& trial, const std::string& rejected) {
  job_->add(trial);
  if (trial.status == TrialStatus::ok) best_ns_ = std::min(best_ns_, trial.timing.median_ns);
  ++(rejected.empty() ? result_.measured : result_.failed);
  if (!rejected.empty()) log().info("tuner: {} {} rejected: {}", trial.family, trial.config, rejected);
  if (on_news) on_news(trial.family + ' ' + trial.config + (rejected.empty() ? "" : ": " + rejected), false);
}

void ProblemSearch::tell_search(const Candidate& candidate, std::optional<double> seconds) {
  lane_of(*candidate.family).search->report(candidate.config, seconds);
  for (Lane& lane : lanes_) {
    lane.waiting = false;
    if (best_ns_ > 0) lane.search->beat(static_cast<double>(best_ns_) * 1e-9);
  }
}

void ProblemSearch::refuse_dead_device(const Trial& culprit) {
  if (bench_->alive()) return;
  broke_device_ = true;
  fail(HSTU_ERROR_DEVICE,
       "{} {} broke the device's context; it is recorded as failed and will be left out when tuning goes on in a new "
       "process",
       culprit.family, culprit.config);
}

// ---- The end

void ProblemSearch::give_up(std::exception_ptr error) {
  if (over()) return;
  outcome_.error = std::move(error);
  if (job_ && standard_ns_ > 0) job_->close(JobState::cancelled);
  bench_.reset();
  ready_.clear();
}

double ProblemSearch::rate() const {
  if (trials_ < kTrialsToSettle) return kFirst;
  if (rate_at_ == trials_) return rate_;
  const double cores = static_cast<double>(cores_.count());
  const double batch_seconds = (core_seconds_ + cores * trial_seconds_) / trials_;  // a kernel for each core
  rate_ = 0;
  rate_at_ = trials_;
  for (const Lane& lane : lanes_)
    rate_ = std::max(rate_, lane.search->rest(cores_.count()).value_or(kFirst) / batch_seconds);
  return rate_;
}

std::optional<SearchEnd> ProblemSearch::end() {
  if (over() || !standing() || !ordered_.empty() || !ready_.empty()) return std::nullopt;
  if (promise() > 0) return std::nullopt;
  for (Lane& lane : lanes_)
    if (!lane.waiting && lane.search->promise() > 0) return SearchEnd::settled;
  return SearchEnd::exhausted;
}

/// What the trial ran, which may be one of a job that was begun before: its text comes from the database.
std::optional<NamedConfig> ProblemSearch::config_of(const Trial& trial) const {
  const auto family = std::ranges::find(task_.families, trial.family, &Family::name);
  if (family == task_.families.end()) return std::nullopt;
  const Config standard = (*family)->default_config(task_.problem, task_.device);
  const auto config = parse_config(**family, trial.config, standard);
  if (!config || !(*config == standard || runs(**family, task_.problem, *config, task_.device))) return std::nullopt;
  return NamedConfig{*family, *config};
}

double ProblemSearch::finals_seconds() const {
  return bench_ ? kUsualFinalists * kFinalRepetitions * bench_->seconds_a_repetition() : 0;
}

void ProblemSearch::hold_finals(double until) {
  const auto before = job_->decided_before();
  std::vector<Trial> trials = finalists_of(job_->job().trials, before ? &before->trial : nullptr);
  std::erase_if(trials, [&](const Trial& trial) { return !config_of(trial); });
  if (trials.size() < 2) return;  // the default stands alone
  std::vector<Candidate> candidates;
  for (const Trial& trial : trials) {
    const NamedConfig named = *config_of(trial);
    const Compiled made = cores_.make(order_of(*named.family, named.config, 0));  // known to the compiler's caches
    if (made.error) std::rethrow_exception(made.error);
    candidates.push_back({named.family, named.config, trial.standard, made.kernel});
  }
  constexpr int kLeast = 2;
  std::vector<Trial> finals = run_finals(*bench_, candidates, std::move(trials), [&](int rounds) {
    if (on_news) on_news("finals", true);
    return cancelled() || (rounds >= kLeast && cores_.now() > until);
  });
  // The default last: without it the finals do not count, so an interrupted list is no half truth.
  std::stable_partition(finals.begin(), finals.end(), [](const Trial& t) { return !t.standard; });
  for (const Trial& trial : finals) job_->add(trial);
}

/// The gain that all that is left is expected to hold, as a share of speed.
std::optional<double> ProblemSearch::rest() const {
  double most = 0;
  for (const Lane& lane : lanes_) {
    const auto rest = lane.search->rest(lane.space.size());
    if (!rest) return std::nullopt;
    most = std::max(most, *rest);
  }
  return std::expm1(most);
}

void ProblemSearch::finish(SearchEnd end, double until) {
  guarded([&] {
    result_.end = end;
    result_.rest = end == SearchEnd::exhausted ? 0 : rest();
    const double begun = cores_.now();
    if (!cancelled()) hold_finals(until);
    gpu_seconds_ += cores_.now() - begun;
    if (cancelled()) result_.end = SearchEnd::cancelled;
    const auto record = job_->close(result_.cancelled() ? JobState::cancelled : JobState::finished);
    if (!record) fail(HSTU_ERROR_TUNING, "cancelled before the default configuration was measured");
    result_.record = *record;
    result_.seconds = cores_.now() - opened_at_;
    log().info("tuner: {} -> {} {}, {} ns, default {} ns; {} measured, {} rejected, {} known before, {:.1f} s{}",
               text(task_.problem), record->trial.family, record->trial.config, record->trial.timing.median_ns,
               record->standard_ns, result_.measured, result_.failed, result_.reused, result_.seconds,
               result_.cancelled() ? ", cancelled" : "");
    outcome_.result = std::move(result_);
  });
  bench_.reset();
  ready_.clear();
}

TuneProgress ProblemSearch::progress() const {
  TuneProgress progress;
  progress.done = job_ ? job_->searched() : 0;
  progress.fresh = trials_;
  for (const Lane& lane : lanes_) progress.total += static_cast<int>(lane.space.size());
  progress.total = std::max(progress.total, progress.done);
  progress.best_seconds = static_cast<double>(best_ns_) * 1e-9;
  progress.standard_seconds = static_cast<double>(standard_ns_) * 1e-9;
  return progress;
}

}  // namespace hstujit
