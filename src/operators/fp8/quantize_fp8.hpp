// The key of quantize_fp8.
#pragma once

#include "operators/key_fields.hpp"

namespace hstujit {

#define HSTUJIT_QUANTIZE_FP8_FIELDS(X)                          \
  X(kDtype, dtype, dtype)                                       \
  X(kFp8, fp8, dtype)                                           \
  X(kScaling, scaling, exact) /* hstu_fp8_scaling */            \
  X(kColumns, columns, exact)                                   \
  X(kVector, vector, exact) /* elements: up to 32 bytes of x */ \
  X(kStatic, static, exact)                                     \
  X(kPowerOfTwo, power_of_two, exact)                           \
  X(kRows, rows, bucket)
HSTUJIT_KEY_FIELDS(quantize_fp8, HSTUJIT_QUANTIZE_FP8_FIELDS)

}  // namespace hstujit
