// The tensor maps of attention on sm_90: by which kernels/tile/jagged_map.cuh finds rows of a sequence, or of a page of
// a cache, and nothing behind their end; and of a relative bias.
#pragma once

#include "cuda/tensor_map.hpp"

namespace hstujit {

/// Of a jagged tensor, [total, columns] or [total, heads, columns], in boxes of 128 bytes x `rows`.
TensorMapSpec jagged_map(const hstu_tensor& tensor, int rows);

/// Of a relative bias, [sequences, heads, positions, positions], in boxes of 128 bytes x `rows`.
TensorMapSpec bias_map(const hstu_tensor& rab, int rows);

/// Of a cache, [pages, page_size, heads, columns], in boxes of 128 bytes x `rows` slots: as if the slots of all pages
/// were the rows of one tensor (cache_pages::page_rows).
TensorMapSpec paged_map(const hstu_tensor& cache, int rows);

}  // namespace hstujit
