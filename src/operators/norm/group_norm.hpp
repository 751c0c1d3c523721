// The key of group_norm.
#pragma once

#include "operators/key_fields.hpp"

namespace hstujit {

#define HSTUJIT_GROUP_NORM_FIELDS(X)   \
  X(kDtype, dtype, dtype)              \
  X(kWeightDtype, weight_dtype, dtype) \
  X(kHasWeight, has_weight, exact)     \
  X(kDim, dim, exact)                  \
  X(kGroups, groups, exact)            \
  X(kVector, vector, exact)            \
  X(kRows, rows, bucket)
HSTUJIT_KEY_FIELDS(group_norm, HSTUJIT_GROUP_NORM_FIELDS)

}  // namespace hstujit
