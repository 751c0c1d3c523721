// The key of flash_attention.
#pragma once

#include "operators/key_fields.hpp"

namespace hstujit {

#define HSTUJIT_FLASH_ATTENTION_FIELDS(X)                          \
  X(kDtype, dtype, dtype)                                          \
  X(kHeadDimQk, head_dim_qk, exact)                                \
  X(kHeadDimV, head_dim_v, exact)                                  \
  X(kNumHeads, num_heads, exact)                                   \
  X(kOffsetDtype, offset_dtype, dtype) /* NONE: dense */           \
  X(kMask, mask, exact)                /* hstu_mask */             \
  X(kLse, lse, exact)                  /* 0|1 */                   \
  X(kVector, vector, exact)                                        \
  X(kBatch, batch, bucket)                                         \
  X(kQueries, queries, bucket) /* of a sequence; jagged: of all */ \
  X(kKeys, keys, bucket)       /* of a sequence; jagged: max_seq_len */
HSTUJIT_KEY_FIELDS(flash_attention, HSTUJIT_FLASH_ATTENTION_FIELDS)

}  // namespace hstujit
