// The key of jagged_reduce_sum.
#pragma once

#include "operators/key_fields.hpp"

namespace hstujit {

#define HSTUJIT_JAGGED_REDUCE_FIELDS(X) \
  X(kDtype, dtype, dtype)               \
  X(kOutDtype, out_dtype, dtype)        \
  X(kOffsetDtype, offset_dtype, dtype)  \
  X(kDim, dim, exact)                   \
  X(kVector, vector, exact)             \
  X(kBatch, batch, bucket)              \
  X(kRows, rows, bucket)
HSTUJIT_KEY_FIELDS(jagged_reduce, HSTUJIT_JAGGED_REDUCE_FIELDS)

}  // namespace hstujit
