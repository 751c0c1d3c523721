// The key of fp8_amax.
#pragma once

#include "operators/key_fields.hpp"

namespace hstujit {

#define HSTUJIT_FP8_AMAX_FIELDS(X)                          \
  X(kDtype, dtype, dtype)                                   \
  X(kColumns, columns, exact)                               \
  X(kVector, vector, exact)                                 \
  X(kDense, dense, exact) /* rows lie one behind another */ \
  X(kRows, rows, bucket)
HSTUJIT_KEY_FIELDS(fp8_amax, HSTUJIT_FP8_AMAX_FIELDS)

}  // namespace hstujit
