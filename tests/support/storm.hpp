// How long storms of processes that are killed last.
#pragma once

#include "support/cpu_time.hpp"

#include <algorithm>
#include <cstdlib>

namespace hstujit::test {

/// HSTUJIT_STORM_ROUNDS, or as many as a test has time for: `usual`, fewer under a sanitizer. At least one.
inline int storm_rounds(int usual) {
  const char* const asked = std::getenv("HSTUJIT_STORM_ROUNDS");
  return std::max(1, asked ? std::atoi(asked) : usual / static_cast<int>(sanitizer_share(4)));
}

}  // namespace hstujit::test
