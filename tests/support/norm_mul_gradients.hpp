// What the gradient of norm_mul may be wrong by, for sweeps and random problems.
#pragma once

#include "support/device_call.hpp"

#include <vector>

namespace hstujit::test {

/// Memory of the host's as large as the call asks for; calls on a device get their own.
void give_workspace(HostMemory& memory, hstu_norm_mul_backward_args& args);

/// f32 [rows, parts, 2] of a matrix: mean and sum of squared deviations of each of `parts` equal parts of its rows.
hstu_tensor part_moments_of(HostMemory& memory, const hstu_tensor& matrix, int64_t parts);

/// The outputs that are there. Sums over rows may be wrong by 4 * 2^-24 * sqrt(terms) times the root of the squares of
/// their terms, and by what their terms are; dattn by f32 sums of terms that may cancel; du by the slope of its
/// activation, whose parts may cancel.
std::vector<Expected<hstu_norm_mul_backward_args>> expected_gradients(const hstu_norm_mul_backward_args& args);

}  // namespace hstujit::test
