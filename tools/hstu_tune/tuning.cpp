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
#include <exception>
#include <functional>

namespace hstujit::tool {
namespace {

std::string best_text(const TuneProgress& now) {
  if (now.best_seconds <= 0) return "no time yet";
  std::string text = fmt::format("best {}", duration_text(now.best_seconds));
  if (now.standard_seconds > 0)
    text += fmt::format(" ({:.2f}x the default's speed)", now.standard_seconds / now.best_seconds);
  return text;
}

double seconds_of(const Need& need) {
  constexpr double kBytesPerSecond = 3e12, kFlopsPerSecond = 4e14, kLeastSeconds = 2e-6;
  const double bound = std::max({need.cost.bytes / kBytesPerSecond, need.cost.flops / kFlopsPerSecond, kLeastSeconds});
  return need.count * bound;
}

/// How far it is: by the time or by the problems, whichever is further.
void show(Progress& progress, const TuneProgress& now, const std::string& name, size_t count) {
  const double time = now.elapsed_seconds + now.left_seconds;
  const double share =
      std::max(time > 0 ? now.elapsed_seconds / time : 0.0, static_cast<double>(now.over) / static_cast<double>(count));
  const double rate = now.elapsed_seconds > 0 ? now.fresh_of_all / now.elapsed_seconds : 0;
  progress.show(share, fmt::format("{}: {}/{}{}, {:.1f}/s, cores {:.0f} %, GPU {:.0f} %, {}, {:.0f} s left", name,
                                   now.done, now.total, now.finals ? " finals" : "", rate, 100 * now.cores_busy,
                                   100 * now.gpu_busy, best_text(now), now.left_seconds));
}

/// What a gain counts for: the problem's calls times a lower bound of its time, on any recent GPU, as a share of all;
/// and as much again shared equally, so that every problem gets some of the budget.
std::vector<double> weights_of(const std::vector<Need>& needs, bool by_time) {
  double sum = 0;
  for (const Need& need : needs) sum += seconds_of(need);
  std::vector<double> weights;
  for (const Need& need : needs)
    weights.push_back(static_cast<double>(needs.size()) * seconds_of(need) / sum + (by_time ? 0 : 1));
  return weights;
}

class Tuner {
 public:
  Tuner(Context& context, int ordinal, const TuningOptions& options)
      : context_(context),
        memory_(gpu_memory(context.driver(), ordinal)),
        current_(context.driver(), context.device_context()),
        options_(options) {}

  std::vector<Tuned> tune(const std::vector<Need>& needs) {
    std::vector<Tuned> all;
    std::vector<size_t> asked;  // places in `all` of what is tuned
    std::vector<AnyArgs> args;
    std::vector<CallToTune> calls;
    const std::vector<double> weights = weights_of(needs, options_.by_time);
    args.reserve(needs.size());
    for (size_t i = 0; i < needs.size(); ++i) {
      all.push_back({&needs[i], std::nullopt, ""});
      if (options_.only_missing && has_record(needs[i])) continue;
      try {
        args.push_back(prepared(*needs[i].call, *needs[i].calls, [this](const Buffer& b) { return upload(b); }));
        calls.push_back({needs[i].problem, address(args.back()), weights[i]});
        asked.push_back(i);
      } catch (const Error& error) { all.back().error = error.message(); }
    }
    const auto name = [&](size_t problem) { return all[asked[problem]].need->call->name; };
    const auto outcomes =
        tune_calls(context_.driver(), context_.facts(), context_.jit(), context_.records(), calls, options(name));
    for (size_t i = 0; i < outcomes.size(); ++i) take(outcomes[i], all[asked[i]]);
    return all;
  }

 private:
  bool has_record(const Need& need) const {
    return context_.records().find(need.problem, context_.facts().device_class()).has_value();
  }

  TuneOptions options(const std::function<std::string(size_t)>& name) {
    constexpr double kLongestMs = double{int64_t{1} << 40};  // three decades
    TuneOptions job;
    job.budget_ms = to_integer<int64_t>(std::min(options_.budget_s * 1e3, kLongestMs), 0, int64_t{1} << 40);
    job.until = options_.until;
    job.seed = options_.seed;
    job.strategy = options_.strategy;
    job.width = options_.width;
    job.again = options_.again;
    job.cancel = &Interrupt::flag();
    job.progress = [this, name](const TuneProgress& now) { show(progress_, now, name(now.problem), now.problems); };
    return job;
  }

  static void take(const TuneOutcome& outcome, Tuned& tuned) {
    tuned.result = outcome.result;
    if (!outcome.error) return;
    try {
      std::rethrow_exception(outcome.error);
    } catch (const Error& error) { tuned.error = error.message(); }
  }

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
  Progress progress_;
};

/// Why it ended, and what it expects to have left.
std::string end_of(const TuneResult& result) {
  constexpr double kWorthAWord = 0.0005;
  std::string text = result.end == SearchEnd::exhausted     ? ""
                     : result.end == SearchEnd::settled     ? ", settled"
                     : result.end == SearchEnd::out_of_time ? ", out of time"
                                                            : ", interrupted";
  if (result.end != SearchEnd::exhausted && result.rest && *result.rest >= kWorthAWord)
    text += fmt::format(", {:.1f} % more expected", 100 * *result.rest);
  return text;
}

std::string remark(const TuneResult& result) {
  std::string text = fmt::format("{} measured", result.measured);
  if (result.reused > 0) text += fmt::format(", {} known", result.reused);
  if (result.failed > 0) text += fmt::format(", {} rejected", result.failed);
  return text + end_of(result);
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

int TuningOutcome::out_of_time() const {
  return static_cast<int>(std::ranges::count_if(
      problems, [](const Tuned& one) { return one.result && one.result->end == SearchEnd::out_of_time; }));
}

TuningOutcome tune_all(Context& context, int ordinal, const std::vector<Need>& needs, const TuningOptions& options) {
  const Interrupt interrupt;
  TuningOutcome outcome;
  outcome.problems = Tuner(context, ordinal, options).tune(needs);
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
