// The key of gated_fp8_gemm.
#pragma once

#include "operators/key_fields.hpp"

namespace hstujit {

#define HSTUJIT_GATED_FP8_GEMM_FIELDS(X)                               \
  X(kDtype, dtype, dtype)                                              \
  X(kWeightDtype, weight_dtype, dtype)                                 \
  X(kDim, dim, exact)                                                  \
  X(kN, n, exact)                                                      \
  X(kParts, parts, exact)                                              \
  X(kResidual, residual, exact) /* 0|1 */                              \
  X(kVector, vector, exact)     /* attn, u, weight, bias, x and out */ \
  X(kVectorW, vector_w, exact)  /* bytes, up to 16 */                  \
  X(kM, m, bucket)
HSTUJIT_KEY_FIELDS(gated_fp8_gemm, HSTUJIT_GATED_FP8_GEMM_FIELDS)

}  // namespace hstujit
