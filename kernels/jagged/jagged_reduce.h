// Parameters of jagged_reduce_sum_*: fixed-width members only, passed by value as the kernel's one parameter. Strides
// are in elements.
#pragma once

namespace hstu {

struct JaggedReduceParams {
  const void* jagged;       // [rows, dim]
  const void* seq_offsets;  // [batch + 1]
  void* out;                // [batch, dim]
  long long jagged_row_stride, out_row_stride;
  unsigned column_blocks;  // blocks a sequence
  int reserved;
};
static_assert(sizeof(JaggedReduceParams) == 48, "host and device disagree about JaggedReduceParams");

}  // namespace hstu
