// The key of expand_1d_jagged_to_dense.
#pragma once

#include "operators/key_fields.hpp"

namespace hstujit {

#define HSTUJIT_EXPAND_FIELDS(X)         \
  X(kElementBytes, element_bytes, exact) \
  X(kOffsetDtype, offset_dtype, dtype)   \
  X(kBatch, batch, bucket)               \
  X(kMaxLen, max_len, bucket)
HSTUJIT_KEY_FIELDS(expand, HSTUJIT_EXPAND_FIELDS)

}  // namespace hstujit
