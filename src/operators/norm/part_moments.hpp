// Statistics of rows, part by part, as one operator leaves them for another.
#pragma once

#include "operators/checks.hpp"

namespace hstujit::checks {

/// moments, f32 [rows, parts, 2]: mean and sum of squared deviations, contiguous, each pair one access. `what` says
/// what the rows are.
Tensor part_moments(hstu_tensor& moments, int64_t rows, const char* what);

}  // namespace hstujit::checks
