// Whether a training step computed the right gradients: each against that of the same step in f32 on the CPU, from the
// same inputs and parameters. The CPU's own gradients are held against differences of the forward by the tests.
#pragma once

#include "workload/stack.hpp"
#include "workload/workload.hpp"

#include <string>
#include <vector>

namespace hstujit {

struct GradientCheck {
  std::string worst;          ///< the buffer of the gradient that is farthest from what it should be
  double relative_error = 0;  ///< of it: ||got - expected|| / ||expected||
  double tolerance = 0;
  int gradients = 0;
  bool passed() const { return gradients > 0 && relative_error <= tolerance; }  ///< false for NaN, too
};

/// The buffers that hold the gradients of a training step's calls.
std::vector<std::string> gradients_of(const Calls& calls);

/// step: of training_step(workload), which must have run. cpu: a context on the device "cpu".
GradientCheck check_gradients(const Workload& workload, const Stack& step, hstu_context* cpu);

}  // namespace hstujit
