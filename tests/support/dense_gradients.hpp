// What the gradients of a product's weight and bias may be wrong by, for sweeps and random problems.
#pragma once

#include "support/device_call.hpp"

#include <vector>

namespace hstujit::test {

/// Memory of the host's as large as the call asks for; calls on a device get their own.
void give_workspace(HostMemory& memory, hstu_addmm_wgrad_args& args);

/// The outputs that are there. Sums over rows may be wrong by 4 * 2^-24 * sqrt(rows) times the root of the squares of
/// their terms. Those of 16 bits also by what tensor cores cut off, half of the last bit of a sum at each 16 of the
/// rows that they add up without a break; those of f32 by what its halves, or TF32, leave out.
std::vector<Expected<hstu_addmm_wgrad_args>> expected_gradients(const hstu_addmm_wgrad_args& args);

}  // namespace hstujit::test
