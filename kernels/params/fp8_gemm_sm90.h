// The argument struct of fp8_gemm_sm90 kernels, shared by host and device, passed by value as the kernel's one
// parameter.
#pragma once
#include "params/tensor_map.h"

namespace hstu {

// out = descaled a bT + bias
struct Fp8GemmTmaParams {
  TensorMap a, b;  // boxes of 128 bytes x the lines of tile/wgmma_operand.cuh
  TensorMap out;   // [m, n], boxes of 64 columns x 16 rows
  const float* a_descale;
  const float* b_descale;
  const void* bias;  // [n] or null
  long long m, n, k;
  long long a_descale_row_stride, a_descale_column_stride;  // per unit, tile/fp8_row.cuh
  long long b_descale_row_stride, b_descale_column_stride;
};
static_assert(sizeof(Fp8GemmTmaParams) == 512, "host and device disagree about Fp8GemmTmaParams");

}  // namespace hstu
