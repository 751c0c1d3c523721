// The argument struct of fp8_gemm_sm90 kernels, shared by host and device, passed by value as the kernel's one
// parameter.
#pragma once
#include "tile/tensor_map.h"

namespace hstu {

// out = act(descaled a bT + bias + residual); kOutputs: tensors that out is made of, 1 or up to 4.
template <int kOutputs>
struct Fp8GemmTmaParams {
  TensorMap a, b;           // boxes of 128 bytes x the lines of tile/wgmma_operand.cuh
  TensorMap residual;       // [m, n], boxes of 64 columns x 16 rows; if there is one
  TensorMap out[kOutputs];  // likewise; each with the columns from its out_first on
  const float* a_descale;
  const float* b_descale;
  const void* bias;  // [n], or null
  long long m, n, k;
  long long act_columns;                                    // the activation applies to columns [0, act_columns)
  long long a_descale_row_stride, a_descale_column_stride;  // per unit, tile/fp8_row.cuh
  long long b_descale_row_stride, b_descale_column_stride;
  int out_first[4];          // as in dense/addmm_sm90.h
  const float* out_descale;  // of results in FP8
};
static_assert(sizeof(Fp8GemmTmaParams<1>) == 640, "host and device disagree about Fp8GemmTmaParams<1>");
static_assert(sizeof(Fp8GemmTmaParams<4>) == 1024, "host and device disagree about Fp8GemmTmaParams<4>");

}  // namespace hstu
