// Operator times: each problem of a workload once, cold caches, with its configuration and a rate.
#include "hstu_tune/bench.hpp"
#include "hstu_tune/cublaslt.hpp"
#include "hstu_tune/family_run.hpp"
#include "hstu_tune/table.hpp"
#include "support/json.hpp"
#include "workload/memory.hpp"
#include "workload/stack.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>
#include <thread>

namespace hstujit::tool {
namespace {

/// What one problem took.
struct Result {
  const Need* need = nullptr;
  std::string name;
  const FigureSpec* figure = nullptr;  ///< null: nothing is asked of it
  Timing timing;
  int sm_mhz = 0;
  double vendor_s = 0;  ///< cuBLASLt on the same product; 0 where that means nothing
  double copy_gbs = 0;  ///< a device copy of as many bytes; 0 where they are so many that any copy will do
  std::string configuration, family;

  double seconds() const { return static_cast<double>(timing.median_ns) * 1e-9; }
  double tflops() const { return need->cost.flops / seconds() * 1e-12; }
  double gbs() const { return need->cost.bytes / seconds() * 1e-9; }
};

/// Before each operator: what the one before drew must not slow its clocks.
constexpr auto kRest = std::chrono::milliseconds(100);

bool plain_product(const hstu_addmm_args& args) {
  return args.x.dtype != HSTU_DTYPE_F32 && args.residual.dtype == HSTU_DTYPE_NONE &&
         args.out1.dtype == HSTU_DTYPE_NONE && args.w.stride[0] != 1 && args.x.stride[0] == args.x.shape[1] &&
         args.out.stride[0] == args.out.shape[1];
}

/// cuBLASLt on the operands of a product, without its activation; a residual it does not take. Null where that means
/// nothing.
std::unique_ptr<CublasLtProduct> vendor_product(const Need& need, const hstu_addmm_args& args) {
  if (need.problem.op != Op::addmm || !plain_product(args)) return nullptr;
  return CublasLtProduct::create(args.x.dtype, args.out.shape[0], args.out.shape[1], args.x.shape[1],
                                 args.bias.rank == 1);
}

size_t index_of(const Need& need) { return static_cast<size_t>(need.call - need.calls->calls.data()); }

hstu_addmm_args prepared_addmm(const Need& need, const Stack& stack, size_t index) {
  if (need.problem.op != Op::addmm) return {};
  auto args = std::get<hstu_addmm_args>(stack.args(index));
  prepare(args);
  return args;
}

/// Times the work, and the vendor's on the same operands by turns with it, where there is such a thing.
void time(BenchRun& bench, Stopwatch& watch, const Need& need, const Stack& stack, bool with_vendor,
          const GpuWork& work, Result& result) {
  const hstu_addmm_args args = prepared_addmm(need, stack, index_of(need));
  const auto vendor = with_vendor ? vendor_product(need, args) : nullptr;
  const auto memory = gpu_memory(bench.driver(), ordinal_of(bench.device));
  std::vector<GpuWork> works = {work};
  if (vendor)
    works.push_back([&, workspace = memory->allocate(CublasLtProduct::kWorkspaceBytes)](CUstream stream) {
      vendor->run(args.x.data, args.w.data, args.bias.data, args.out.data, workspace, stream);
    });
  std::this_thread::sleep_for(kRest);
  const std::vector<Timing> timings = watch.cold(works);
  result.timing = timings[0];
  result.sm_mhz = watch.mhz();
  if (vendor) result.vendor_s = static_cast<double>(timings[1].median_ns) * 1e-9;
}

Result measure(BenchRun& bench, const Need& need, const Stack& stack, bool with_vendor) {
  Result result;
  result.need = &need;
  result.name = need.call->name;
  if (need.call->figure) result.figure = &*need.call->figure;
  Stopwatch watch(bench.driver(), bench.context().device_context());
  stack.run(bench.host.get(), watch.stream());  // inputs of later calls are outputs of earlier ones
  const auto call = [&](CUstream stream) { stack.run(index_of(need), bench.host.get(), stream); };
  time(bench, watch, need, stack, with_vendor, call, result);
  const Choice& choice = bench.context().plan_for(need.problem, nullptr, nullptr).choice;
  result.configuration = text(choice);
  result.family = choice.family->name;
  constexpr double kMany = 256e6;
  if (result.figure && result.figure->rate == FigureSpec::Rate::gbs && need.cost.bytes < kMany)
    result.copy_gbs = measure_copy(bench, static_cast<size_t>(need.cost.bytes));
  return result;
}

/// The same call by a family that the library may not choose.
Result measure(BenchRun& bench, const Need& need, const Stack& stack, bool with_vendor, const FigureSpec& figure) {
  AnyArgs args = stack.args(index_of(need));
  const Problem problem = operator_of(need.problem.op).prepare(address(args));
  const FamilyRun family(bench.context(), figure.family, problem, address(args));
  Result result;
  result.need = &need;
  result.name = fmt::format("{}, {}", need.call->name, figure.family);
  result.figure = &figure;
  Stopwatch watch(bench.driver(), bench.context().device_context());
  time(
      bench, watch, need, stack, with_vendor, [&](CUstream stream) { family.launch(stream); }, result);
  result.configuration = family.configuration();
  result.family = figure.family;
  return result;
}

/// The geometric mean of the workload's products that are promised against cuBLASLt.
constexpr const char* kMeanOfVendor = "products_of_cublaslt";

bool counts_in_mean(const FigureSpec& figure) {
  return figure.family.empty() && figure.rate == FigureSpec::Rate::of_vendor;
}

/// Whether the call itself is to be measured: for its figure, or the mean.
bool wants_call(const Report& report, const Call& call) {
  if (!call.figure) return report.wants("");
  return report.wants(call.figure->id) || (counts_in_mean(*call.figure) && report.wants(kMeanOfVendor));
}

/// Whether the need is to be measured at all.
bool wants_any(const Report& report, const Need& need) {
  return wants_call(report, *need.call) ||
         std::ranges::any_of(need.call->family_figures,
                             [&](const FigureSpec& figure) { return report.wants(figure.id); });
}

std::vector<Result> measure_all(BenchRun& bench, const Traffic& traffic, bool with_vendor) {
  std::vector<Result> results;
  for (const Calls& calls : traffic.calls) {
    const auto memory = gpu_memory(bench.driver(), ordinal_of(bench.device));
    std::optional<Stack> stack;
    for (const Need& need : traffic.needs) {
      if (need.calls != &calls || !wants_any(bench.report, need)) continue;
      if (!stack) {
        stack.emplace(calls, *memory, 1);
        stack->set_up(bench.host.get(), nullptr);
      }
      if (wants_call(bench.report, *need.call)) results.push_back(measure(bench, need, *stack, with_vendor));
      for (const FigureSpec& figure : need.call->family_figures)
        if (bench.report.wants(figure.id)) results.push_back(measure(bench, need, *stack, with_vendor, figure));
    }
  }
  return results;
}

void print(const std::vector<Result>& results, Report& report) {
  Table table({"operator", ">time", ">spread", ">TFLOP/s", ">GB/s", ">of cuBLASLt", ">SM MHz", "configuration"});
  for (const Result& r : results) {
    const double spread = static_cast<double>(r.timing.mad_ns) / static_cast<double>(r.timing.median_ns);
    table.add({r.name, duration_text(r.seconds()), fmt::format("{:.1f} %", 100 * spread),
               fmt::format("{:.1f}", r.tflops()), fmt::format("{:.0f}", r.gbs()),
               r.vendor_s > 0 ? fmt::format("{:.0f} %", 100 * r.vendor_s / r.seconds()) : "",
               r.sm_mhz > 0 ? fmt::format("{}", r.sm_mhz) : "", r.configuration});
    report["operators"].push_back({{"name", r.name},
                                   {"problem", text(r.need->problem)},
                                   {"configuration", r.configuration},
                                   {"seconds", r.seconds()},
                                   {"mad_seconds", static_cast<double>(r.timing.mad_ns) * 1e-9},
                                   {"tflops", r.tflops()},
                                   {"gbs", r.gbs()},
                                   {"sm_mhz", r.sm_mhz},
                                   {"vendor_seconds", r.vendor_s}});
  }
  fmt::print("\n");
  table.print();
}

std::string copy_text(const Result& r, const Yardsticks& yardsticks) {
  const std::string text = fmt::format("device copy: {:.0f} GB/s", yardsticks.copy_gbs);
  return r.copy_gbs > 0 ? fmt::format("{}, of as many bytes {:.0f}", text, r.copy_gbs) : text;
}

/// What the workload asks of the operator.
Figure figure_of(const FigureSpec& promise, const Result& r, const Yardsticks& yardsticks) {
  Figure figure{promise.id, 0, "%", true, promise.target, "", {r.family}};
  switch (promise.rate) {
    case FigureSpec::Rate::tflops:
      figure.value = r.tflops();
      figure.unit = "TFLOP/s";
      figure.yardstick = fmt::format("cuBLASLt 8192^3: {:.0f} TFLOP/s", yardsticks.product_tflops);
      break;
    case FigureSpec::Rate::gbs:
      figure.value = r.gbs();
      figure.unit = "GB/s";
      figure.yardstick = copy_text(r, yardsticks);
      break;
    case FigureSpec::Rate::of_vendor:
      figure.value = 100 * r.vendor_s / r.seconds();
      figure.yardstick = fmt::format("cuBLASLt, same product: {}", duration_text(r.vendor_s));
      break;
    case FigureSpec::Rate::of_copy:
      figure.value = 100 * r.gbs() / yardsticks.copy_gbs;
      figure.yardstick = fmt::format("device copy: {:.0f} GB/s", yardsticks.copy_gbs);
      break;
  }
  return figure;
}

void add_mean_of_vendor(const std::vector<Result>& results, Report& report) {
  if (!report.wants(kMeanOfVendor)) return;  // some of them alone have another
  double logarithms = 0;
  int count = 0;
  std::set<std::string> families;
  for (const Result& r : results) {
    if (!r.figure || !counts_in_mean(*r.figure) || r.vendor_s <= 0) continue;
    logarithms += std::log(r.vendor_s / r.seconds());
    ++count;
    families.insert(r.family);
  }
  if (count > 1)
    report.add({kMeanOfVendor,
                100 * std::exp(logarithms / count),
                "%",
                true,
                100.0,
                fmt::format("cuBLASLt, geometric mean of {} products", count),
                {families.begin(), families.end()}});
}

}  // namespace

void bench_operators(BenchRun& bench, const Traffic& traffic) {
  if (std::ranges::none_of(traffic.needs, [&](const Need& need) { return wants_any(bench.report, need); })) return;
  const Yardsticks yardsticks = measure_yardsticks(bench);
  const std::vector<Result> results = measure_all(bench, traffic, yardsticks.product_tflops > 0);
  print(results, bench.report);
  for (const Result& result : results) {
    const FigureSpec* figure = result.figure;
    if (figure && (figure->rate != FigureSpec::Rate::of_vendor || result.vendor_s > 0))
      bench.report.add(figure_of(*figure, result, yardsticks));
  }
  add_mean_of_vendor(results, bench.report);
}

}  // namespace hstujit::tool
