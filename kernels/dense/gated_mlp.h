// The arguments of gated_mlp_*: out = (x gate) * (x up), one of the factors activated.
#pragma once

namespace hstu {

struct GatedMlpParams {
  const void* x;     // [m, k]
  const void* gate;  // [k, n]
  const void* up;    // [k, n]
  void* out;         // [m, n]
  long long m, n, k;
  long long x_row_stride, gate_row_stride, up_row_stride,
      out_row_stride;  // inputs: between lines (tile/operand.cuh)
  long long x_column_stride, gate_column_stride,
      up_column_stride;      // read only where elements are gathered
  const float* out_descale;  // of results in FP8
};
static_assert(sizeof(GatedMlpParams) == 120, "host and device disagree about GatedMlpParams");

}  // namespace hstu
