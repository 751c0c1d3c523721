#include "gpu_record/promised.hpp"

#include "call/context.hpp"
#include "families/family.hpp"
#include "records/choose.hpp"
#include "workload/calls.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hstujit::gpu_record {
namespace {

std::vector<DeviceFacts> typical_devices() {
  std::vector<DeviceFacts> devices;
  for (const char* target : {"sm_80", "sm_86", "sm_89", "sm_90a"}) devices.push_back(facts_of_target(target).value());
  return devices;
}

std::string text_of(const Family& family, const Config& config) {
  return fmt::format("{} {}", family.name, text(family, config));
}

/// What devices run for a call, as far as that is known without them.
class Chooser {
 public:
  std::map<std::string, std::string> choices(const Problem& problem) const {
    std::map<std::string, std::string> by_device;
    for (const DeviceFacts& device : devices_)
      if (is_covered(problem, device)) {
        const Choice choice = choose(records_, problem, device, false);
        by_device[device.name] = text_of(*choice.family, choice.config);
      }
    return by_device;
  }
  std::map<std::string, std::string> defaults(const Problem& problem, std::string_view name) const {
    std::map<std::string, std::string> by_device;
    const Family* family = family_named(name);
    for (const DeviceFacts& device : devices_)
      if (family && family->covers(problem, device))
        by_device[device.name] = text_of(*family, family->default_config(problem, device));
    return by_device;
  }

 private:
  const std::vector<DeviceFacts> devices_ = typical_devices();
  const Records records_{records_options("", "", nullptr)};
};

}  // namespace

std::string PromisedFigure::choice_on(const std::string& device) const {
  const auto found = choices.find(device);
  return found == choices.end() ? "" : found->second;
}

std::vector<PromisedFigure> promised_figures(const Sources& sources) {
  const Chooser chooser;
  std::vector<PromisedFigure> promised;
  for (const Calls& calls : expand(read_workload((sources.root() / kWorkload).string())))
    for (const Call& call : calls.calls) {
      const auto family = std::ranges::find(all_families(), call.op, &Family::op);
      const std::string room = family == all_families().end() ? "" : std::string((*family)->room);
      const Problem problem = problem_of(call, calls);
      if (call.figure) promised.push_back({call.figure->id, room, chooser.choices(problem)});
      for (const FigureSpec& figure : call.family_figures)
        promised.push_back({figure.id, room, chooser.defaults(problem, figure.family)});
    }
  return promised;
}

}  // namespace hstujit::gpu_record
