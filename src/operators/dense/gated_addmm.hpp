// The key of gated_addmm.
#pragma once

#include "operators/key_fields.hpp"

namespace hstujit {

#define HSTUJIT_GATED_ADDMM_FIELDS(X)                                                   \
  X(kDtype, dtype, dtype)                                                               \
  X(kWeightDtype, weight_dtype, dtype)                                                  \
  X(kDim, dim, exact)                                                                   \
  X(kN, n, exact)                                                                       \
  X(kParts, parts, exact)                                                               \
  X(kResidual, residual, exact)                  /* 0|1 */                              \
  X(kWeightTransposed, weight_transposed, exact) /* w stored [n, k] */                  \
  X(kVector, vector, exact)                      /* attn, u, weight, bias, x and out */ \
  X(kVectorW, vector_w, exact)                                                          \
  X(kM, m, bucket)
HSTUJIT_KEY_FIELDS(gated_addmm, HSTUJIT_GATED_ADDMM_FIELDS)

}  // namespace hstujit
