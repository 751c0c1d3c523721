// The key of norm_addmm.
#pragma once

#include "operators/key_fields.hpp"

namespace hstujit {

#define HSTUJIT_NORM_ADDMM_FIELDS(X)                                                       \
  X(kDtype, dtype, dtype)                                                                  \
  X(kWeightDtype, weight_dtype, dtype) /* of the norm */                                   \
  X(kN, n, exact)                                                                          \
  X(kK, k, exact)                                                                          \
  X(kBias, bias, exact) /* 0 none, 1 row */                                                \
  X(kBiasDtype, bias_dtype, dtype)                                                         \
  X(kActivation, activation, exact)                                                        \
  X(kActColumns, act_columns, exact)                                                       \
  X(kWeightTransposed, weight_transposed, exact) /* w stored [n, k] */                     \
  X(kVector, vector, exact)                      /* x, z and the norm's weight and bias */ \
  X(kVectorW, vector_w, exact)                                                             \
  X(kSplit, split, exact) /* as addmm's */                                                 \
  X(kM, m, bucket)
HSTUJIT_KEY_FIELDS(norm_addmm, HSTUJIT_NORM_ADDMM_FIELDS)

}  // namespace hstujit
