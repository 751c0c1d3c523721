// The argument struct of layer_norm_* kernels, shared by host and device: fixed-width members only, passed by value as
// the kernel's one parameter. Strides are in elements; "rows" of a jagged tensor are tokens.
#pragma once

namespace hstu {

// layer_norm_*: y = (x - mean) * rstd * weight + bias
struct LayerNormParams {
  const void* x;       // [rows, dim]
  const void* weight;  // [dim] or null
  const void* bias;    // [dim] or null
  void* y;             // [rows, dim]
  long long rows;
  long long x_row_stride, y_row_stride;
  float eps;
  int reserved;
};
static_assert(sizeof(LayerNormParams) == 64, "host and device disagree about LayerNormParams");

}  // namespace hstu
