// Parameters of norm_mul_*.
#pragma once
#include "norm/dropout.h"

namespace hstu {

struct NormMulParams {
  const void* attn;    // [rows, dim]
  const void* u;       // [rows, dim]
  const void* weight;  // [dim], or [groups] under group norm
  const void* bias;    // like weight; read only when Config::kHasBias
  void* out;           // [rows, segments * dim], like attn, or in FP8
  long long rows;
  long long attn_row_stride, u_row_stride, out_row_stride;
  DropoutRate dropout;  // read only with dropout
  float eps;
  int reserved;
  float* descale;  // of an out in FP8, written
  long long descale_row_stride, descale_column_stride;
};
static_assert(sizeof(NormMulParams) == 120, "host and device disagree about NormMulParams");

}  // namespace hstu
