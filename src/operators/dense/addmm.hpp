// The key of addmm.
#pragma once

#include "operators/key_fields.hpp"

namespace hstujit {

#define HSTUJIT_ADDMM_FIELDS(X)                                                                              \
  X(kDtype, dtype, dtype)                                                                                    \
  X(kN, n, exact)                                                                                            \
  X(kK, k, exact)                                                                                            \
  X(kBias, bias, exact)            /* 0 none, 1 row, 2 residual, 3 both */                                   \
  X(kBiasDtype, bias_dtype, dtype) /* of a row; without one of a residual, or NONE */                        \
  X(kActivation, activation, exact)                                                                          \
  X(kActColumns, act_columns, exact)                                                                         \
  X(kXTransposed, x_transposed, exact)           /* stored [k, m] */                                         \
  X(kWeightTransposed, weight_transposed, exact) /* stored [n, k] */                                         \
  X(kVectorX, vector_x, exact)                   /* 0: contiguous along neither dimension */                 \
  X(kVectorW, vector_w, exact)                                                                               \
  X(kVectorZ, vector_z, exact) /* out and residual */                                                        \
  X(kGatherY, gather_y, exact) /* elements of bias or residual lie apart */                                  \
  X(kAllowTf32, allow_tf32, exact)                                                                           \
  X(kSplit, split,                                                                                           \
    exact) /* the power of two, 64 at most, that cuts the result into out, out1, ...; 0: out is all of it */ \
  X(kZDtype, z_dtype, dtype, rare) /* in FP8; NONE where out has x's */                                      \
  X(kM, m, bucket)
HSTUJIT_KEY_FIELDS(addmm, HSTUJIT_ADDMM_FIELDS)

}  // namespace hstujit
