// The argument struct of gated_fp8_gemm_sm90 kernels, shared by host and device, passed by value as the kernel's one
// parameter.
#pragma once
#include "tile/tensor_map.h"

namespace hstu {

// out = residual + [u | attn | g] wT, g = (norm of attn) u, the operands of the product in FP8.
struct GatedFp8GemmParams {
  TensorMap u, attn;       // [m, k], boxes of 64 columns x kBlockM rows
  TensorMap w;             // [n, 3 k] of FP8, boxes of 128 k x kBlockN rows
  TensorMap residual;      // [m, n], boxes of 64 columns x 128 rows; if there is one
  TensorMap out;           // [m, n], boxes of 64 columns x 16 rows
  const void* weight;      // of the norm, [k]
  const void* bias;        // likewise
  const float* moments;    // [m, parts, 2]: mean and sum of squared deviations of each part of a row of attn
  const float* w_descale;  // of each row of w
  long long w_descale_stride;
  long long m, n, k;  // k: of u, of attn
  float eps;
  int reserved;
};
static_assert(sizeof(GatedFp8GemmParams) == 768, "host and device disagree about GatedFp8GemmParams");

}  // namespace hstu
