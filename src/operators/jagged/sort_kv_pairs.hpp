// The key of sort_kv_pairs, and where its kernels and those of sort_by_length part.
#pragma once

#include "operators/key_fields.hpp"

namespace hstujit {

#define HSTUJIT_SORT_FIELDS(X)       \
  X(kKeyDtype, key_dtype, dtype)     \
  X(kValueBytes, value_bytes, exact) \
  X(kCount, count, bucket)
HSTUJIT_KEY_FIELDS(sort, HSTUJIT_SORT_FIELDS)

namespace sort {
/// sort_kv_pairs_sm80 and sort_by_length_sm80 take so many elements and fewer, sort_kv_parts_sm80 and
/// sort_by_length_parts_sm80 more.
constexpr int kMostByRank = 1 << 9;
}  // namespace sort

}  // namespace hstujit
