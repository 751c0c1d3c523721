#include "tuner/tune.hpp"

#include "support/error.hpp"
#include "tuner/problem_search.hpp"

#include <algorithm>
#include <list>
#include <map>

namespace hstujit {
namespace {

constexpr double kFinalsShare = 0.15;  // of the budget, at most
constexpr double kLook = 0.05;         // seconds between two looks whether somebody cancelled

/// Several problems, the cores and the GPU, until all are over.
class Queue {
 public:
  Queue(const std::vector<TuneProblem>& problems, Records& records, Cores& cores, const TuneOptions& options)
      : problems_(problems), cores_(cores), options_(options), start_(cores.now()), busy_before_(cores.busy()) {
    for (size_t i = 0; i < problems.size(); ++i) {
      searches_.emplace_back(problems[i], records, cores, options);
      searches_.back().on_news = [this, i](const std::string& last, bool finals) { report(i, last, finals); };
      all_.push_back(&searches_.back());
    }
  }

  std::vector<TuneOutcome> run() {
    while (!std::ranges::all_of(all_, &ProblemSearch::over)) {
      if (cancelled()) end_all(SearchEnd::cancelled);
      if (late()) end_standing();
      end_finished();
      make_room();
      forget_lost();
      order_kernels();
      while (auto compiled = cores_.take(0)) arrived(std::move(*compiled));
      if (!measure_one() && !prepare_bench()) wait();
    }
    cores_.drop_waiting();
    std::vector<TuneOutcome> outcomes;
    for (ProblemSearch* search : all_) outcomes.push_back(search->take_outcome());
    return outcomes;
  }

 private:
  bool cancelled() const { return options_.cancel && options_.cancel->load(std::memory_order_relaxed); }
  double elapsed() const { return cores_.now() - start_; }
  double budget() const { return static_cast<double>(options_.budget_ms) * 1e-3; }
  /// When searching ends, so that the finals of all problems fit into the budget.
  double search_budget() const;
  bool late() const { return elapsed() >= search_budget(); }

  void order_kernels();
  ProblemSearch* most_promising() const;
  double promise_of(size_t i) const;
  bool would_be_late(const ProblemSearch& search) const;
  void arrived(Compiled compiled);
  bool measure_one();
  bool prepare_bench();
  bool open_bench(ProblemSearch& search);
  void wait();
  void end_standing();
  void forget_lost();
  void forget(const std::vector<uint64_t>& dropped);
  void end_finished();
  void end_all(SearchEnd end);
  void end(ProblemSearch& search, SearchEnd end);
  void make_room();
  void report(size_t i, const std::string& last, bool finals);

