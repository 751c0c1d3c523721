// What the gradient of layer norm, and the statistics that its forward leaves, may be wrong by, for sweeps and random
// problems.
#pragma once

#include "support/device_call.hpp"

#include <vector>

namespace hstujit::test {

/// Memory of the host's as large as the call asks for; calls on a device get their own.
void give_workspace(HostMemory& memory, hstu_layer_norm_backward_args& args);

/// The outputs that are there. Sums over rows may be wrong by 4 * 2^-24 * sqrt(rows) times the root of the squares of
/// their terms, and by what xhat is; dx by f32 sums of terms that may cancel.
std::vector<Expected<hstu_layer_norm_backward_args>> expected_gradients(const hstu_layer_norm_backward_args& args);

/// The moments of a call that leaves them: sums in f32, of elements and of squared deviations.
Expected<hstu_layer_norm_args> expected_moments(const hstu_layer_norm_args& args);

}  // namespace hstujit::test
