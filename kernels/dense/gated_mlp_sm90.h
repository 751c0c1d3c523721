// The argument struct of gated_mlp_sm90 kernels, shared by host and device, passed by value as the kernel's one
// parameter.
#pragma once
#include "tile/tensor_map.h"

namespace hstu {

// out = (x gate) * (x up), one of the factors activated
struct GatedMlpTmaParams {
  TensorMap x, gate, up;  // boxes of 128 bytes x the lines of tile/wgmma_operand.cuh
  TensorMap out;          // [m, n], boxes of 64 columns x 16 rows
  long long m, n, k;
  const float* out_descale;  // of results in FP8
};
static_assert(sizeof(GatedMlpTmaParams) == 640, "host and device disagree about GatedMlpTmaParams");

}  // namespace hstu
