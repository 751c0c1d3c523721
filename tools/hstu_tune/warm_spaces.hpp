// Compiles every configuration that tuning a workload may visit, so that a GPU is held for measuring alone.
#pragma once

#include "hstu_tune/command.hpp"
#include "tuner/space.hpp"

#include <memory>
#include <vector>

namespace hstujit::tool {

/// Goes through the spaces of all needs on all contexts with all cores and prints a line per space. Configurations
/// that give the same code are compiled once; those that do not compile are the tuner's to reject and are counted.
/// Ctrl-C ends it early; what was compiled is in the store. True when it went through all of them.
bool warm_spaces(const std::vector<std::unique_ptr<Context>>& contexts, const std::vector<Need>& needs, Width width);

}  // namespace hstujit::tool
