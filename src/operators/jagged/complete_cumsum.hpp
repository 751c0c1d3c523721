// The key of complete_cumsum, and where its kernels part.
#pragma once

#include "operators/key_fields.hpp"

namespace hstujit {

#define HSTUJIT_CUMSUM_FIELDS(X) \
  X(kDtype, dtype, dtype)        \
  X(kOutDtype, out_dtype, dtype) \
  X(kCount, count, bucket)
HSTUJIT_KEY_FIELDS(cumsum, HSTUJIT_CUMSUM_FIELDS)

namespace cumsum {
/// complete_cumsum_sm80 takes so many values and fewer, cumsum_tiles_sm80 more.
constexpr int kMostByBlocks = 1 << 15;
}  // namespace cumsum

}  // namespace hstujit
