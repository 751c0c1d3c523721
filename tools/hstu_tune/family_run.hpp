// A call by the default configuration of one family, whichever family the library would choose: for figures that are
// about a family.
#pragma once

#include "call/context.hpp"
#include "launch/plan.hpp"
#include "operators/operators.hpp"

#include <string>
#include <string_view>

namespace hstujit::tool {

class FamilyRun {
 public:
  /// args: the operator's struct after prepare; it outlives the run. Throws Error{INVALID_ARGUMENT} when there is no
  /// such family or it does not cover the problem.
  FamilyRun(Context& context, std::string_view family, const Problem& problem, const void* args);

  void launch(CUstream stream) const;
  std::string configuration() const;

 private:
  Context& context_;
  const void* args_;
  Plan plan_;
};

}  // namespace hstujit::tool
