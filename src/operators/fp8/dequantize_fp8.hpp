// The key of dequantize_fp8.
#pragma once

#include "operators/key_fields.hpp"

namespace hstujit {

#define HSTUJIT_DEQUANTIZE_FP8_FIELDS(X) \
  X(kDtype, dtype, dtype)                \
  X(kFp8, fp8, dtype)                    \
  X(kScaling, scaling, exact)            \
  X(kColumns, columns, exact)            \
  X(kVector, vector, exact)              \
  X(kRows, rows, bucket)
HSTUJIT_KEY_FIELDS(dequantize_fp8, HSTUJIT_DEQUANTIZE_FP8_FIELDS)

}  // namespace hstujit
