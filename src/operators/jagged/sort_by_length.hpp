// The key of sort_by_length.
#pragma once

#include "operators/key_fields.hpp"

namespace hstujit {

#define HSTUJIT_SORT_BY_LENGTH_FIELDS(X) \
  X(kOffsetDtype, offset_dtype, dtype)   \
  X(kOutDtype, out_dtype, dtype)         \
  X(kCount, count, bucket)
HSTUJIT_KEY_FIELDS(sort_by_length, HSTUJIT_SORT_BY_LENGTH_FIELDS)

}  // namespace hstujit
