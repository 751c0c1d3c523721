// Which stages of a layer are one product: the first, layer norm and projection, as norm_addmm; the output stage, by
// statistics that attention leaves of its rows, as gated_addmm or gated_fp8_gemm.
#pragma once

#include "cuda/device.hpp"
#include "operators/problem.hpp"

#include <hstujit/hstujit.h>

namespace hstujit::layer {

/// Whether norm_addmm has the first stage for results of this type, projected in it.
bool one_product_has(hstu_dtype dtype);
/// Whether the products of the output stage have the options, for results of this type. That of FP8 has fast sums only.
bool one_product_has(const hstu_output_options& options, hstu_dtype dtype);

/// Whether the device makes a stage by this product: there is a family for it, and it is faster than the two calls that
/// it replaces.
bool takes_one_product(const DeviceFacts& device, const Problem& product);
/// Likewise, of an output stage. attention: with statistics.
bool takes_one_product(const DeviceFacts& device, const Problem& attention, const Problem& product);

}  // namespace hstujit::layer
