// The argument struct of addmm_split_sm90 kernels, shared by host and device, passed by value as the kernel's one
// parameter.
#pragma once
#include "tile/tensor_map.h"

namespace hstu {

// out = act(x w + bias + residual)
struct AddmmSplitParams {
  TensorMap x, w;    // boxes of 128 bytes x the lines of tile/wgmma_operand.cuh
  const void* bias;  // [n], or null
  void* out;
  long long residual_row_stride, bias_stride, out_row_stride;  // in elements
  long long m, n, k;
  long long act_columns;  // the activation applies to columns [0, act_columns)
  const void* residual;   // [m, n], or null
  long long residual_column_stride;
};
static_assert(sizeof(AddmmSplitParams) == 384, "host and device disagree about AddmmSplitParams");

}  // namespace hstu
