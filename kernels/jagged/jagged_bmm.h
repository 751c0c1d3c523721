// Parameters of jagged_bmm_*: fixed-width members only, passed by value as the kernel's one parameter. Strides are in
// elements.
#pragma once

namespace hstu {

// out[r] = jagged[r] dense[b] + bias, r in sequence b
struct JaggedBmmParams {
  const void* jagged;       // [rows, k]
  const void* dense;        // [batch, k, n]
  const void* bias;         // [batch, n] or [rows, n], or null
  void* out;                // [rows, n]
  const void* seq_offsets;  // [batch + 1]
  long long n, k;
  long long jagged_row_stride;
  long long dense_batch_stride, dense_row_stride;  // a row: the dimension that is not contiguous
  long long dense_element_stride;                  // of a row, where its elements are gathered
  long long bias_row_stride;
  long long out_row_stride;
  int batch;
  unsigned tiles_m;  // tiles along the rows, of all sequences
};
static_assert(sizeof(JaggedBmmParams) == 112, "host and device disagree about JaggedBmmParams");

}  // namespace hstu
