// The key of group_norm_backward, and how exact its sums can be.
#pragma once

#include "operators/norm/layer_norm_backward.hpp"

namespace hstujit {

#define HSTUJIT_GROUP_NORM_BACKWARD_FIELDS(X)                                            \
  X(kDtype, dtype, dtype)                                                                \
  X(kWeightDtype, weight_dtype, dtype)                                                   \
  X(kGradientDtype, gradient_dtype, dtype) /* of dweight and dbias; NONE without both */ \
  X(kHasMoments, has_moments, exact)                                                     \
  X(kHasDresidual, has_dresidual, exact)                                                 \
  X(kHasDx, has_dx, exact)                                                               \
  X(kHasDweight, has_dweight, exact)                                                     \
  X(kHasDbias, has_dbias, exact)                                                         \
  X(kDim, dim, exact)                                                                    \
  X(kGroups, groups, exact)                                                              \
  X(kVector, vector, exact)                                                              \
  X(kRows, rows, bucket)
HSTUJIT_KEY_FIELDS(group_norm_backward, HSTUJIT_GROUP_NORM_BACKWARD_FIELDS)

namespace reference {

/// Of each group.
SizesOfTerms sizes_of_terms(const hstu_group_norm_backward_args& args);

}  // namespace reference
}  // namespace hstujit
