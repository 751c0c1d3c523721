// The key of jagged_dense_bmm_broadcast_add.
#pragma once

#include "operators/key_fields.hpp"

namespace hstujit {

#define HSTUJIT_JAGGED_BMM_FIELDS(X)                                    \
  X(kDtype, dtype, dtype)                                               \
  X(kOffsetDtype, offset_dtype, dtype)                                  \
  X(kN, n, exact)                                                       \
  X(kK, k, exact)                                                       \
  X(kBias, bias, exact) /* 0 none, 1 a row a sequence, 2 a row a row */ \
  X(kBiasDtype, bias_dtype, dtype)                                      \
  X(kDenseTransposed, dense_transposed, exact)                          \
  X(kVectorX, vector_x, exact) /* jagged */                             \
  X(kVectorW, vector_w, exact) /* dense */                              \
  X(kVectorZ, vector_z, exact) /* out and a bias of rows */             \
  X(kBatch, batch, bucket)                                              \
  X(kRows, rows, bucket)
HSTUJIT_KEY_FIELDS(jagged_bmm, HSTUJIT_JAGGED_BMM_FIELDS)

}  // namespace hstujit
