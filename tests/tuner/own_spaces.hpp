// Spaces of our own kernels that were measured completely on an H200, with what they are of. spaces/README.md says how
// they were recorded.
#pragma once

#include "families/family.hpp"
#include "operators/operators.hpp"
#include "tuner/recorded_spaces.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace hstujit::test {

/// A recording with what it is of.
struct OwnSpace {
  std::string name;
  const Family* family;
  Problem problem;
  NamedSpace named;

  bool taken(const Config& config) const { return legal(*family, problem, config, *facts_of_target("sm_90a")); }
};

/// "FAMILY for PROBLEM on DEVICE, driver ...": the start of a source line of ours.
inline std::optional<OwnSpace> own_space(const std::string& name) {
  NamedSpace named = read_recording(name);
  const size_t is_for = named.source.find(" for "), on = named.source.find(" on ");
  if (is_for == std::string::npos || on == std::string::npos) return std::nullopt;
  const Family* const family = family_named(named.source.substr(0, is_for));
  const auto problem = parse_problem(named.source.substr(is_for + 5, on - is_for - 5));
  if (!family || !problem) return std::nullopt;
  std::vector<std::string> knobs;
  for (const Knob& knob : family->knobs) knobs.emplace_back(knob.name);
  if (named.knobs != knobs) {
    ADD_FAILURE() << name << ": the family has other knobs since it was recorded; record it again";
    return std::nullopt;
  }
  return OwnSpace{name, family, *problem, std::move(named)};
}

inline std::vector<OwnSpace> own_spaces() {
  std::vector<OwnSpace> own;
  for (const std::string& name : recordings())
    if (auto space = own_space(name)) own.push_back(std::move(*space));
  return own;
}

/// The part of it that the tuner visits.
inline RecordedSpace visited(const OwnSpace& own) {
  const Space& all = own.named.recorded.space;
  std::vector<std::vector<int32_t>> values;
  for (size_t k = 0; k < all.knobs(); ++k) values.push_back(all.values(k));
  std::vector<Config> points;
  for (const Config& point : all.points())
    if (own.taken(point)) points.push_back(point);
  const RecordedSpace& recorded = own.named.recorded;
  RecordedSpace part(Space(values, points, all.standard()),
                     [&](const Config& c) { return recorded.seconds[*all.index(c)]; });
  if (!recorded.trials.empty())
    for (const Config& point : part.space.points()) part.trials.push_back(recorded.trials[*all.index(point)]);
  return part;
}

}  // namespace hstujit::test
