// The argument struct of addmm_split_sm90 kernels, shared by host and device, passed by value as the kernel's one
// parameter.
#pragma once
#include "tile/tensor_map.h"

namespace hstu {

// z = act(x w + y)
struct AddmmSplitParams {
  TensorMap x, w;  // boxes of 128 bytes x the lines of tile/wgmma_operand.cuh
  const void* y;   // a bias row [n], a residual [m, n], or null
  void* z;
  long long y_row_stride, y_column_stride, z_row_stride;  // in elements
  long long m, n, k;
  long long act_columns;  // the activation applies to columns [0, act_columns)
};
static_assert(sizeof(AddmmSplitParams) == 384, "host and device disagree about AddmmSplitParams");

}  // namespace hstu
