#include "tuner/simulated_machine.hpp"

#include "support/error.hpp"

#include <algorithm>

namespace hstujit {
namespace {

constexpr int kTrialRepetitions = 15;  // what a recorded trial includes at most
constexpr double kEviction = 2e-4;     // of the cache, before each run

std::string key_of(const Problem& problem, const Family& family) {
  return text(problem) + ' ' + std::string(family.name);
}

std::string made_key(const Order& order) {
  return key_of(*order.problem, *order.family) + text(*order.family, order.config);
}

KernelPtr kernel_of(const Order& order) {
  auto kernel = std::make_shared<CompiledKernel>();
  kernel->name = std::string(order.family->name) + ' ' + text(*order.family, order.config);
  kernel->compiler = "none: simulated";
  return kernel;
}

/// Times as recorded, without noise. A configuration's first trial takes the GPU as long as the recorded one did.
class SimulatedBench : public Bench {
 public:
  SimulatedBench(SimulatedMachine& machine, const Problem& problem) : machine_(machine), problem_(problem) {}

  Verdict verify(const Candidate& candidate) override {
    const SimulatedMachine::Row& row = machine_.row(problem_, *candidate.family, candidate.config);
    machine_.run_gpu(row.measuring);
    if (!row.seconds) return {false, "the recorded trial failed"};
    return {true, ""};
  }

  Sample measure(const Candidate& candidate, int repetitions) override {
    const SimulatedMachine::Row& row = machine_.row(problem_, *candidate.family, candidate.config);
    if (!row.seconds) fail(HSTU_ERROR_DEVICE, "the recorded trial failed");
    int& known = measured_[{std::string(candidate.family->name), candidate.config}];
    for (int i = 0; i < repetitions; ++i)
      if (++known > kTrialRepetitions) machine_.run_gpu(*row.seconds + kEviction);
    return {std::vector<double>(static_cast<size_t>(repetitions), *row.seconds), 0};
  }

  bool alive() override { return true; }

 private:
  SimulatedMachine& machine_;
  const Problem problem_;
  std::map<std::pair<std::string, Config>, int> measured_;
};

}  // namespace

void SimulatedMachine::add(const Problem& problem, const Family& family, const RecordedSpace& recorded) {
  std::map<Config, Row>& rows = rows_[key_of(problem, family)];
  for (size_t i = 0; i < recorded.space.size(); ++i) {
    const TrialSeconds trial = recorded.trials.empty() ? TrialSeconds{} : recorded.trials[i];
    rows[recorded.space.points()[i]] = {recorded.seconds[i], trial.compiling.value_or(kUsualCompiling),
                                        trial.measuring.value_or(kUsualMeasuring)};
  }
}

std::unique_ptr<Bench> SimulatedMachine::bench(const Problem& problem) {
  return std::make_unique<SimulatedBench>(*this, problem);
}

const SimulatedMachine::Row& SimulatedMachine::row(const Problem& problem, const Family& family,
                                                   const Config& config) const {
  const auto space = rows_.find(key_of(problem, family));
  if (space != rows_.end())
    if (const auto found = space->second.find(config); found != space->second.end()) return found->second;
  fail(HSTU_ERROR_INTERNAL, "{} {} for {} is in no recording", family.name, text(family, config), text(problem));
}

/// Once; afterwards the compiler's caches know it.
double SimulatedMachine::compiling(const Order& order) {
  const bool fresh = made_.insert(made_key(order)).second;
  return fresh ? row(*order.problem, *order.family, order.config).compiling : 0;
}

std::optional<Compiled> SimulatedMachine::find(const Order& order) {
  if (!made_.contains(made_key(order))) return std::nullopt;
  return Compiled{order.ticket, kernel_of(order), nullptr, 0};
}

void SimulatedMachine::order(Order order) { begin(order.ticket, kernel_of(order), compiling(order)); }

/// On the core that is free first.
void SimulatedMachine::begin(uint64_t ticket, KernelPtr kernel, double seconds) {
  double& core = *std::min_element(free_at_.begin(), free_at_.end());
  const double begin = std::max(core, now_);
  core = begin + seconds;
  tasks_.push_back({ticket, begin, core, std::move(kernel)});
}

std::optional<Compiled> SimulatedMachine::take(double until) {
  const auto first =
      std::min_element(tasks_.begin(), tasks_.end(), [](const Task& a, const Task& b) { return a.end < b.end; });
  if (first == tasks_.end()) return std::nullopt;
  if (first->end > std::max(until, now_)) {
    now_ = std::max(now_, until);
    return std::nullopt;
  }
  now_ = std::max(now_, first->end);
  Compiled made{first->ticket, first->kernel, nullptr, first->end - first->begin};
  cores_busy_ += made.seconds;
  tasks_.erase(first);
  return made;
}

Compiled SimulatedMachine::make(const Order& order) {
  const double seconds = compiling(order);
  now_ += seconds;
  cores_busy_ += seconds;
  return {order.ticket, kernel_of(order), nullptr, seconds};
}

std::vector<uint64_t> SimulatedMachine::drop(const std::function<bool(uint64_t ticket)>& which) {
  std::vector<uint64_t> dropped;
  std::vector<Task> begun, later;
  for (const Task& task : tasks_) {
    if (task.begin > now_ && which(task.ticket))
      dropped.push_back(task.ticket);
    else
      (task.begin > now_ ? later : begun).push_back(task);
  }
  if (dropped.empty()) return dropped;
  tasks_ = std::move(begun);
  std::fill(free_at_.begin(), free_at_.end(), now_);
  size_t core = 0;  // each of those that go on has one of its own
  for (const Task& task : tasks_)
    if (task.end > now_) free_at_[core++] = task.end;
  for (const Task& task : later) begin(task.ticket, task.kernel, task.end - task.begin);
  return dropped;
}

double SimulatedMachine::busy() const {
  double sum = cores_busy_;
  for (const Task& task : tasks_) sum += std::clamp(now_ - task.begin, 0.0, task.end - task.begin);
  return sum;
}

void SimulatedMachine::run_gpu(double seconds) {
  now_ += seconds;
  gpu_busy_ += seconds;
}

}  // namespace hstujit
