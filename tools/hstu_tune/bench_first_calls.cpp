// First calls: what calls cost in a fresh process that finds its kernels in the store. A hidden subcommand is that
// process.
#include "hstu_tune/bench.hpp"
#include "hstu_tune/child.hpp"
#include "hstu_tune/messages.hpp"
#include "hstu_tune/table.hpp"
#include "support/error.hpp"
#include "support/files.hpp"
#include "support/json.hpp"
#include "workload/memory.hpp"
#include "workload/stack.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <span>
#include <vector>

namespace hstujit::tool {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

struct FirstCalls {
  std::string workload, device, store;
  size_t limit = SIZE_MAX;  ///< calls
};

bool compiler_is_loaded() {
  std::string maps;
  read_file("/proc/self/maps", maps);
  return maps.find("libnvrtc") != std::string::npos;
}

/// The device's context, which takes the driver longer than all that is measured here.
void make_device_context(int ordinal) {
  CUdevice device = 0;
  CUcontext context = nullptr;
  driver().check(driver().cuDeviceGet(&device, ordinal), "opening the device");
  driver().check(driver().cuDevicePrimaryCtxRetain(&context, device), "making its context");
}

/// The first `limit` in the order of their calls.
std::vector<const Need*> first_needs(const Traffic& traffic, size_t limit) {
  std::vector<const Need*> out;
  for (const Calls& calls : traffic.calls)
    for (const Need& need : traffic.needs)
      if (need.calls == &calls && out.size() < limit) out.push_back(&need);
  return out;
}

/// As many as have so much data together, at least one: it is there before they are timed, since making it leaves
/// nothing else in the host's caches, but small GPUs must hold it.
std::span<const Need* const> next_batch(std::span<const Need* const> needs) {
  constexpr double kBytes = 8e9;
  size_t count = 1;
  for (double bytes = needs[0]->cost.bytes; count < needs.size(); ++count) {
    bytes += needs[count]->cost.bytes;
    if (bytes > kBytes) break;
  }
  return needs.first(count);
}

/// Prints {"context_ms": .., "calls": [{"name": .., "ms": ..}], "compiles": .., "compiler_loaded": ..}.
int first_calls(const FirstCalls& options) {
  const auto traffic = load_traffic(options.workload);
  make_device_context(ordinal_of(options.device));
  const Clock::time_point start = Clock::now();
  const HostContext host = open_host_context({options.store}, options.device);
  Json report = {{"context_ms", seconds_since(start) * 1e3}, {"calls", Json::array()}};
  traffic->needs = needs_on(host->context.facts(), traffic->needs);
  const std::vector<const Need*> needs = first_needs(*traffic, options.limit);
  for (std::span<const Need* const> left = needs; !left.empty();) {
    const auto batch = next_batch(left);
    left = left.subspan(batch.size());
    const auto memory = gpu_memory(driver(), ordinal_of(options.device));
    std::map<const Calls*, Stack> stacks;
    for (const Need* need : batch) stacks.try_emplace(need->calls, *need->calls, *memory, 1);
    for (const Need* need : batch) {
      const auto index = static_cast<size_t>(need->call - need->calls->calls.data());
      const Clock::time_point before = Clock::now();
      stacks.at(need->calls).run(index, host.get(), nullptr);
      report["calls"].push_back({{"name", need->call->name}, {"ms", seconds_since(before) * 1e3}});
      memory->synchronise();  // the next module's load would wait for this kernel
    }
  }
  hstu_counters counters{};
  counters.struct_size = sizeof counters;
  hstu_context_counters(host.get(), &counters);
  report["compiles"] = counters.compiles;
  report["compiler_loaded"] = compiler_is_loaded();
  fmt::print("{}\n", write_json(report));
  return 0;
}

}  // namespace

void bench_first_calls(BenchRun& bench, const std::string& workload, const std::vector<Need>& needs) {
  constexpr double kTargetMs = 10;
  constexpr const char* kId = "first_call_filled_store_max";
  if (!bench.report.wants(kId)) return;
  const std::string store = context_options(bench.store, bench.device).store_path;
  if (store.empty()) return fmt::print("first calls: not measured, the store is in memory only\n");
  std::vector<Problem> problems;
  for (const Need& need : needs) {
    bench.context().plan_for(need.problem, nullptr, nullptr);  // fills the store
    problems.push_back(need.problem);
  }
  const std::vector<std::string> families = families_of(bench.context(), problems);
  const ChildOutput child = run_self({"first-calls", workload, "--device", bench.device, "--store", store});
  if (child.code != 0) fail(HSTU_ERROR_INTERNAL, "the process that measures first calls ended with {}", child.code);
  const auto result = read_json(child.out);
  double slowest = 0;
  Table table({"first call, fresh process, filled store", ">time"});
  for (const auto& call : result.at("calls")) {
    slowest = std::max(slowest, call.at("ms").get<double>());
    table.add({call.at("name").get<std::string>(), duration_text(call.at("ms").get<double>() * 1e-3)});
  }
  fmt::print("\n");
  table.print();
  fmt::print("opening the library on the device took {}\n",
             duration_text(result.at("context_ms").get<double>() * 1e-3));
  bench.report["first_calls"] = result;
  if (result.at("compiles") != 0) return complain("the store did not hold every kernel, so there is no figure");
  bench.report.add({kId, slowest, "ms", false, kTargetMs, "", families, true});
}

void add_first_calls(Command& program) {
  auto options = std::make_shared<FirstCalls>();
  Command command = program.subcommand("first-calls", "").hidden();  // bench's helper, not for people
  command.option("workload", options->workload).required();
  command.option("--device", options->device).required();
  command.option("--store", options->store).required();
  command.option("--limit", options->limit);
  command.runs([options] { return first_calls(*options); });
}

}  // namespace hstujit::tool
