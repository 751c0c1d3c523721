// The key of norm_mul.
#pragma once

#include "operators/key_fields.hpp"

namespace hstujit {

#define HSTUJIT_NORM_MUL_FIELDS(X)                                       \
  X(kDtype, dtype, dtype)                                                \
  X(kWeightDtype, weight_dtype, dtype)                                   \
  X(kFp8, fp8, dtype) /* of out; or none */                              \
  X(kScaling, scaling, exact)                                            \
  X(kDim, dim, exact)                                                    \
  X(kGroups, groups, exact) /* 0 layer norm */                           \
  X(kActivation, activation, exact)                                      \
  X(kConcatU, concat_u, exact)                                           \
  X(kConcatX, concat_x, exact)                                           \
  X(kSiluU, silu_u, exact)                                               \
  X(kNorm, norm, exact)       /* hstu_norm */                            \
  X(kDropout, dropout, exact) /* 0 none, else 1 + hstu_dropout_stream */ \
  X(kVector, vector, exact)                                              \
  X(kRows, rows, bucket)
HSTUJIT_KEY_FIELDS(norm_mul, HSTUJIT_NORM_MUL_FIELDS)

}  // namespace hstujit
