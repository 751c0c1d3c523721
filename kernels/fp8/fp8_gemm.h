// The arguments of fp8_gemm_sm80: out = act(descaled a bT + bias + residual).
#pragma once

namespace hstu {

struct Fp8GemmParams {
  const void* a;  // [m, k]
  const void* b;  // [n, k]
  const float* a_descale;
  const float* b_descale;
  const void* bias;  // [n], or null
  void* out[4];      // [m, n], or its columns from out_first on, with Config::kSplitColumns
  long long m, n, k;
  long long a_row_stride, b_row_stride, residual_row_stride, out_row_stride[4];
  const void* residual;                                     // [m, n], or null
  long long act_columns;                                    // the activation applies to columns [0, act_columns)
  long long out_first[4];                                   // n for those that are not there
  long long a_descale_row_stride, a_descale_column_stride;  // per unit, tile/fp8_row.cuh
  long long b_descale_row_stride, b_descale_column_stride;
  const float* out_descale;  // of results in FP8
};
static_assert(sizeof(Fp8GemmParams) == 240, "host and device disagree about Fp8GemmParams");

}  // namespace hstu
