// The argument struct of addmm_sm90 kernels, shared by host and device, passed by value as the kernel's one parameter.
#pragma once
#include "tile/tensor_map.h"

namespace hstu {

// out = act(x w + bias + residual); kOutputs: tensors that out is made of, 1 or up to 4.
template <int kOutputs>
struct AddmmTmaParams {
  TensorMap x, w;           // boxes of 128 bytes x the lines of tile/wgmma_operand.cuh
  TensorMap residual;       // [m, n], boxes of 64 columns x 16 rows; if there is one
  TensorMap out[kOutputs];  // likewise; each with the columns from its out_first on
  const void* bias;         // [n], or null
  long long bias_stride;    // in elements
  long long m, n, k;
  long long act_columns;  // the activation applies to columns [0, act_columns)
  int out_first[4];  // read only with kOutputs 4; behind every column for those that are not there: boxes of a tile
                     // that hangs over are clipped by the last that is
  const float* out_descale;  // of results in FP8
};
static_assert(sizeof(AddmmTmaParams<1>) == 640, "host and device disagree about AddmmTmaParams<1>");
static_assert(sizeof(AddmmTmaParams<4>) == 1024, "host and device disagree about AddmmTmaParams<4>");

}  // namespace hstu
