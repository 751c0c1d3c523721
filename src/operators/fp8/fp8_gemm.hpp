// The key of fp8_gemm.
#pragma once

#include "operators/key_fields.hpp"

namespace hstujit {

#define HSTUJIT_FP8_GEMM_FIELDS(X)                                                                   \
  X(kDtype, dtype, dtype) /* of out */                                                               \
  X(kDtypeA, dtype_a, dtype)                                                                         \
  X(kDtypeB, dtype_b, dtype)                                                                         \
  X(kN, n, exact)                                                                                    \
  X(kK, k, exact)                                                                                    \
  X(kScalingA, scaling_a, exact) /* hstu_fp8_scaling */                                              \
  X(kScalingB, scaling_b, exact)                                                                     \
  X(kBias, bias, exact)            /* 0 none, 1 row, 2 residual, 3 both */                           \
  X(kBiasDtype, bias_dtype, dtype) /* of a row; without one of a residual, or NONE */                \
  X(kActivation, activation, exact)                                                                  \
  X(kActColumns, act_columns, exact)                                                                 \
  X(kVectorA, vector_a, exact) /* bytes, up to 16 */                                                 \
  X(kVectorB, vector_b, exact)                                                                       \
  X(kVectorOut, vector_out, exact)               /* all of out and a residual */                     \
  X(kFast, fast, exact)                          /* sums of all of k may stay in the tensor cores */ \
  X(kSplit, split, exact)                        /* as addmm's */                                    \
  X(kResidualDtype, residual_dtype, dtype, rare) /* beside a row and out in FP8; else it is known */ \
  X(kM, m, bucket)
HSTUJIT_KEY_FIELDS(fp8_gemm, HSTUJIT_FP8_GEMM_FIELDS)

}  // namespace hstujit
