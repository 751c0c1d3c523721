// Warm calls: what a call through the library costs the host beyond the bare launch of the same kernel.
#include "hstu_tune/bench.hpp"
#include "hstu_tune/table.hpp"
#include "records/statistics.hpp"
#include "support/error.hpp"
#include "support/json.hpp"
#include "workload/memory.hpp"
#include "workload/stack_args.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <span>
#include <vector>

namespace hstujit::tool {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kStackCall = "stack_call_host_time_over_bare_launches";
constexpr const char *kAgain = "warm_call_overhead_max", *kOtherBuffers = "warm_call_other_buffers_overhead_max",
                     *kHostTime = "warm_call_host_time_max", *kPlanLaunch = "plan_launch_overhead_max";

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
  BareLaunch(const Context& context, const Plan& plan, AnyArgs args)
      : driver_(context.driver()), function_(plan.kernel->function()) {
    operator_of(plan.problem.op).prepare(address(args));
    context.bind(plan, address(args), launch_);
    config_ = plan.kernel->driver_config(launch_, nullptr, attributes_);
  }
  CUresult operator()(CUstream stream) {
    config_.hStream = stream;
    config_.attrs = attributes_;  // which may have been copied elsewhere
    void* params[] = {launch_.params};
    return driver_.cuLaunchKernelEx(&config_, function_, params, nullptr);
  }

 private:
  const Driver& driver_;
  CUfunction function_;
  Launch launch_;
  CUlaunchAttribute attributes_[LoadedKernel::kMostAttributes];
  CUlaunchConfig config_{};
};

/// Of a call and of the bare launch of its kernel.
struct HostTimes {
  double call_ns = 0, bare_ns = 0;
  double overhead_ns = 0;  ///< median of the differences, which the clock's wandering touches less than either
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
  constexpr int kRounds = 1000, kBatch = 20;
  std::vector<double> calls, bares, differences;
  const auto batch_ns = [&](const auto& each) {
    const Clock::time_point start = Clock::now();
    for (int i = 0; i < kBatch; ++i) each();
    const double ns = seconds_since(start) * 1e9 / kBatch;
    watch.synchronise();
    return ns;
  };
  for (int i = 0; i < kRounds / 5; ++i) batch_ns(call), batch_ns(bare);  // until the host's clock has risen
  for (int round = 0; round < kRounds; ++round) {
    if (round % 2) calls.push_back(batch_ns(call));
    bares.push_back(batch_ns(bare));
    if (round % 2 == 0) calls.push_back(batch_ns(call));
    differences.push_back(calls.back() - bares.back());
  }
  const auto median = [](std::vector<double>& values) {
    std::sort(values.begin(), values.end());
    return quantile(values, 0.5);
  };
  return {median(calls), median(bares), median(differences)};
}

/// One call on many sets of buffers, in turn: its problem is known each time, its arguments never.
class OtherBuffers {
 public:
  OtherBuffers(const Need& need, Memory& memory)
      : tensors_(operator_of(need.problem.op).tensors), args_(Stack(*need.calls, memory, 0).args(0)) {
    constexpr uint64_t kSets = 256;  // a thread remembers 64 calls
    for (uint64_t seed = 1; seed <= kSets; ++seed) {
      AnyArgs set = Stack(*need.calls, memory, seed).args(0);
      auto& addresses = sets_.emplace_back();
      for (const TensorSlot& slot : tensors_) addresses.push_back(tensor_at(address(set), slot).data);
    }
  }
  /// As a host fills in the args struct that it has at hand.
  const void* next() {
    turn_ = (turn_ + 1) % sets_.size();
    for (size_t i = 0; i < tensors_.size(); ++i) tensor_at(address(args_), tensors_[i]).data = sets_[turn_][i];
    return address(args_);
  }

 private:
  std::span<const TensorSlot> tensors_;
  AnyArgs args_;
  std::vector<std::vector<void*>> sets_;
  size_t turn_ = 0;
};

/// An operator's ways to its kernel.
struct WarmCalls {
  HostTimes again;   ///< with the arguments of the last time
  HostTimes others;  ///< on other buffers each time
  HostTimes plan;    ///< through hstu_plan_launch, with the arguments of the plan
};

