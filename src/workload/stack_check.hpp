// Whether a stack computed the right thing: its result against the layers' mathematics written down a second time, in
// double precision from end to end. For small sizes; it costs what plain loops cost.
#pragma once

#include "workload/stack.hpp"
#include "workload/workload.hpp"

#include <string>
#include <vector>

namespace hstujit {

struct StackCheck {
  double relative_error = 0;  ///< ||result - expected|| / ||expected||
  double tolerance = 0;
  bool passed() const { return relative_error <= tolerance; }  ///< false for NaN, too
};

/// The result of the stack that expand_stack(workload) describes, from its inputs and weights as they lie in memory.
std::vector<double> expected_result(const Workload& workload, const Stack& stack);

/// `stack` must have run.
StackCheck check_stack(const Workload& workload, const Stack& stack);

/// The same layer with few, short sequences and at most two layers: seconds on a CPU.
Workload small_version(const Workload& workload);

}  // namespace hstujit
