#include "hstu_tune/run_training.hpp"

#include "hstu_tune/graph.hpp"
#include "hstu_tune/messages.hpp"
#include "hstu_tune/parts.hpp"
#include "hstu_tune/passes.hpp"
#include "hstu_tune/report.hpp"
#include "hstu_tune/stopwatch.hpp"
#include "hstu_tune/tuning.hpp"
#include "hstu_tune/warming.hpp"
#include "support/json.hpp"
#include "workload/gradient_check.hpp"
#include "workload/stack_args.hpp"
#include "workload/stack_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace hstujit::tool {
namespace {

constexpr uint64_t kSeed = 1;
constexpr int kWarmups = 3, kSamples = 30;
// Of DLRM-v3: Meta's Triton kernels under autograd on an H200, and the most memory that they hold.
constexpr double kRivalStepMs = 39.5, kRivalStepGb = 6.1;
constexpr double kStepTargetMs = 24, kStepTargetGb = 4.5;

/// A small step on the device against the CPU; prints and reports.
bool check(const Workload& workload, const chain::Fusing& fusing, hstu_context* context, const StoreChoice& store,
           Memory& memory, Report& report) {
  const Workload small = small_version(workload);
  const Stack step(training_step(small, fusing), memory, kSeed);
  step.run(context, nullptr);
  const HostContext cpu = open_host_context(store, "cpu");
  const GradientCheck result = check_gradients(small, step, cpu.get());
  report["check"] = {{"passed", result.passed()},
                     {"relative_error", result.relative_error},
                     {"tolerance", result.tolerance},
                     {"gradients", result.gradients}};
  fmt::print(
      "check {}: {} gradients of {} layers with short sequences; the farthest from f32 on the CPU is {}, relative "
      "error "
      "{:.2e} (at most {:.1e})\n",
      result.passed() ? "passed" : "FAILED", result.gradients, small.stack->layers, result.worst, result.relative_error,
      result.tolerance);
  return result.passed();
}

int without_gpu(const Workload& workload, const TrainingRun& run) {
  fmt::print(
      "no GPU here: compiling a training step of {} for sm_80 and sm_90a, then a small version of it on the CPU\n",
      workload.name);
  std::vector<std::unique_ptr<Context>> contexts;
  bool compiled = true;
  for (const char* target : {"sm_80", "sm_90a"}) {
    contexts.clear();
    contexts.push_back(open_context(run.store, target));
    const std::vector<Calls> calls = {training_step_on(contexts.front()->facts(), workload)};
    const std::vector<Need> needed = needs(calls);
    const std::vector<Warmed> all = warm(contexts, needed, [&](const Warmed& one) {
      if (!one.plan) complain("{}", one.error);
    });
    print_warmed(all);
    compiled = compiled && std::ranges::all_of(all, [](const Warmed& one) { return one.plan != nullptr; });
  }
  Report report;
  report["workload"] = workload.name;
  report["device"] = "cpu";
  const HostContext cpu = open_host_context(run.store, "cpu");
  const auto memory = host_memory();
  const bool passed = check(workload, chain::Fusing(chain::FusedStages{}), cpu.get(), run.store, *memory, report);
  report.write(run.json);
  return compiled && passed ? 0 : 1;
}

/// Both calls in one CUDA graph; their gradients must be those of the single steps, bit for bit.
Passes graph_passes(const Workload& workload, const Stack& step, hstu_context* context, Memory& memory,
                    Stopwatch& watch) {
  const StackArgs args(workload, step, StackUse::training);
  const auto call = [&](CUstream stream) {
    if (const hstu_status status = hstu_stack(context, &args.args(), stream); status != HSTU_OK)
      fail(status, "the stack as one call: {}", hstu_last_error());
    if (const hstu_status status = hstu_stack_backward(context, &args.backward(), stream); status != HSTU_OK)
      fail(status, "its gradient as one call: {}", hstu_last_error());
  };
  std::vector<std::vector<double>> expected;
  const std::vector<std::string> gradients = gradients_of(step.calls());
  for (const std::string& name : gradients) expected.push_back(step.read(name));
  const auto expect_gradients = [&](const char* of_what) {
    for (size_t i = 0; i < gradients.size(); ++i)
      if (step.read(gradients[i]) != expected[i])
        fail(HSTU_ERROR_INTERNAL, "{} of a training step {} is not what its operators one by one give", gradients[i],
             of_what);
  };
  /// Once, into memory that does not hold the gradients any more.
  const auto run_once = [&](const GpuWork& work) {
    for (const std::string& name : gradients) {
      const Buffer& buffer = step.calls().buffers[static_cast<size_t>(step.calls().find(name))];
      const std::string nothing(static_cast<size_t>(buffer.bytes()), '\xff');
      memory.upload(step.base(name), nothing.data(), nothing.size());
    }
    memory.synchronise();
    work(watch.stream());
    watch.synchronise();
  };
  run_once(call);
  expect_gradients("as two calls");
  const Graph graph(context->context.driver(), watch.stream(), call);
  const GpuWork replay = [&](CUstream stream) { graph.launch(stream); };
  run_once(replay);
  expect_gradients("replayed from a graph");
  return time_passes(context->context.driver(), replay, watch);
}

int on_gpu(const Workload& workload, const TrainingRun& run) {
  const HostContext host = open_host_context(run.store, run.device);
  Context& context = host->context;
  fmt::print("{}: a training step on {} ({})\n", workload.name, context.facts().name, context.facts().target);
  const int ordinal = ordinal_of(run.device);
  const std::vector<Calls> all = {training_step_on(context.facts(), workload)};
  const Calls& calls = all.front();
  const TuningOutcome tuned =
      tune_all(context, ordinal, needs(all), {.budget_s = run.budget_s, .only_missing = !run.retune, .strategy = ""});
  for (const Tuned& one : tuned.problems)
    if (!one.error.empty()) complain("{}: {}", one.need->call->name, one.error);
  if (tuned.interrupted) {
    complain("interrupted; what was measured is kept, the same command goes on from there");
    return 1;
  }

  const auto memory = gpu_memory(context.driver(), ordinal);
  const Stack step(calls, *memory, kSeed);
  Stopwatch watch(context.driver(), context.device_context());
  step.run(host.get(), watch.stream());
  watch.synchronise();
  double bytes = 0;
  for (const Buffer& buffer : calls.buffers) bytes += static_cast<double>(buffer.bytes());

  Report report;
  report["workload"] = workload.name;
  report["device"] = context.facts().name;
  report["driver"] = context.driver().version;
  print_parts(calls, watch.steps(steps_of(step, host.get()), kWarmups, kSamples), context, report);
  const bool passed = check(workload, chain::Fusing(calls.fused), host.get(), run.store, *memory, report);
  const std::vector<std::string> families = families_of(context, calls);
  const bool is_dlrm = workload.name == "dlrm_v3";
  const auto rival = [&](double value, const char* unit) {
    return is_dlrm ? fmt::format("Meta Triton under autograd: {} {}", value, unit) : std::string();
  };
  const auto target = [&](double value) { return is_dlrm ? std::optional(value) : std::nullopt; };
  report.add(
      {run.name + "_memory", bytes * 1e-9, "GB", false, target(kStepTargetGb), rival(kRivalStepGb, "GB"), families});
  if (passed)
    report_passes(run.name, graph_passes(workload, step, host.get(), *memory, watch), target(kStepTargetMs),
                  rival(kRivalStepMs, "ms"), families, report);
  report.write(run.json);
  return passed && !tuned.failed() ? 0 : 1;
}

}  // namespace

int run_training(const Workload& workload, const TrainingRun& run) {
  return run.device.empty() ? without_gpu(workload, run) : on_gpu(workload, run);
}

}  // namespace hstujit::tool
