// How an operand of a matrix product lies in memory, as its kernels see it.
#pragma once

#include "operators/checks.hpp"

namespace hstujit {

/// Memory is contiguous along k (lines along k) or along the other dimension; or along neither: then vector is 0, and
/// lines are along k with elements apart.
struct Operand {
  bool along_k = true;
  int32_t vector = 0;  ///< elements an access
};

/// k: the dimension summed over, 0 or 1. A first stride that addresses nothing becomes 1.
Operand operand_of(hstu_tensor& t, int k);

/// Strides between lines, and between the elements of a line where they are gathered.
inline int64_t line_stride(const hstu_tensor& t, int k, bool along_k) { return t.stride[along_k ? 1 - k : k]; }
inline int64_t element_stride(const hstu_tensor& t, int k) { return t.stride[k]; }

}  // namespace hstujit
