// The key of gated_mlp.
#pragma once

#include "operators/key_fields.hpp"

namespace hstujit {

#define HSTUJIT_GATED_MLP_FIELDS(X)                                                                                 \
  X(kDtype, dtype, dtype)                                                                                           \
  X(kN, n, exact)                                                                                                   \
  X(kK, k, exact)                                                                                                   \
  X(kActivation, activation, exact) /* hstu_activation */                                                           \
  X(kActivateGate, activate_gate, exact)                                                                            \
  X(kXTransposed, x_transposed, exact)                                                                              \
  X(kWeightTransposed, weight_transposed, exact) /* gate and up stored [n, k] */                                    \
  X(kVectorX, vector_x, exact)                                                                                      \
  X(kVectorW, vector_w, exact) /* gate and up; 0: contiguous along neither dimension, or not both along the same */ \
  X(kVectorOut, vector_out, exact)                                                                                  \
  X(kAllowTf32, allow_tf32, exact)                                                                                  \
  X(kOutDtype, out_dtype, dtype, rare) /* in FP8; NONE where out has x's */                                         \
  X(kM, m, bucket)
HSTUJIT_KEY_FIELDS(gated_mlp, HSTUJIT_GATED_MLP_FIELDS)

}  // namespace hstujit
