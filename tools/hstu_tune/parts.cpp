#include "hstu_tune/parts.hpp"

#include "hstu_tune/table.hpp"
#include "support/json.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hstujit::tool {
namespace {

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

}  // namespace

void print_parts(const Calls& calls, const std::vector<double>& seconds, Context& context, Report& report) {
  const std::vector<Part> parts = parts_of(calls, seconds);
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

}  // namespace hstujit::tool
