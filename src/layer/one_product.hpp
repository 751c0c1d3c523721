// Where a layer's output stage is one product, gated_addmm, by statistics that attention leaves of its rows.
#pragma once

#include "cuda/device.hpp"
#include "problem/problem.hpp"

#include <hstujit/hstujit.h>

namespace hstujit::layer {

/// Whether the product has the options, for results of this type.
bool one_product_has(const hstu_output_options& options, hstu_dtype dtype);

/// Whether the device has it: there are families for both, and it is faster than norm_mul and addmm. attention: with
/// statistics.
bool takes_one_product(const DeviceFacts& device, const Problem& attention, const Problem& product);

}  // namespace hstujit::layer
