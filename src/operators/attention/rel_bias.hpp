// The key of rel_bias, and its buckets of times.
#pragma once

#include "operators/key_fields.hpp"
#include "support/to_integer.hpp"

#include <cmath>
#include <cstdint>

namespace hstujit {

#define HSTUJIT_REL_BIAS_FIELDS(X)     \
  X(kDtype, dtype, dtype) /* of rab */ \
  X(kTableDtype, table_dtype, dtype)   \
  X(kNumHeads, num_heads, exact)       \
  X(kVector, vector, exact)            \
  X(kBatch, batch, bucket)             \
  X(kPositions, positions, bucket)
HSTUJIT_KEY_FIELDS(rel_bias, HSTUJIT_REL_BIAS_FIELDS)

namespace rel_bias {

/// trunc(ln(age) / 0.301) in f32, as the operator is defined: buckets have edges, and doubles would put some ages on
/// the other side of them. age: a difference of timestamps without its sign, as a float; below 1 counts as 1.
inline int64_t bucket_of(float age) { return to_integer<int64_t>(std::log(age < 1 ? 1.0f : age) / 0.301f); }

/// The largest bucket of a difference of 64-bit timestamps.
inline constexpr int kLastBucket = 147;

}  // namespace rel_bias

}  // namespace hstujit
