// The key of rms_norm_backward and swish_layer_norm_backward, and how exact their sums can be.
#pragma once

#include "operators/norm/layer_norm_backward.hpp"

namespace hstujit {

#define HSTUJIT_ROW_NORM_BACKWARD_FIELDS(X)                                              \
  X(kDtype, dtype, dtype)                                                                \
  X(kWeightDtype, weight_dtype, dtype)                                                   \
  X(kGradientDtype, gradient_dtype, dtype) /* of dweight and dbias; NONE without both */ \
  X(kHasMoments, has_moments, exact)                                                     \
  X(kHasDresidual, has_dresidual, exact)                                                 \
  X(kHasDx, has_dx, exact)                                                               \
  X(kHasDweight, has_dweight, exact)                                                     \
  X(kHasDbias, has_dbias, exact)                                                         \
  X(kActivation, activation, exact) /* of RMS norm */                                    \
  X(kDim, dim, exact)                                                                    \
  X(kVector, vector, exact)                                                              \
  X(kRows, rows, bucket)
HSTUJIT_KEY_FIELDS(row_norm_backward, HSTUJIT_ROW_NORM_BACKWARD_FIELDS)

namespace reference {

SizesOfTerms sizes_of_terms(const hstu_rms_norm_backward_args& args);
SizesOfTerms sizes_of_terms(const hstu_swish_layer_norm_backward_args& args);

}  // namespace reference
}  // namespace hstujit
