// Parameters of the two-dimensional jagged copies, concat_2d_jagged_* and split_2d_jagged_*: fixed-width members only,
// passed by value as the kernel's one parameter. Strides are in bytes here: the kernels know elements by size alone.
#pragma once

namespace hstu {

// One of the two parts of a combined jagged tensor.
struct JaggedPart {
  void* data;              // concatenation only reads it
  const void* offsets;     // [batch + 1], or null for a dense part
  long long rows;          // of all sequences
  long long row_stride;    // bytes
  long long batch_stride;  // bytes between sequences; read only when the part is dense
  long long length;        // rows of every sequence; read only when the part is dense
  long long density;       // 2^32 sequences / rows
};
static_assert(sizeof(JaggedPart) == 56, "host and device disagree about JaggedPart");

struct JaggedCopyParams {
  JaggedPart left, right;
  void* combined;
  long long combined_rows;
  long long combined_row_stride;  // bytes
  long long combined_density;     // 2^32 sequences / rows
  long long prefix;               // rows of right that come before left in each sequence
  long long right_share;          // concatenation: of 2^32 blocks so many read right, evenly spread; the others left
  int batch;
  int reserved;
};
static_assert(sizeof(JaggedCopyParams) == 168, "host and device disagree about JaggedCopyParams");

}  // namespace hstu
