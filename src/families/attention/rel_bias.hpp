// What the families of hstu_rel_bias share: the arguments and the edges of buckets, as their kernels take them.
#pragma once

#include "attention/rel_bias.h"
#include "operators/operators.hpp"

#include <cstdint>

namespace hstujit::rel_bias {

inline constexpr int64_t kMostDepth = 65535;  ///< of a grid

/// All but lane_bits, warp_bits and strips.
void fill(const hstu_rel_bias_args& a, hstu::RelBiasParams& p);

}  // namespace hstujit::rel_bias
