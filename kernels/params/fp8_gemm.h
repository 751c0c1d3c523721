// The arguments of fp8_gemm_*: out = descaled a bT + bias.
#pragma once

namespace hstu {

struct Fp8GemmParams {
  const void* a;  // [m, k]
  const void* b;  // [n, k]
  const float* a_descale;
  const float* b_descale;
  const void* bias;  // [n] or null
  void* out;         // [m, n]
  long long m, n, k;
  long long a_row_stride, b_row_stride, out_row_stride;
  long long a_descale_row_stride,
      a_descale_column_stride;  // per unit, tile/fp8_row.cuh
  long long b_descale_row_stride, b_descale_column_stride;
};
static_assert(sizeof(Fp8GemmParams) == 128, "host and device disagree about Fp8GemmParams");

}  // namespace hstu
