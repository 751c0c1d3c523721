// The key of rms_norm_rope.
#pragma once

#include "operators/key_fields.hpp"

namespace hstujit {

#define HSTUJIT_RMS_NORM_ROPE_FIELDS(X) \
  X(kDtype, dtype, dtype)               \
  X(kWeightDtype, weight_dtype, dtype)  \
  X(kAngleDtype, angle_dtype, dtype)    \
  X(kFp8, fp8, dtype)                   \
  X(kScaling, scaling, exact)           \
  X(kDim, dim, exact)                   \
  X(kHeadDim, head_dim, exact)          \
  X(kVector, vector, exact)             \
  X(kBatch, batch, bucket)              \
  X(kLength, length, bucket)
HSTUJIT_KEY_FIELDS(rms_norm_rope, HSTUJIT_RMS_NORM_ROPE_FIELDS)

}  // namespace hstujit
