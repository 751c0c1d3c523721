#include "hstu_tune/tuning.hpp"

#include "hstu_tune/progress.hpp"
#include "hstu_tune/table.hpp"
#include "launch/module.hpp"
#include "support/error.hpp"
#include "support/to_integer.hpp"
#include "tuner/tune_call.hpp"
#include "tuner/values.hpp"
#include "workload/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace hstujit::tool {
namespace {

using Clock = std::chrono::steady_clock;

/// Time that several problems share.
class Budget {
 public:
  explicit Budget(double seconds) : total_(seconds) {}
  double left() const { return std::max(0.0, total_ - std::chrono::duration<double>(Clock::now() - start_).count()); }
  int64_t share_ms(double share) const { return to_integer<int64_t>(left() * 1e3 * share, 0, kLongestMs); }

 private:
  static constexpr int64_t kLongestMs = int64_t{1} << 40;  // three decades

  double total_;
  Clock::time_point start_ = Clock::now();
};

std::string best_text(const TuneProgress& now) {
  if (now.best_seconds <= 0) return "no time yet";
  std::string text = fmt::format("best {}", duration_text(now.best_seconds));
  if (now.standard_seconds > 0)
    text += fmt::format(" ({:.2f}x the default's speed)", now.standard_seconds / now.best_seconds);
  return text;
}

double seconds_of(const Need& need) {
  constexpr double kBytesPerSecond = 3e12, kFlopsPerSecond = 4e14, kLeastSeconds = 2e-6;
  const double bound = std::max({need.work.bytes / kBytesPerSecond, need.work.flops / kFlopsPerSecond, kLeastSeconds});
  return need.count * bound;
}

/// How far all problems are: those behind us, and this one's share of its time or of its space, whichever is further.
void show(Progress& progress, const TuneProgress& now, const std::string& name, size_t index, size_t count,
          const Budget& budget) {
  const double time = now.elapsed_seconds + now.left_seconds;
  const double here = std::max(time > 0 ? now.elapsed_seconds / time : 0.0,
                               now.total > 0 ? static_cast<double>(now.done) / now.total : 0.0);
  const double rate = now.elapsed_seconds > 0 ? now.fresh / now.elapsed_seconds : 0;
  progress.show((static_cast<double>(index) + std::min(here, 1.0)) / static_cast<double>(count),
                fmt::format("{}: {}/{}{}, {:.1f}/s, {}, {:.0f} s left", name, now.done, now.total,
                            now.finals ? " finals" : "", rate, best_text(now), budget.left()));
}

/// What a problem counts for among the others: its calls times a lower bound of its time, on any recent GPU; half of
/// the budget is shared equally, so that every problem gets some.
std::vector<double> weights_of(const std::vector<Need>& needs, bool by_time) {
  std::vector<double> weights(needs.size(), 1.0);
  if (!by_time) return weights;
  double sum = 0;
  for (const Need& need : needs) sum += seconds_of(need);
  for (size_t i = 0; i < needs.size(); ++i)
    weights[i] = 1 + static_cast<double>(needs.size()) * seconds_of(needs[i]) / sum;
  return weights;
}

/// Of the time that is left when the problem's turn comes.
double share_of(const std::vector<double>& weights, size_t index) {
  double left = 0;
  for (size_t i = index; i < weights.size(); ++i) left += weights[i];
  return weights[index] / left;
}

class Tuner {
 public:
  Tuner(Context& context, int ordinal, const TuningOptions& options)
      : context_(context),
        memory_(gpu_memory(context.driver(), ordinal)),
        current_(context.driver(), context.device_context()),
        options_(options),
        budget_(options.budget_s) {}

  /// `share`: of the time that is left.
  Tuned tune(const Need& need, size_t index, size_t count, double share) {
    Tuned tuned{&need, std::nullopt, ""};
    if (options_.only_missing && context_.records().find(need.problem, context_.facts().device_class())) return tuned;
    TuneOptions job;
    job.budget_ms = budget_.share_ms(share);
    job.seed = options_.seed;
    job.strategy = options_.strategy;
    job.width = options_.width;
    job.again = options_.again;
    job.cancel = &Interrupt::flag();
    job.progress = [&](const TuneProgress& now) { show(progress_, now, need.call->name, index, count, budget_); };
    try {
      const AnyArgs args = prepared(*need.call, *need.calls, [this](const Buffer& b) { return upload(b); });
      tuned.result = tune_call(context_.driver(), context_.facts(), context_.jit(), context_.records(), need.problem,
                               address(args), job);
    } catch (const Error& error) { tuned.error = error.message(); }
    return tuned;
  }

 private:
  void* upload(const Buffer& buffer) {
    const std::vector<std::byte> bytes = encode(buffer.list, buffer.dtype);
    void* data = memory_->allocate(bytes.size());
    if (!bytes.empty()) memory_->upload(data, bytes.data(), bytes.size());
    return data;
  }

  Context& context_;
  const std::unique_ptr<Memory> memory_;
  const CurrentContext current_;
  const TuningOptions& options_;
  const Budget budget_;
  Progress progress_;
};

std::string remark(const TuneResult& result) {
  std::string text = fmt::format("{} measured", result.measured);
  if (result.reused > 0) text += fmt::format(", {} known", result.reused);
  if (result.failed > 0) text += fmt::format(", {} rejected", result.failed);
  if (result.out_of_time) text += ", out of time";
  if (result.cancelled) text += ", interrupted";
  return text;
}

}  // namespace

int TuningOutcome::measured() const {
  int sum = 0;
  for (const Tuned& one : problems) sum += one.result ? one.result->measured : 0;
  return sum;
}

bool TuningOutcome::failed() const {
  return std::any_of(problems.begin(), problems.end(), [](const Tuned& one) { return !one.error.empty(); });
}

TuningOutcome tune_all(Context& context, int ordinal, const std::vector<Need>& needs, const TuningOptions& options) {
  const Interrupt interrupt;
  Tuner tuner(context, ordinal, options);
  const std::vector<double> weights = weights_of(needs, options.by_time);
  TuningOutcome outcome;
  for (size_t i = 0; i < needs.size() && !Interrupt::asked(); ++i)
    outcome.problems.push_back(tuner.tune(needs[i], i, needs.size(), share_of(weights, i)));
  outcome.interrupted = Interrupt::asked();
  return outcome;
}

void print_tuned(const TuningOutcome& outcome, Context& context) {
  Table table({"problem", ">time", ">default", ">gain", "configuration", "remark"});
  for (const Tuned& one : outcome.problems) {
    if (!one.error.empty()) {
      table.add({one.need->call->name, "", "", "", "", "failed"});
      continue;
    }
    const auto record = context.records().find(one.need->problem, context.facts().device_class());
    if (!record) continue;
    const auto best = static_cast<double>(record->trial.timing.median_ns);
    const auto standard = static_cast<double>(record->standard_ns);
    table.add({one.need->call->name, duration_text(best * 1e-9), duration_text(standard * 1e-9),
               best > 0 ? fmt::format("{:.2f}x", standard / best) : "",
               fmt::format("{} {}", record->trial.family, record->trial.config),
               one.result ? remark(*one.result) : "has a record"});
  }
  table.print();
}

}  // namespace hstujit::tool
