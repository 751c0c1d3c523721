// The key of dropout, and what other operators with a dropout in them take from it.
#pragma once

#include "operators/key_fields.hpp"
#include "support/error.hpp"
#include "support/philox.hpp"

namespace hstujit {

#define HSTUJIT_DROPOUT_FIELDS(X)                      \
  X(kDtype, dtype, dtype)                              \
  X(kActive, active, exact) /* 0: ratio 0 */           \
  X(kFlat, flat, exact)     /* no gaps between rows */ \
  X(kWords, words, exact)                              \
  X(kVector, vector, exact)                            \
  X(kRows, rows, bucket)                               \
  X(kDim, dim, bucket)
HSTUJIT_KEY_FIELDS(dropout, HSTUJIT_DROPOUT_FIELDS)

namespace checks {
inline void dropout_ratio(const char* name, float ratio) {
  if (!(ratio >= 0 && ratio < 1))
    fail(HSTU_ERROR_INVALID_ARGUMENT, "{} = {}: it must be at least 0 and less than 1; 0 means no dropout", name,
         ratio);
}
}  // namespace checks

namespace reference {
/// x where `word`, a random one, keeps it, as large as makes up for what is dropped; else 0.
inline double kept(double x, uint32_t word, float ratio) {
  return uniform_of(word) > ratio ? x / (1 - static_cast<double>(ratio)) : 0;
}
}  // namespace reference

}  // namespace hstujit
