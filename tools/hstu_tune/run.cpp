// run: the main job. With a GPU it tunes what is not tuned and runs the workload's stack; without one it compiles the
// workload's kernels for sm_80 and sm_90a and runs a small version of the stack on the CPU. Both check the numbers.
#include "cuda/nvrtc.hpp"
#include "hstu_tune/graph.hpp"
#include "hstu_tune/messages.hpp"
#include "hstu_tune/passes.hpp"
#include "hstu_tune/report.hpp"
#include "hstu_tune/stopwatch.hpp"
#include "hstu_tune/table.hpp"
#include "hstu_tune/tuning.hpp"
#include "hstu_tune/warming.hpp"
#include "support/env.hpp"
#include "support/json.hpp"
#include "workload/stack_args.hpp"
#include "workload/stack_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

namespace hstujit::tool {
namespace {

constexpr uint64_t kSeed = 1;
constexpr int kWarmups = 3, kSamples = 30;
// What the fastest public implementation needs for the same layers (Meta's Triton kernels on an H200).
constexpr double kRivalFirstResultS = 60.7, kRivalPassMs = 8.14;
constexpr double kGraphPassTargetMs = 4.5, kFp8GraphPassTargetMs = 3.6, kSm80GraphPassTargetMs = 9;

struct Options {
  std::string workload, device, json;
  double budget_s = 40;
  bool retune = false;
  StoreChoice store;
};

/// What a process had to do before its first result.
enum class Before { nothing, compiling, tuning };

// ---- Checking

/// Runs the small version of the stack on the device and compares with the mathematics; prints and reports.
bool check(const Workload& workload, chain::FusedStages fused, hstu_context* context, Memory& memory, Report& report) {
  const Workload small = small_version(workload);
  const Calls calls = expand_stack(small, fused);
  const Stack stack(calls, memory, kSeed);
  stack.set_up(context, nullptr);
  stack.run(context, nullptr);
  const StackCheck result = check_stack(small, stack);
  const char* const verdict = result.passed() ? "passed" : "FAILED";
  report["check"] = {
      {"passed", result.passed()}, {"relative_error", result.relative_error}, {"tolerance", result.tolerance}};
  if (!(result.element_error <= result.element_tolerance))
    fmt::print("check {}: an element is wrong by {:.2e} of its row (at most {:.1e})\n", verdict, result.element_error,
               result.element_tolerance);
  if (!result.quantisation_error) {
    fmt::print(
        "check {}: {} of its layers with short sequences, relative error {:.2e} against double precision (at most "
        "{:.1e})\n",
        verdict, small.stack->layers, result.relative_error, result.tolerance);
    return result.passed();
  }
  fmt::print(
      "check {}: {} layers with short sequences, relative error of the last {:.2e} against double precision that "
      "quantises alike (at most {:.1e}), of all {:.2e} against such that does not (at most {:.1e})\n",
      verdict, small.stack->layers, result.relative_error, result.tolerance, *result.quantisation_error,
      result.quantisation_tolerance);
  report.add({workload.name + "_error_short_sequences", 100 * *result.quantisation_error, "%", false, std::nullopt,
              "layers in double precision that quantise nothing, by root mean squares",
              context->context.on_gpu() ? families_of(context->context, calls) : std::vector<std::string>()});
  return result.passed();
}

// ---- Without a GPU

int run_without_gpu(const Options& options, const Traffic& traffic) {
  fmt::print("no GPU here: compiling {} for sm_80 and sm_90a, then a small version of it on the CPU\n",
             traffic.workload.name);
  std::vector<std::unique_ptr<Context>> contexts;
  for (const char* target : {"sm_80", "sm_90a"}) contexts.push_back(open_context(options.store, target));
  const std::vector<Warmed> all = warm(contexts, traffic.needs, [](const Warmed& one) {
    if (!one.plan) complain("{}", one.error);
  });
  print_warmed(all);
  fmt::print("{}: {}\n", traffic.workload.name, counters_text(contexts));
  const bool compiled = std::all_of(all.begin(), all.end(), [](const Warmed& one) { return one.plan; });

  Report report;
  report["workload"] = traffic.workload.name;
  report["device"] = "cpu";
  const HostContext cpu = open_host_context(options.store, "cpu");
  const bool passed = check(traffic.workload, {}, cpu.get(), *host_memory(), report);
  fmt::print("{:.1f} s from process start\n", seconds_since_start());
  report.write(options.json);
  return compiled && passed ? 0 : 1;
}

// ---- With a GPU

/// The parts of a layer, summed over the layers.
struct Part {
  const Call* call = nullptr;
  int calls = 0;
  double seconds = 0;
  Cost cost;
};

std::vector<Part> parts_of(const Calls& calls, const std::vector<double>& seconds) {
  std::vector<Part> parts;
  for (size_t i = 0; i < calls.calls.size(); ++i) {
    const Call& call = calls.calls[i];
    auto part = std::find_if(parts.begin(), parts.end(), [&](const Part& p) { return p.call->name == call.name; });
    if (part == parts.end()) part = parts.insert(parts.end(), Part{&call, 0, 0, cost_of(call, calls)});
    ++part->calls;
    part->seconds += seconds[i];
  }
  return parts;
}

std::string rate_text(const Cost& cost, double seconds) {
  const bool compute = cost.flops > 100 * cost.bytes;
  return compute ? fmt::format("{:.0f} TFLOP/s", cost.flops / seconds * 1e-12)
                 : fmt::format("{:.0f} GB/s", cost.bytes / seconds * 1e-9);
}

void print_parts(const Calls& calls, const std::vector<Part>& parts, Context& context, Report& report) {
  double total = 0;
  for (const Part& part : parts) total += part.seconds;
  Table table({"part", ">calls", ">time", ">share", ">rate", "configuration"});
  for (const Part& part : parts) {
    const Plan& plan = context.plan_for(problem_of(*part.call, calls), nullptr, nullptr);
    const double each = part.seconds / part.calls;
    table.add({part.call->name, fmt::format("{}", part.calls), duration_text(each),
               fmt::format("{:.1f} %", 100 * part.seconds / total), rate_text(part.cost, each), text(plan.choice)});
    report["parts"].push_back({{"name", part.call->name},
                               {"calls", part.calls},
                               {"seconds", each},
                               {"flops", part.cost.flops},
                               {"bytes", part.cost.bytes},
                               {"configuration", text(plan.choice)}});
  }
  table.print();
}

std::vector<GpuWork> steps_of(const Stack& stack, hstu_context* context) {
  std::vector<GpuWork> steps;
  for (size_t i = 0; i < stack.size(); ++i)
    steps.push_back([&stack, context, i](CUstream stream) { stack.run(i, context, stream); });
  return steps;
}

/// The whole stack as one call, replayed from a CUDA graph as a server would; its result must be that of the single
/// calls, bit for bit.
Passes graph_passes(const Traffic& traffic, const Stack& stack, hstu_context* context, Memory& memory,
                    Stopwatch& watch) {
  const std::vector<double> expected = stack.result();
  const auto expect_result = [&](const char* of_what) {
    if (stack.result() != expected)
      fail(HSTU_ERROR_INTERNAL, "the stack {} gives another result than its operators one by one", of_what);
  };
  const StackArgs stack_args(traffic.workload, stack);
  const hstu_tensor& out = stack_args.args().out;
  /// Once, into memory that does not hold the result any more.
  const auto run_once = [&](const GpuWork& work) {
    const std::string nothing(static_cast<size_t>(extent_bytes(out)), '\xff');
    memory.upload(out.data, nothing.data(), nothing.size());
    memory.synchronise();
    work(watch.stream());
    watch.synchronise();
  };
  const auto call = [&](CUstream stream) {
    if (const hstu_status status = hstu_stack(context, &stack_args.args(), stream); status != HSTU_OK)
      fail(status, "the stack as one call: {}", hstu_last_error());
  };
  run_once(call);
  expect_result("as one call");
  const Graph graph(context->context.driver(), watch.stream(), call);
  const GpuWork replay = [&](CUstream stream) { graph.launch(stream); };
  run_once(replay);
  expect_result("replayed from a graph");
  Passes passes = time_passes(context->context.driver(), replay, watch);
  expect_result("replayed many times");
  return passes;
}

/// What the figures of a run begin with: the workload, and the generation of kernels if it was chosen.
std::string figures_name(const Workload& workload, const std::string& device) {
  const auto gpu = parse_gpu_name(device);
  return gpu && !gpu->generation.empty() ? fmt::format("{}_on_{}", workload.name, gpu->generation) : workload.name;
}

/// Meta's Triton kernels compute the layers of all of these, in bf16.
bool has_rival(const std::string& name) {
  return name == "dlrm_v3" || name == "dlrm_v3_on_sm_80" || name == "dlrm_v3_fp8";
}

std::string pass_rival(const std::string& name) {
  return has_rival(name) ? fmt::format("Meta Triton in bf16 in a CUDA graph, 2 % less work: {} ms", kRivalPassMs) : "";
}

/// How far projections in FP8 take the whole result from that of a stack with the same weights as they are.
void report_error(const std::string& name, const Traffic& traffic, const Stack& stack,
                  const std::vector<std::string>& of_stack, hstu_context* context, Memory& memory, Report& report) {
  Workload exact = traffic.workload;
  exact.stack->projections = HSTU_DTYPE_NONE;
  exact.stack->weights_transposed = true;  // as FP8 has them: the same numbers
  const Calls calls = expand_stack(exact);
  const Stack twin(calls, memory, kSeed);
  twin.run(context, nullptr);
  std::set<std::string> families(of_stack.begin(), of_stack.end());
  for (std::string& family : families_of(context->context, calls)) families.insert(std::move(family));
  report.add(
      {name + "_error",
       100 * relative_error(stack.result(), twin.result()),
       "%",
       false,
       std::nullopt,
       fmt::format("the same stack with projections in {}, by root mean squares", name_of(traffic.workload.dtype)),
       {families.begin(), families.end()}});
}

void report_times(const std::string& name, const Timing& pass, double first_result, Before before,
                  const std::vector<std::string>& families, Report& report) {
  report.add({name + "_pass", static_cast<double>(pass.median_ns) * 1e-6, "ms", false, std::nullopt, pass_rival(name),
              families});
  const std::string rival = has_rival(name) ? fmt::format("the rival: {} s", kRivalFirstResultS) : "";
  const char* const what = before == Before::nothing     ? "filled_store"
                           : before == Before::compiling ? "empty_store"
                                                         : "with_tuning";
  const double target = before == Before::nothing ? 1.0 : kRivalFirstResultS;
  report.add({fmt::format("{}_first_result_{}", name, what), first_result, "s", false, target, rival, families});
}

std::optional<double> graph_pass_target_ms(const std::string& name) {
  if (name == "dlrm_v3") return kGraphPassTargetMs;
  if (name == "dlrm_v3_on_sm_80") return kSm80GraphPassTargetMs;
  if (name == "dlrm_v3_fp8") return kFp8GraphPassTargetMs;
  return std::nullopt;
}

int run_on_gpu(const Options& options, const Traffic& traffic) {
  const HostContext host = open_host_context(options.store, options.device);
  Context& context = host->context;
  fmt::print("{} on {} ({})\n", traffic.workload.name, context.facts().name, context.facts().target);
  const int ordinal = ordinal_of(options.device);
  const std::vector<Need> needs = needs_on(context.facts(), traffic.needs);
  const TuningOutcome tuned = tune_all(context, ordinal, needs,
                                       {.budget_s = options.budget_s, .only_missing = !options.retune, .strategy = ""});
  for (const Tuned& one : tuned.problems)
    if (!one.error.empty()) complain("{}: {}", one.need->call->name, one.error);
  if (tuned.interrupted) {
    complain("interrupted; what was measured is kept, the same command goes on from there");
    return 1;
  }

  const auto memory = gpu_memory(context.driver(), ordinal);
  const Calls calls = stack_on(context.facts(), traffic.workload);
  const Stack stack(calls, *memory, kSeed);
  Stopwatch watch(context.driver(), context.device_context());
  stack.set_up(host.get(), watch.stream());
  stack.run(host.get(), watch.stream());
  watch.synchronise();
  const double first_result = seconds_since_start();
  const Before before = tuned.measured() > 0              ? Before::tuning
                        : context.counters().compiles > 0 ? Before::compiling
                                                          : Before::nothing;

  Report report;
  report["workload"] = traffic.workload.name;
  report["device"] = context.facts().name;
  report["driver"] = context.driver().version;
  report["nvrtc"] = nvrtc_at(Environment::read().libnvrtc).identity;
  const Timing pass = watch.warm([&](CUstream stream) { stack.run(host.get(), stream); }, kWarmups, kSamples);
  print_parts(calls, parts_of(calls, watch.steps(steps_of(stack, host.get()), kWarmups, kSamples)), context, report);
  const bool passed = check(traffic.workload, calls.fused, host.get(), *memory, report);
  const std::string name = figures_name(traffic.workload, options.device);
  const std::vector<std::string> families = families_of(context, calls);
  report_times(name, pass, first_result, before, families, report);
  if (passed)
    report_passes(name, graph_passes(traffic, stack, host.get(), *memory, watch), graph_pass_target_ms(name),
                  pass_rival(name), families, report);
  if (passed && traffic.workload.stack->projections != HSTU_DTYPE_NONE)
    report_error(name, traffic, stack, families, host.get(), *memory, report);
  report.write(options.json);
  return passed && !tuned.failed() ? 0 : 1;
}

int execute(const Options& options) {
  const auto traffic = load_traffic(options.workload);
  if (!traffic->workload.stack)
    throw UsageError(options.workload + ": it has no /stack to run; hstu-tune bench measures single operators");
  // Without --device, the machine decides; a device that was asked for must be there.
  if (!options.device.empty()) require_gpu_name(options.device);
  if (options.device.empty() && !has_gpu() && !options.retune) return run_without_gpu(options, *traffic);
  Options chosen = options;
  if (chosen.device.empty()) chosen.device = "cuda";
  return run_on_gpu(chosen, *traffic);
}

}  // namespace

void add_run(Command& program) {
  auto options = std::make_shared<Options>();
  Command command = program.subcommand("run", "Tune and run a workload's stack; without a GPU, compile and check it");
  command.option("workload", options->workload, "Workload file with a stack").required();
  command.option("--device", options->device,
                 "cuda or cuda:N, or cuda@sm_80: kernels of that generation only (default: cuda if there is one)");
  command.option("--budget", options->budget_s, "Seconds for tuning, all problems together")
      .not_negative()
      .shows_default();
  command.flag("--retune", options->retune, "Tune what has records, too, shipped ones among them; needs a GPU");
  command.option("--json", options->json, "File for the results as JSON");
  add_store_option(command, options->store);
  command.runs([options] { return execute(*options); });
}

}  // namespace hstujit::tool
