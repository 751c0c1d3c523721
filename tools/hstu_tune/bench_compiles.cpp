// Cold compile times: every kernel of a workload through NVRTC, one at a time, with no store.
#include "hstu_tune/bench.hpp"
#include "hstu_tune/table.hpp"
#include "support/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <thread>

namespace hstujit::tool {

void bench_compiles(Report& report, const std::vector<std::string>& devices, const std::vector<Need>& needs) {
  constexpr double kTargetS = 1.5;
  constexpr const char* kId = "cold_compile_max";
  if (!report.wants(kId)) return;
  std::set<std::string> families;
  Table table({"cold compile", "for", ">time", ">registers", ">spills"});
  double slowest_ms = 0;
  report["cold_compiles"] = Json::array();
  for (const std::string& device : devices) {
    const auto context = open_context({.folder = ""}, device);
    for (const Need& need : needs_not_lacking(context->facts(), needs)) {
      const Plan& plan = context->plan_for(need.problem, nullptr, nullptr);
      const CompiledKernel& kernel = *plan.compiled;
      families.emplace(plan.choice.family->name);
      slowest_ms = std::max(slowest_ms, kernel.compile_ms);
      table.add({need.call->name, device, duration_text(kernel.compile_ms * 1e-3), fmt::format("{}", kernel.registers),
                 fmt::format("{} B", kernel.spill_bytes)});
      report["cold_compiles"].push_back({{"kernel", kernel.name}, {"target", device}, {"ms", kernel.compile_ms}});
    }
  }
  fmt::print("\n");
  table.print();
  report.add({kId,
              slowest_ms * 1e-3,
              "s",
              false,
              kTargetS,
              fmt::format("one at a time on a host of {} cores", std::thread::hardware_concurrency()),
              {families.begin(), families.end()}});
}

}  // namespace hstujit::tool
