// Warm calls: what a call through the library costs the host beyond the bare launch of the same kernel.
#include "hstu_tune/bench.hpp"
#include "hstu_tune/table.hpp"
#include "support/error.hpp"
#include "tuner/statistics.hpp"
#include "workload/memory.hpp"
#include "workload/stack_args.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace hstujit::tool {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// One small call of each operator: its kernel is shorter than its launch, so the queue never fills.
Workload small_calls() {
  Workload workload;
  workload.name = "small calls";
  const auto constant = [](int64_t length) { return Lengths{Lengths::Kind::constant, length, 0, std::nullopt, {}}; };
  workload.sequences = Sequences{2, constant(24), constant(8), HSTU_DTYPE_I64};
  const auto add = [&](auto spec) {
    workload.operators.push_back({.name = "", .spec = spec, .figure = {}, .family_figures = {}});
  };
  add(LayerNormSpec{.rows = 64, .dim = 512});
  add(AddmmSpec{.m = 64, .k = 512, .n = 512});
  add(AttentionSpec{2, 64, 64, std::nullopt, {}});
  add(NormMulSpec{.rows = 64, .dim = 512, .concat_u = true, .concat_x = true});
  return workload;
}

/// A launch with everything decided beforehand: the floor under any library call.
class BareLaunch {
 public:
  BareLaunch(const Context& context, const Plan& plan, AnyArgs args) : driver_(context.driver()) {
    operator_of(plan.problem.op).prepare(address(args));
    plan.choice.family->bind(address(args), plan.problem, plan.choice.config, context.facts(), launch_);
    config_.gridDimX = launch_.grid[0], config_.gridDimY = launch_.grid[1], config_.gridDimZ = launch_.grid[2];
    config_.blockDimX = launch_.block[0], config_.blockDimY = launch_.block[1], config_.blockDimZ = launch_.block[2];
    config_.sharedMemBytes = launch_.smem_bytes;
    function_ = plan.kernel->function();
  }
  CUresult operator()(CUstream stream) {
    config_.hStream = stream;
    void* params[] = {launch_.params};
    return driver_.cuLaunchKernelEx(&config_, function_, params, nullptr);
  }

 private:
  const Driver& driver_;
  Launch launch_;
  CUlaunchConfig config_{};
  CUfunction function_ = nullptr;
};

struct HostTimes {
  double call_ns = 0, bare_ns = 0;
  double plan_ns = 0;  ///< the same through hstu_plan_launch, where there is a plan
};

/// A plan of the library's, freed at the end.
class FixedPlan {
 public:
  FixedPlan(hstu_context* context, const char* op, const void* args, CUstream stream) {
    const hstu_status status = hstu_plan_get(&plan_, context, op, args, stream);
    if (status != HSTU_OK) throw Error(status, hstu_last_error());
  }
  ~FixedPlan() { hstu_plan_release(plan_); }
  FixedPlan(const FixedPlan&) = delete;
  FixedPlan& operator=(const FixedPlan&) = delete;
  void operator()(const void* args, CUstream stream) const { hstu_plan_launch(plan_, args, stream); }

 private:
  hstu_plan* plan_ = nullptr;
};

/// Batches of calls and of bare launches by turns, so that both meet the same clocks.
HostTimes compare(const Stopwatch& watch, const auto& call, const auto& bare) {
  constexpr int kRounds = 200, kBatch = 20;
  std::vector<double> calls, bares;
  const auto batch_ns = [&](const auto& each) {
    const Clock::time_point start = Clock::now();
    for (int i = 0; i < kBatch; ++i) each();
    const double ns = seconds_since(start) * 1e9 / kBatch;
    watch.synchronise();
    return ns;
  };
  for (int round = 0; round < kRounds; ++round) {
    calls.push_back(batch_ns(call));
    bares.push_back(batch_ns(bare));
  }
  std::sort(calls.begin(), calls.end());
  std::sort(bares.begin(), bares.end());
  return {quantile(calls, 0.5), quantile(bares, 0.5)};
}

HostTimes warm_call(BenchRun& bench, const Need& need) {
  const auto memory = gpu_memory(bench.driver(), ordinal_of(bench.device));
  const Stack stack(*need.calls, *memory, 1);
  const Stopwatch watch(bench.driver(), bench.context().device_context());
  stack.run(0, bench.host.get(), watch.stream());
  const Plan& plan = bench.context().plan_for(need.problem, nullptr, watch.stream());
  BareLaunch bare(bench.context(), plan, stack.args(0));
  bench.driver().check(bare(watch.stream()), "launching");
  watch.synchronise();
  const void* args = address(stack.args(0));
  const FixedPlan planned(bench.host.get(), operator_of(need.problem.op).name.data(), args, watch.stream());
  const auto launch = [&] { bare(watch.stream()); };
  HostTimes times = compare(
      watch, [&] { call_operator(bench.host.get(), need.problem.op, args, watch.stream()); }, launch);
  const HostTimes fixed = compare(
      watch, [&] { planned(args, watch.stream()); }, launch);
  times.plan_ns = times.bare_ns + fixed.call_ns - fixed.bare_ns;
  return times;
}

