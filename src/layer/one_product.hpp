// Where a layer's output stage is one product, gated_addmm or gated_fp8_gemm, by statistics that attention leaves of
// its rows.
#pragma once

#include "cuda/device.hpp"
#include "problem/problem.hpp"

#include <hstujit/hstujit.h>

namespace hstujit::layer {

/// Whether the products have the options, for results of this type. That of FP8 has fast sums only.
bool one_product_has(const hstu_output_options& options, hstu_dtype dtype);

/// Whether the device has it: there are families for both, and it is faster than the two calls that it replaces.
/// attention: with statistics.
bool takes_one_product(const DeviceFacts& device, const Problem& attention, const Problem& product);

}  // namespace hstujit::layer
