// What the gradient of group norm may be wrong by, for sweeps and random problems.
#pragma once

#include "support/device_call.hpp"

#include <vector>

namespace hstujit::test {

/// Memory of the host's as large as the call asks for; calls on a device get their own.
void give_workspace(HostMemory& memory, hstu_group_norm_backward_args& args);

/// The outputs that are there. Sums over rows and columns may be wrong by 4 * 2^-24 times the root of their number
/// times the root of the squares of their terms, and by what xhat is; dx by f32 sums of terms that may cancel.
std::vector<Expected<hstu_group_norm_backward_args>> expected_gradients(const hstu_group_norm_backward_args& args);

}  // namespace hstujit::test
