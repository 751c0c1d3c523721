// Parameters of norm_mul_*.
#pragma once
#include "params/dropout.h"

namespace hstu {

struct NormMulParams {
  const void* attn;    // [rows, dim]
  const void* u;       // [rows, dim]
  const void* weight;  // [dim], or [groups] under group norm
  const void* bias;    // like weight; read only when Config::kHasBias
  void* out;           // [rows, segments * dim]
  long long rows;
  long long attn_row_stride, u_row_stride, out_row_stride;
  DropoutRate dropout;  // read only with dropout
  float eps;
  int reserved;
};
static_assert(sizeof(NormMulParams) == 96, "host and device disagree about NormMulParams");

}  // namespace hstu
