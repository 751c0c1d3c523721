// Parameters of jagged_to_padded_dense_* and dense_to_jagged_*: fixed-width members only, passed by value as the
// kernel's one parameter. Strides are in bytes: the kernels know elements by size alone.
#pragma once

namespace hstu {

struct PaddedParams {
  void* jagged;         // [rows, dim]
  void* dense;          // [batch, max_len, dim]
  const void* offsets;  // [batch + 1]
  long long jagged_row_stride;
  long long dense_batch_stride, dense_row_stride;
  long long rows;  // of what is written
  int max_len;
  int batch;
  unsigned padding[4];  // 16 bytes of elements
};
static_assert(sizeof(PaddedParams) == 80, "host and device disagree about PaddedParams");

}  // namespace hstu
