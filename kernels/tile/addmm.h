// The argument struct of addmm_* kernels, shared by host and device: fixed-width members only, passed by value as the
// kernel's one parameter. Strides are in elements; "rows" of a jagged tensor are tokens.
#pragma once

namespace hstu {

// addmm_*: out = act(x w + bias + residual)
struct AddmmParams {
  const void* x;     // [m, k]
  const void* w;     // [k, n]
  const void* bias;  // [n], or null
  void* out[4];      // [m, n], or its columns from out_first on, with Config::kSplitColumns
  long long m, n, k;
  long long x_row_stride, w_row_stride, residual_row_stride, out_row_stride[4];  // x, w: between lines (operand.cuh)
  long long x_column_stride, w_column_stride, bias_stride;  // read only where elements are gathered
  long long act_columns;                                    // the activation applies to columns [0, act_columns)
  long long out_first[4];                                   // n for those that are not there
  const float* out_descale;                                 // of results in FP8
  const void* residual;                                     // [m, n], or null
  long long residual_column_stride;                         // read only where elements are gathered
};
static_assert(sizeof(AddmmParams) == 224, "host and device disagree about AddmmParams");

}  // namespace hstu
