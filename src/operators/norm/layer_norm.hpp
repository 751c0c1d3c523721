// The key of layer_norm and swish_layer_norm.
#pragma once

#include "operators/key_fields.hpp"

namespace hstujit {

#define HSTUJIT_LAYER_NORM_FIELDS(X)        \
  X(kDtype, dtype, dtype)                   \
  X(kWeightDtype, weight_dtype, dtype)      \
  X(kHasWeight, has_weight, exact)          \
  X(kFp8, fp8, dtype) /* of out; or none */ \
  X(kScaling, scaling, exact)               \
  X(kDim, dim, exact)                       \
  X(kVector, vector, exact)                 \
  X(kRows, rows, bucket)                    \
  X(kMoments, moments, exact, rare) /* 0|1 */
HSTUJIT_KEY_FIELDS(layer_norm, HSTUJIT_LAYER_NORM_FIELDS)

namespace swish_layer_norm = layer_norm;  // made by one prepare()

}  // namespace hstujit
