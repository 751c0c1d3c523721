// Whether a stack computed the right thing: its result against the layers' mathematics written down a second time, in
// double precision from end to end. For small sizes; it costs what plain loops cost.
#pragma once

#include "workload/stack.hpp"
#include "workload/workload.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace hstujit {

struct StackCheck {
  double relative_error = 0;  ///< ||result - expected|| / ||expected||
  double tolerance = 0;
  /// Of projections in FP8, in the same measure: how far the result is from that of layers that quantise nothing.
  /// relative_error is that of the last layer alone then, from its input as it lies in memory, against mathematics that
  /// quantise alike: what one layer quantises to a neighbour becomes as large as quantisation itself in a few more.
  std::optional<double> quantisation_error;
  double quantisation_tolerance = 0;
  /// Of what relative_error is of, the element that is wrong by most of the largest magnitude of its row: one of many
  /// does not show in the norm of all.
  double element_error = 0, element_tolerance = 0;
  bool passed() const {  ///< false for NaN, too
    return relative_error <= tolerance && element_error <= element_tolerance &&
           (!quantisation_error || *quantisation_error <= quantisation_tolerance);
  }
};

/// The result of the stack that expand_stack(workload) describes, from its inputs and weights as they lie in memory;
/// nothing is quantised.
std::vector<double> expected_result(const Workload& workload, const Stack& stack);

/// ||got - expected|| / ||expected||; against zeros, ||got||.
double relative_error(std::span<const double> got, std::span<const double> expected);

/// The largest |got - expected| over the largest magnitude of its row, of `columns` each; NaN if there is one.
double element_error(std::span<const double> got, std::span<const double> expected, int64_t columns);

/// `stack` must have run.
StackCheck check_stack(const Workload& workload, const Stack& stack);

/// The same layer with few, short sequences and at most two layers, in FP8, whose errors add up, all of them: seconds
/// on a CPU.
Workload small_version(const Workload& workload);

}  // namespace hstujit
