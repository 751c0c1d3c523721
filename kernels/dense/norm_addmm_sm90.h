// The argument struct of norm_addmm_sm90 kernels, shared by host and device, passed by value as the kernel's one
// parameter.
#pragma once
#include "tile/tensor_map.h"

namespace hstu {

// out = act(layer_norm(x) w + bias); kOutputs: tensors that out is made of, 1 or up to 4.
template <int kOutputs>
struct NormAddmmParams {
  TensorMap x;              // [m, k], boxes of 128 bytes x 64 rows
  TensorMap w;              // [k, n], boxes of 128 bytes x the lines of tile/wgmma_operand.cuh
  TensorMap out[kOutputs];  // boxes of 64 columns x 16 rows; each with the columns from its out_first on
  const void* norm_weight;  // [k]
  const void* norm_bias;    // [k]
  const void* bias;         // [n], or null
  long long bias_stride;    // in elements
  long long m, n, k;
  long long act_columns;  // the activation applies to columns [0, act_columns)
  int out_first[4];  // read only with kOutputs 4; behind every column for those that are not there: boxes of a tile
                     // that hangs over are clipped by the last that is
  float eps;
  int reserved;
};

}  // namespace hstu
