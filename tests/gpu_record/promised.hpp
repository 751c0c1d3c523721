// The figures that the project promises: those of its workload.
#pragma once

#include "gpu_record/sources.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace hstujit::gpu_record {

constexpr std::string_view kWorkload = "tools/workloads/figures.json";

struct PromisedFigure {
  std::string id;
  std::string room;  ///< of its operator
  /// Family and configuration that the library, with the records it ships, chooses on typical devices, by their names.
  /// With another one the figure is another.
  std::map<std::string, std::string> choices = {};

  /// "" of devices of which nothing is known beforehand.
  std::string choice_on(const std::string& device) const;
};

/// Throws as read_workload() does.
std::vector<PromisedFigure> promised_figures(const Sources& sources);

}  // namespace hstujit::gpu_record