/// Five layers on few rows: kernels shorter than their launches.
Workload small_stack() {
  Workload workload = small_calls();
  workload.operators.clear();
  StackSpec stack;
  stack.layers = 5;
  stack.embedding_dim = 512;
  stack.num_heads = 4;
  stack.attn_dim = stack.hidden_dim = 64;
  workload.stack = stack;
  return workload;
}

/// A stack as one call against the bare launches it makes.
HostTimes stack_call(BenchRun& bench) {
  const Workload workload = small_stack();
  const auto memory = gpu_memory(bench.driver(), ordinal_of(bench.device));
  const Calls calls = expand_stack(workload);
  const Stack stack(calls, *memory, 1);
  const StackArgs stack_args(workload, stack, *memory);
  const Stopwatch watch(bench.driver(), bench.context().device_context());
  stack.run(bench.host.get(), watch.stream());
  std::vector<BareLaunch> launches;
  for (size_t i = 0; i < stack.size(); ++i)
    launches.emplace_back(bench.context(),
                          bench.context().plan_for(problem_of(stack.call(i), calls), nullptr, watch.stream()),
                          stack.args(i));
  watch.synchronise();
  return compare(
      watch, [&] { hstu_stack(bench.host.get(), &stack_args.args(), watch.stream()); },
      [&] {
        for (BareLaunch& launch : launches) launch(watch.stream());
      });
}

void report_stack_call(BenchRun& bench, Table& table) {
  constexpr double kTargetRatio = 1.1;
  const HostTimes times = stack_call(bench);
  table.add({"stack of 5 layers", fmt::format("{:.0f} ns", times.call_ns), fmt::format("{:.0f} ns", times.bare_ns),
             fmt::format("{:.0f} ns", times.call_ns - times.bare_ns), ""});
  bench.report["warm_calls"].push_back(
      {{"name", "stack of 5 layers"}, {"call_ns", times.call_ns}, {"bare_ns", times.bare_ns}});
  bench.report.add({"stack_call_host_time_over_bare_launches", times.call_ns / times.bare_ns, "x", false, kTargetRatio,
                    fmt::format("25 bare launches: {:.0f} us", times.bare_ns * 1e-3)});
}

}  // namespace

void bench_warm_calls(BenchRun& bench) {
  constexpr double kTargetNs = 300, kPlanTargetNs = 25, kTargetUs = 2.5;
  const auto traffic = traffic_of(small_calls());
  Table table({"warm call", ">through the library", ">bare launch", ">overhead", ">of a plan"});
  double worst = 0, worst_plan = 0, longest = 0, longest_bare = 0;
  for (const Need& need : traffic->needs) {
    const HostTimes times = warm_call(bench, need);
    worst = std::max(worst, times.call_ns - times.bare_ns);
    if (times.call_ns > longest) longest = times.call_ns, longest_bare = times.bare_ns;
    worst_plan = std::max(worst_plan, times.plan_ns - times.bare_ns);
    table.add({need.call->name, fmt::format("{:.0f} ns", times.call_ns), fmt::format("{:.0f} ns", times.bare_ns),
               fmt::format("{:.0f} ns", times.call_ns - times.bare_ns),
               fmt::format("{:.0f} ns", times.plan_ns - times.bare_ns)});
    bench.report["warm_calls"].push_back({{"name", need.call->name},
                                          {"call_ns", times.call_ns},
                                          {"bare_ns", times.bare_ns},
                                          {"plan_ns", times.plan_ns}});
  }
  report_stack_call(bench, table);
  fmt::print("\n");
  table.print();
  bench.report.add({"warm_call_overhead_max", worst, "ns", false, kTargetNs, "bare cuLaunchKernelEx, same kernel"});
  bench.report.add(
      {"warm_call_host_time_max", longest * 1e-3, "us", false, kTargetUs,
       fmt::format("of which the bare launch {:.3g} us{}", longest_bare * 1e-3, bench.rivals.text("call_us", "us"))});
  bench.report.add(
      {"plan_launch_overhead_max", worst_plan, "ns", false, kPlanTargetNs, "bare cuLaunchKernelEx, same kernel"});
}

}  // namespace hstujit::tool
