// The key of append_kv_cache.
#pragma once

#include "operators/key_fields.hpp"

namespace hstujit {

#define HSTUJIT_APPEND_KV_CACHE_FIELDS(X)                                             \
  X(kElementBytes, element_bytes, exact)                                              \
  X(kHeadDimQk, head_dim_qk, exact)                                                   \
  X(kHeadDimV, head_dim_v, exact)                                                     \
  X(kNumHeads, num_heads, exact)                                                      \
  X(kOffsetDtype, offset_dtype, dtype) /* NONE: as many new rows in every sequence */ \
  X(kTargetDtype, target_dtype, dtype) /* NONE without targets */                     \
  X(kPageDtype, page_dtype, dtype)                                                    \
  X(kPageSize, page_size, exact)                                                      \
  X(kVector, vector, exact) /* bytes an access */                                     \
  X(kBatch, batch, bucket)                                                            \
  X(kTotal, total, bucket)
HSTUJIT_KEY_FIELDS(append_kv_cache, HSTUJIT_APPEND_KV_CACHE_FIELDS)

}  // namespace hstujit