WarmCalls warm_calls(BenchRun& bench, const Need& need) {
  const auto memory = gpu_memory(bench.driver(), ordinal_of(bench.device));
  const Stack stack(*need.calls, *memory, 1);
  OtherBuffers others(need, *memory);
  const Stopwatch watch(bench.driver(), bench.context().device_context());
  stack.run(0, bench.host.get(), watch.stream());
  const Plan& plan = bench.context().plan_for(need.problem, nullptr, watch.stream());
  BareLaunch bare(bench.context(), plan, stack.args(0));
  bench.driver().check(bare(watch.stream()), "launching");
  watch.synchronise();
  const void* args = address(stack.args(0));
  const FixedPlan planned(bench.host.get(), operator_of(need.problem.op).name.data(), args, watch.stream());
  const auto launch = [&] { bare(watch.stream()); };
  const auto call = [&](const void* with) { call_operator(bench.host.get(), need.problem.op, with, watch.stream()); };
  return {
      .again = compare(
          watch, [&] { call(args); }, launch),
      .others = compare(
          watch, [&] { call(others.next()); }, launch),
      .plan = compare(
          watch, [&] { planned(nullptr, watch.stream()); }, launch),
  };
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

struct StackCall {
  HostTimes times;
  std::vector<std::string> families;
};

/// A stack as one call against the bare launches it makes.
StackCall stack_call(BenchRun& bench) {
  const Workload workload = small_stack();
  const auto memory = gpu_memory(bench.driver(), ordinal_of(bench.device));
  const Calls calls = expand_stack(workload);
  const Stack stack(calls, *memory, 1);
  const StackArgs stack_args(workload, stack);
  const Stopwatch watch(bench.driver(), bench.context().device_context());
  stack.run(bench.host.get(), watch.stream());
  std::vector<BareLaunch> launches;
  for (size_t i = 0; i < stack.size(); ++i)
    launches.emplace_back(bench.context(),
                          bench.context().plan_for(problem_of(stack.call(i), calls), nullptr, watch.stream()),
                          stack.args(i));
  watch.synchronise();
  const HostTimes times = compare(
      watch, [&] { hstu_stack(bench.host.get(), &stack_args.args(), watch.stream()); },
      [&] {
        for (BareLaunch& launch : launches) launch(watch.stream());
      });
  return {times, families_of(bench.context(), calls)};
}

void report_stack_call(BenchRun& bench, Table& table) {
  constexpr double kTargetRatio = 1.1;
  if (!bench.report.wants(kStackCall)) return;
  const auto [times, families] = stack_call(bench);
  table.add({"stack of 5 layers", fmt::format("{:.0f} ns", times.bare_ns), fmt::format("{:.0f} ns", times.overhead_ns),
             "", ""});
  bench.report["warm_calls"].push_back(
      {{"name", "stack of 5 layers"}, {"call_ns", times.call_ns}, {"bare_ns", times.bare_ns}});
  bench.report.add({kStackCall, times.call_ns / times.bare_ns, "x", false, kTargetRatio,
                    fmt::format("25 bare launches: {:.0f} us", times.bare_ns * 1e-3), families, true});
}

}  // namespace

void bench_warm_calls(BenchRun& bench) {
  constexpr double kAgainNs = 80, kOthersNs = 300, kPlanTargetNs = 25, kTargetUs = 2.5;
  const Report& report = bench.report;
  if (std::ranges::none_of(std::array{kStackCall, kAgain, kOtherBuffers, kHostTime, kPlanLaunch},
                           [&](const char* id) { return report.wants(id); }))
    return;
  const auto traffic = traffic_of(small_calls());
  Table table({"warm call", ">bare launch", ">overhead", ">other buffers", ">of a plan"});
  double again = 0, others = 0, plan = 0;  // the worst of each
  HostTimes longest;
  std::vector<Problem> problems;
  for (const Need& need : traffic->needs) {
    problems.push_back(need.problem);
    const WarmCalls calls = warm_calls(bench, need);
    again = std::max(again, calls.again.overhead_ns);
    others = std::max(others, calls.others.overhead_ns);
    plan = std::max(plan, calls.plan.overhead_ns);
    if (calls.again.call_ns > longest.call_ns) longest = calls.again;
    const auto ns = [](double value) { return fmt::format("{:.0f} ns", value); };
    table.add({need.call->name, ns(calls.again.bare_ns), ns(calls.again.overhead_ns), ns(calls.others.overhead_ns),
               ns(calls.plan.overhead_ns)});
    bench.report["warm_calls"].push_back({{"name", need.call->name},
                                          {"call_ns", calls.again.call_ns},
                                          {"bare_ns", calls.again.bare_ns},
                                          {"overhead_ns", calls.again.overhead_ns},
                                          {"other_buffers_overhead_ns", calls.others.overhead_ns},
                                          {"plan_overhead_ns", calls.plan.overhead_ns}});
  }
  report_stack_call(bench, table);
  fmt::print("\n");
  table.print();
  const std::vector<std::string> families = families_of(bench.context(), problems);
  bench.report.add({kAgain, again, "ns", false, kAgainNs, "bare cuLaunchKernelEx, same kernel", families, true});
  bench.report.add({kOtherBuffers, others, "ns", false, kOthersNs,
                    "bare cuLaunchKernelEx, same kernel, 256 sets of buffers in turn", families, true});
  bench.report.add(
      {kHostTime, longest.call_ns * 1e-3, "us", false, kTargetUs,
       fmt::format("of which the bare launch {:.3g} us{}", longest.bare_ns * 1e-3, bench.rivals.text("call_us", "us")),
       families, true});
  bench.report.add(
      {kPlanLaunch, plan, "ns", false, kPlanTargetNs, "bare cuLaunchKernelEx, same kernel", families, true});
}

}  // namespace hstujit::tool
