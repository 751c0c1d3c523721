// The argument struct of addmm_* kernels, shared by host and device: fixed-width members only, passed by value as the
// kernel's one parameter. Strides are in elements; "rows" of a jagged tensor are tokens.
#pragma once

namespace hstu {

// addmm_*: z = act(x w + y)
struct AddmmParams {
  const void* x;  // [m, k]
  const void* w;  // [k, n]
  const void* y;  // [n] or [m, n], or null
  void* z[4];     // [m, n], or its columns from z_first on, with Config::kSplitColumns
  long long m, n, k;
  long long x_row_stride, w_row_stride, y_row_stride, z_row_stride[4];  // x, w: between lines (tile/operand.cuh)
  long long x_column_stride, w_column_stride, y_column_stride;          // read only where elements are gathered
  long long act_columns;   // the activation applies to columns [0, act_columns)
  long long z_first[4];    // n for those that are not there
  const float* z_descale;  // of results in FP8
};
static_assert(sizeof(AddmmParams) == 208, "host and device disagree about AddmmParams");

}  // namespace hstu
