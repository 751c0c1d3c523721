// The argument struct of addmm_sm90 kernels, shared by host and device, passed by value as the kernel's one parameter.
#pragma once
#include "params/tensor_map.h"

namespace hstu {

// z = act(x w + y)
struct AddmmTmaParams {
  TensorMap x, w;         // boxes of 128 bytes x the lines of tile/wgmma_operand.cuh
  TensorMap y, z;         // [m, n], boxes of 64 columns x 16 rows; y: of a residual only
  const void* bias;       // [n], or null
  long long bias_stride;  // in elements
  long long m, n, k;
  long long act_columns;  // the activation applies to columns [0, act_columns)
};
static_assert(sizeof(AddmmTmaParams) == 640, "host and device disagree about AddmmTmaParams");

}  // namespace hstu
