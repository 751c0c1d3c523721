// The argument struct of gated_addmm_sm90 kernels, shared by host and device, passed by value as the kernel's one
// parameter.
#pragma once
#include "tile/tensor_map.h"

namespace hstu {

// out = residual + [u | attn | g] w, g = (norm of attn) u.
struct GatedAddmmParams {
  TensorMap u, attn;     // [m, k], boxes of 128 bytes x kBlockM rows
  TensorMap w;           // [3 k, n], boxes of 3 dimensions, GatedAddmmShape::load_w
  TensorMap residual;    // [m, n], boxes of 128 bytes x 128 rows; if there is one
  TensorMap out;         // [m, n], boxes of 128 bytes x 16 rows
  const void* weight;    // of the norm, [k]
  const void* bias;      // likewise
  const float* moments;  // [m, parts, 2]: mean and sum of squared deviations of each part of a row of attn
  long long m, n, k;     // k: of u, of attn
  float eps;
  int reserved;
};
static_assert(sizeof(GatedAddmmParams) == 768, "host and device disagree about GatedAddmmParams");

}  // namespace hstu
