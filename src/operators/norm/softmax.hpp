// The key of softmax.
#pragma once

#include "operators/key_fields.hpp"

namespace hstujit {

#define HSTUJIT_SOFTMAX_FIELDS(X)  \
  X(kDtype, dtype, dtype)          \
  X(kDim, dim, exact)              \
  X(kLog, log, exact)              \
  X(kZeroEmpty, zero_empty, exact) \
  X(kVector, vector, exact)        \
  X(kRows, rows, bucket)
HSTUJIT_KEY_FIELDS(softmax, HSTUJIT_SOFTMAX_FIELDS)

}  // namespace hstujit
