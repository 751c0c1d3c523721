// What kernels with dropout need of ratio and seed.
#pragma once

#include "norm/dropout.h"
#include "support/philox.hpp"

namespace hstujit {

/// ratio > 0. Part of the hot path.
inline hstu::DropoutRate dropout_rate(float ratio, int64_t seed) {
  return {static_cast<uint32_t>(seed), static_cast<uint32_t>(static_cast<uint64_t>(seed) >> 32),
          dropout_threshold(ratio), 1 / (1 - ratio)};
}

}  // namespace hstujit
