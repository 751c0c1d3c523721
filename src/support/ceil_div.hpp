// Whole quotients, rounded up.
#pragma once

#include <cstdint>

namespace hstujit {

/// a not negative, b positive.
constexpr int64_t ceil_div(int64_t a, int64_t b) { return a / b + (a % b != 0); }

}  // namespace hstujit
