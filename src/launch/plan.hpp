// A plan: everything decided about a problem, so that calling it again is a lookup and a launch.
#pragma once

#include "families/family.hpp"
#include "jit/compiled_kernel.hpp"
#include "launch/module.hpp"
#include "records/choose.hpp"

#include <memory>

namespace hstujit {

struct Plan {
  Problem problem;
  Choice choice;  ///< family, configuration, and how it was found
  std::shared_ptr<const CompiledKernel> compiled;
  std::shared_ptr<const LoadedKernel> kernel;  ///< null on a compile-only context
};

}  // namespace hstujit