  const std::vector<TuneProblem>& problems_;
  Cores& cores_;
  const TuneOptions& options_;
  const double start_, busy_before_;
  std::list<ProblemSearch> searches_;
  std::vector<ProblemSearch*> all_;
  std::vector<ProblemSearch*> open_;            ///< those with a bench, the one used last at the end
  std::map<uint64_t, ProblemSearch*> tickets_;  ///< of what is being compiled
  uint64_t last_ticket_ = 0;
  bool late_ = false;  ///< the time for searching is over
};

double Queue::search_budget() const {
  double finals = 0;
  for (const ProblemSearch* search : all_)
    if (!search->over()) finals += search->finals_seconds();
  return budget() - std::min(finals, kFinalsShare * budget());
}

// ---- Cores

/// Keeps all cores at work, and a few kernels waiting for the next free one, but not more than the GPU takes.
void Queue::order_kernels() {
  const size_t cores = cores_.count();
  for (;;) {
    size_t ready = 0;
    for (const ProblemSearch* search : all_) ready += search->ready();
    if (tickets_.size() >= cores + std::max(cores / 2, size_t{1}) || tickets_.size() + ready >= 3 * cores + 1) return;
    ProblemSearch* const search = most_promising();
    if (!search) return;
    if (search->order_next(last_ticket_ + 1)) tickets_.emplace(++last_ticket_, search);
  }
}

/// Nothing when no problem has anything to order. What is late is not begun, but for the defaults.
ProblemSearch* Queue::most_promising() const {
  const auto opened = static_cast<size_t>(
      std::ranges::count_if(all_, [](const ProblemSearch* s) { return s->opened() && !s->over(); }));
  ProblemSearch* most = nullptr;
  double promise = 0;
  for (size_t i = 0; i < all_.size(); ++i) {
    ProblemSearch* const search = all_[i];
    if (search->opened() ? would_be_late(*search) : opened >= options_.most_open) continue;
    const double here = search->promise() * problems_[i].weight;
    if (here > promise) {
      most = search;
      promise = here;
    }
  }
  return most;
}

bool Queue::would_be_late(const ProblemSearch& search) const {
  const double queued = static_cast<double>(tickets_.size()) / static_cast<double>(cores_.count());
  return elapsed() + search.kernel_seconds() * std::max(queued, 1.0) >= search_budget();
}

void Queue::arrived(Compiled compiled) {
  const auto ticket = tickets_.find(compiled.ticket);
  if (ticket == tickets_.end()) return;
  ProblemSearch* const search = ticket->second;
  tickets_.erase(ticket);
  search->arrived(std::move(compiled));
}

void Queue::wait() {
  if (tickets_.empty()) return end_standing();  // what is left would come too late
  const double until = options_.cancel ? cores_.now() + kLook : start_ + std::max(search_budget(), elapsed() + kLook);
  if (auto compiled = cores_.take(until)) arrived(std::move(*compiled));
}

// ---- The GPU

/// False when nothing is ready.
bool Queue::measure_one() {
  ProblemSearch* most = nullptr;
  double gain = 0;
  for (size_t i = 0; i < all_.size(); ++i) {
    const double here = all_[i]->readiness() * problems_[i].weight;
    if (here > gain) {
      most = all_[i];
      gain = here;
    }
  }
  if (!most || (most->standing() && elapsed() + most->trial_seconds() > budget())) return false;
  if (open_bench(*most)) most->measure();
  if (most->broke_device()) {
    const std::exception_ptr error = most->error();
    for (ProblemSearch* search : all_) search->give_up(error);
  }
  return true;
}

/// While kernels are compiled there is time to make inputs. False when there is no use for it.
bool Queue::prepare_bench() {
  std::erase_if(open_, [](const ProblemSearch* s) { return !s->holds_bench(); });
  if (open_.size() >= options_.most_open) return false;
  const auto next = std::ranges::find_if(all_, &ProblemSearch::may_prepare);
  if (next != all_.end()) open_bench(**next);
  return next != all_.end();
}

/// In the place of those used longest ago, where there is none left.
bool Queue::open_bench(ProblemSearch& search) {
  const auto close_first = [this] {
    open_.front()->close_bench();
    open_.erase(open_.begin());
  };
  std::erase(open_, &search);
  std::erase_if(open_, [](const ProblemSearch* s) { return !s->holds_bench(); });
  while (!search.holds_bench()) {
    while (open_.size() >= std::max(options_.most_open, size_t{1})) close_first();
    try {
      search.open_bench();
    } catch (const Error& error) {
      if (error.status() != HSTU_ERROR_OUT_OF_MEMORY || open_.empty()) {
        search.give_up(std::current_exception());
        return false;
      }
      close_first();
    }
  }
  open_.push_back(&search);
  return true;
}

// ---- The end

void Queue::end(ProblemSearch& search, SearchEnd end) {
  if (end == SearchEnd::cancelled || open_bench(search)) search.finish(end, start_ + budget());
}

void Queue::end_finished() {
  for (ProblemSearch* search : all_)
    if (const auto why = search->end()) end(*search, *why);
}

/// What has not begun is forgotten, and whoever has a default gets its finals.
void Queue::end_standing() {
  if (!late_) forget(cores_.drop_waiting());
  late_ = true;
  for (ProblemSearch* search : all_)
    if (!search->over() && search->standing()) end(*search, SearchEnd::out_of_time);
}

/// Kernels of problems that are over: nobody will run them.
void Queue::forget_lost() {
  forget(cores_.drop([this](uint64_t ticket) {
    const auto known = tickets_.find(ticket);
    return known != tickets_.end() && known->second->over();
  }));
}

void Queue::forget(const std::vector<uint64_t>& dropped) {
  for (const uint64_t ticket : dropped) {
    const auto known = tickets_.find(ticket);
    if (known == tickets_.end()) continue;
    known->second->dropped(ticket);
    tickets_.erase(known);
  }
}

void Queue::end_all(SearchEnd why) {
  for (ProblemSearch* search : all_) {
    if (search->over()) continue;
    if (search->standing()) {
      end(*search, why);
      continue;
    }
    search->give_up(std::make_exception_ptr(
        Error(HSTU_ERROR_TUNING, "cancelled before the default configuration was compiled and measured")));
  }
}

/// Where more problems wait than there are benches, the least promising one leaves when it is time that another comes.
void Queue::make_room() {
  size_t opened = 0;
  ProblemSearch* least = nullptr;
  double rate = ProblemSearch::kFirst;
  for (size_t i = 0; i < all_.size(); ++i) {
    opened += all_[i]->opened();
    if (all_[i]->over() || !all_[i]->opened() || !all_[i]->standing()) continue;
    const double here = all_[i]->rate() * problems_[i].weight;
    if (least && here >= rate) continue;
    least = all_[i];
    rate = here;
  }
  const size_t there = options_.most_open;
  if (!least || opened < there || opened == all_.size()) return;
  const double turn = static_cast<double>(opened - there + 1) / static_cast<double>(all_.size() - there + 1);
  const auto still = std::ranges::count_if(all_, [](const ProblemSearch* s) { return s->opened() && !s->over(); });
  if (static_cast<size_t>(still) >= there && elapsed() >= turn * search_budget()) end(*least, SearchEnd::out_of_time);
}

void Queue::report(size_t i, const std::string& last, bool finals) {
  if (!options_.progress) return;
  TuneProgress progress = all_[i]->progress();
  progress.problem = i;
  progress.problems = all_.size();
  progress.finals = finals;
  progress.elapsed_seconds = elapsed();
  progress.left_seconds = std::max(0.0, budget() - elapsed());
  progress.over = static_cast<size_t>(std::ranges::count_if(all_, &ProblemSearch::over));
  if (elapsed() > 0) {
    progress.cores_busy = (cores_.busy() - busy_before_) / elapsed() / static_cast<double>(cores_.count());
    for (const ProblemSearch* search : all_) progress.gpu_busy += search->gpu_seconds() / elapsed();
  }
  for (const ProblemSearch* search : all_) progress.fresh_of_all += search->fresh();
  progress.last = last;
  options_.progress(progress);
}

/// A bench that somebody else has.
class BorrowedBench : public Bench {
 public:
  explicit BorrowedBench(Bench& bench) : bench_(bench) {}
  Verdict verify(const Candidate& candidate) override { return bench_.verify(candidate); }
  Sample measure(const Candidate& candidate, int repetitions) override {
    return bench_.measure(candidate, repetitions);
  }
  bool alive() override { return bench_.alive(); }

 private:
  Bench& bench_;
};

}  // namespace

std::vector<TuneOutcome> tune(const std::vector<TuneProblem>& problems, Records& records, Cores& cores,
                              const TuneOptions& options) {
  return Queue(problems, records, cores, options).run();
}

TuneResult tune(const TuneTask& task, Records& records, Bench& bench, const Compile& compile,
                const TuneOptions& options) {
  const std::vector<TuneProblem> alone = {{task, 1, [&bench] { return std::make_unique<BorrowedBench>(bench); }}};
  CompilePool pool(options.compile_threads > 0 ? options.compile_threads : default_compile_threads(), compile);
  TuneOutcome outcome = std::move(tune(alone, records, pool, options).front());
  if (outcome.error) std::rethrow_exception(outcome.error);
  return *std::move(outcome.result);
}

}  // namespace hstujit
