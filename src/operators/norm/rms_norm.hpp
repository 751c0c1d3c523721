// The key of rms_norm.
#pragma once

#include "operators/key_fields.hpp"

namespace hstujit {

#define HSTUJIT_RMS_NORM_FIELDS(X)     \
  X(kDtype, dtype, dtype)              \
  X(kWeightDtype, weight_dtype, dtype) \
  X(kHasWeight, has_weight, exact)     \
  X(kFp8, fp8, dtype)                  \
  X(kScaling, scaling, exact)          \
  X(kDim, dim, exact)                  \
  X(kActivation, activation, exact)    \
  X(kVector, vector, exact)            \
  X(kRows, rows, bucket)
HSTUJIT_KEY_FIELDS(rms_norm, HSTUJIT_RMS_NORM_FIELDS)

}  // namespace hstujit
