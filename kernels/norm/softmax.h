// Parameters of softmax_*.
#pragma once

namespace hstu {

struct SoftmaxParams {
  const void* x;  // [rows, dim]
  void* y;        // [rows, dim]
  long long rows;
  long long x_row_stride, y_row_stride;
};
static_assert(sizeof(SoftmaxParams) == 40, "host and device disagree about SoftmaxParams");

}  // namespace hstu
