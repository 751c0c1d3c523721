// The key of addmm.
#pragma once

#include "operators/key_fields.hpp"

namespace hstujit {

#define HSTUJIT_ADDMM_FIELDS(X)                                                                                       \
  X(kDtype, dtype, dtype)                                                                                             \
  X(kN, n, exact)                                                                                                     \
  X(kK, k, exact)                                                                                                     \
  X(kBias, bias, exact) /* 0 none, 1 row, 2 residual */                                                               \
  X(kBiasDtype, bias_dtype, dtype)                                                                                    \
  X(kActivation, activation, exact)                                                                                   \
  X(kActColumns, act_columns, exact)                                                                                  \
  X(kXTransposed, x_transposed, exact)           /* stored [k, m] */                                                  \
  X(kWeightTransposed, weight_transposed, exact) /* stored [n, k] */                                                  \
  X(kVectorX, vector_x, exact)                   /* 0: contiguous along neither dimension */                          \
  X(kVectorW, vector_w, exact)                                                                                        \
  X(kVectorZ, vector_z, exact) /* z and residual y */                                                                 \
  X(kGatherY, gather_y, exact) /* elements of y's rows lie apart */                                                   \
  X(kAllowTf32, allow_tf32, exact)                                                                                    \
  X(kSplit, split, exact) /* the power of two, 64 at most, that cuts the result into z, z1, ...; 0: z is all of it */ \
  X(kZDtype, z_dtype, dtype, rare) /* in FP8; NONE where z has x's */                                                 \
  X(kM, m, bucket)
HSTUJIT_KEY_FIELDS(addmm, HSTUJIT_ADDMM_FIELDS)

}  // namespace hstujit
