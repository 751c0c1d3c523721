#include "records/choose.hpp"

#include "families/fit.hpp"
#include "records/remark.hpp"
#include "support/error.hpp"
#include "support/log.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hstujit {
namespace {

// Neighbours tried before the default: a record may be stale or illegal here, but not often.
constexpr size_t kNeighbours = 8;

void warn_of_missing_knobs(const Family& family, const Trial& trial) {
  const auto named = static_cast<size_t>(std::count(trial.config.begin(), trial.config.end(), '='));
  if (named < family.knobs.size())
    log().warn("tuner: record \"{} {}\" lacks {} of {} knobs; they take their default", trial.family, trial.config,
               family.knobs.size() - named, family.knobs.size());
}

std::string origin(const Choice& choice) {
  switch (choice.from) {
    case Choice::From::record:
      return "tuned record";
    case Choice::From::nearest:
      return fmt::format("nearest record, distance {:.1f}", choice.distance);
    case Choice::From::resident:
      return "stands in";
    case Choice::From::standard:
      break;
  }
  return "default";
}

}  // namespace

std::optional<NamedConfig> resolve(const Trial& trial, const Problem& problem, const DeviceFacts& device) {
  const Family* family = family_named(trial.family);
  if (!family || !covers(*family, problem, device)) return std::nullopt;
  const Config standard = family->default_config(problem, device);
  const auto config = parse_config(*family, trial.config, standard);
  // The default runs whatever the model of resources thinks of it.
  if (!config || !(*config == standard || fits(*family, problem, *config, device))) return std::nullopt;
  warn_of_missing_knobs(*family, trial);
  return NamedConfig{family, *config};
}

Choice standard_choice(const Problem& problem, const DeviceFacts& device) {
  const auto families = families_for(problem, device);
  if (families.empty())
    fail(HSTU_ERROR_UNSUPPORTED, "{}: no kernel family covers this problem on {} ({})", text(problem), device.name,
         device.target);
  const Family& family = *families.front();
  return {&family, family.default_config(problem, device), Choice::From::standard, 0};
}

Choice choose(const Records& records, const Problem& problem, const DeviceFacts& device, bool allow_nearest) {
  const Choice standard = standard_choice(problem, device);
  if (const auto record = records.find(problem, device.device_class()))
    if (const auto named = resolve(record->trial, problem, device))
      return {named->family, named->config, Choice::From::record, 0};
  if (allow_nearest)
    for (const Neighbour& near : records.neighbours(problem, device.device_class(), kNeighbours))
      if (const auto named = resolve(near.record.trial, problem, device))
        return {named->family, named->config, Choice::From::nearest, near.distance};
  return standard;
}

std::string text(const Choice& choice) {
  const std::string_view more = remark(*choice.family, choice.config);
  return fmt::format("{} {} ({}){}{}", choice.family->name, text(*choice.family, choice.config), origin(choice),
                     more.empty() ? "" : ", ", more);
}

}  // namespace hstujit
