// The buckets of times in hstu_rel_bias.
#pragma once

#include "support/to_integer.hpp"

#include <cmath>
#include <cstdint>

namespace hstujit::rel_bias {

/// trunc(ln(age) / 0.301) in f32, as the operator is defined: buckets have edges, and doubles would put some ages on
/// the other side of them. age: a difference of timestamps without its sign, as a float; below 1 counts as 1.
inline int64_t bucket_of(float age) { return to_integer<int64_t>(std::log(age < 1 ? 1.0f : age) / 0.301f); }

/// The largest bucket of a difference of 64-bit timestamps.
inline constexpr int kLastBucket = 147;

}  // namespace hstujit::rel_bias
