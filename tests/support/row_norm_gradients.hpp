// What the gradients of RMS norm and swish layer norm may be wrong by, for sweeps and random problems.
#pragma once

#include "support/device_call.hpp"

#include <vector>

namespace hstujit::test {

/// Mean and sum of squared deviations of each of moments.shape[1] equal parts of x's rows, as norms and attention leave
/// them.
void store_moments(const hstu_tensor& x, const hstu_tensor& moments);

/// Memory of the host's as large as the call asks for; calls on a device get their own.
void give_workspace(HostMemory& memory, hstu_rms_norm_backward_args& args);
void give_workspace(HostMemory& memory, hstu_swish_layer_norm_backward_args& args);

/// The outputs that are there. Sums over rows may be wrong by 4 * 2^-24 * sqrt(rows) times the root of the squares of
/// their terms, and by what their terms are; dx by f32 sums of terms that may cancel, all of them or but for eps.
std::vector<Expected<hstu_rms_norm_backward_args>> expected_gradients(const hstu_rms_norm_backward_args& args);
std::vector<Expected<hstu_swish_layer_norm_backward_args>> expected_gradients(
    const hstu_swish_layer_norm_backward_args& args);

}  // namespace hstujit::test
