// Truth for tests of devices: the reference's unrounded results, and a comparison that knows the scale of each row and
// sees whatever was written where nothing should be.
#pragma once

#include "operators/operators.hpp"
#include "support/host_tensor.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace hstujit::test {

/// Unrounded results in row-major order of the output's shape; NaN where the operator leaves the output alone.
using Exact = std::vector<double>;

/// The oracle of one call, of several of its outputs; args on the host, not prepared. Does not touch the outputs.
template <class Args>
std::vector<Exact> exact_results(Args args, const std::vector<hstu_tensor Args::*>& outputs) {
  prepare(args);
  std::vector<Exact> results;
  for (const auto output : outputs) {
    const hstu_tensor& t = args.*output;
    int64_t count = 1;
    for (int d = 0; d < t.rank; ++d) count *= t.shape[d];
    results.emplace_back(static_cast<size_t>(count), std::nan(""));
  }
  std::vector<double*> buffers;  // of all outputs, null but for those
  for (const TensorSlot& slot : operator_of(op_of<Args>()).tensors) {
    if (slot.role != TensorRole::output) continue;
    buffers.push_back(nullptr);
    for (size_t i = 0; i < outputs.size(); ++i)
      if (&tensor_at(static_cast<void*>(&args), slot) == &(args.*outputs[i])) buffers.back() = results[i].data();
  }
  reference::run(args, buffers.data());
  return results;
}
template <class Args>
Exact exact_result(const Args& args, hstu_tensor Args::*output) {
  return std::move(exact_results(args, std::vector{output}).front());
}

/// How far results may lie from the oracle. An element's error may have two parts. One is of its own rounding, in steps
/// of its type where the element lies: half a step, next to zero too. The other is measured in ulps of the largest
/// result of its row: terms of that size were added, and may cancel. So the smallest elements of a row are known as
/// well as its sums are, and no element can be another one's value. ulps of FP8's rows are f32's.
struct Tolerance {
  double frobenius;             ///< relative, over all elements
  double ulps_of_row;           ///< per element
  double steps_of_element = 0;  ///< per element, beside those of the row
};

/// Of an operator that accumulates in f32, may take one special function, and rounds once.
Tolerance rounded_once(hstu_dtype dtype);
/// The same where rows have fewer than kFewElements: a special function is wrong by its argument's size, which the
/// results of such a row may be far below.
constexpr size_t kFewElements = 32;
Tolerance rounded_once_of_few(hstu_dtype dtype);
/// Of a few additions and multiplications in f32, and one rounding.
Tolerance rounded_sum(hstu_dtype dtype);
/// Of results rounded to FP8 once. The oracle's must be unrounded.
Tolerance rounded_to_fp8(hstu_dtype fp8);
Tolerance rounded_to_fp8_of_few(hstu_dtype fp8);
/// Of attention, whose probabilities are rounded to the element type before the second product.
Tolerance attention_tolerance(hstu_dtype dtype);

/// Distance of neighbouring values of the type at 1; of FP8 and integers, f32's.
double ulp(hstu_dtype dtype);
/// Distance of neighbouring values of the type where `value` lies.
double step_at(hstu_dtype dtype, double value);

/// Compares the elements of `got` with the oracle; elements that it leaves alone must still be poison. allowance: of
/// each element, what it may be wrong by beside its tolerance; none where empty. A failure names the worst element.
testing::AssertionResult close(const hstu_tensor& got, const Exact& exact, const Tolerance& tolerance,
                               const Exact& allowance = {});

/// Every byte of a slab is after a call what it was before, except those of the tensors' elements. The tensors point
/// into `before`, or elsewhere.
testing::AssertionResult unchanged_around(const std::vector<hstu_tensor>& tensors, const Slab& before,
                                          const Slab& after);

}  // namespace hstujit::test
