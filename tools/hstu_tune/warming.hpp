// Compiles kernels for many problems and targets at once.
#pragma once

#include "hstu_tune/command.hpp"

#include <functional>
#include <string>
#include <vector>

namespace hstujit::tool {

/// What became of one problem on one device.
struct Warmed {
  Context* context = nullptr;
  const Need* need = nullptr;
  const Plan* plan = nullptr;  ///< null when it failed; lives as long as the context
  std::string error;
};

/// Makes the plans of all needs on all contexts, as many at a time as the machine has cores. `done` is called after
/// each, one call at a time. Results in the order contexts x needs, without those whose calls the context's device
/// never sees.
std::vector<Warmed> warm(const std::vector<std::unique_ptr<Context>>& contexts, const std::vector<Need>& needs,
                         const std::function<void(const Warmed&)>& done);

/// A line per kernel: target, configuration, time, registers, spills, objections.
void print_warmed(const std::vector<Warmed>& all);

/// Counts over contexts: "7 compiled, 3 from the store".
std::string counters_text(const std::vector<std::unique_ptr<Context>>& contexts);

}  // namespace hstujit::tool
