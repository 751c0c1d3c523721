// num_targets on the host.
#pragma once

#include "operators/operators.hpp"
#include "support/element.hpp"

#include <algorithm>
#include <cstdint>

namespace hstujit {

/// num_targets[b] of a sequence of `rows` rows; 0 where the tensor is absent. A number beyond the rows, up to the
/// largest there is, stands for all of them: limited before anything is added to it.
inline int64_t targets_of(const hstu_tensor& num_targets, int64_t b, int64_t rows) {
  if (!present(num_targets)) return 0;
  return std::clamp<int64_t>(integer_at(num_targets, b), 0, std::max<int64_t>(rows, 0));
}

}  // namespace hstujit
