// The tensor map by which kernels/tile/jagged_map.cuh finds rows of a sequence and nothing behind its end.
#pragma once

#include "cuda/tensor_map.hpp"

namespace hstujit {

/// Of a jagged tensor, [total, columns] or [total, heads, columns], in boxes of 128 bytes x `rows`.
TensorMapSpec jagged_map(const hstu_tensor& tensor, int rows);

}  // namespace hstujit
