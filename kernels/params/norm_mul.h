// The argument struct of norm_mul_* kernels, shared by host and device: fixed-width members only, passed by value as
// the kernel's one parameter. Strides are in elements; "rows" of a jagged tensor are tokens.
#pragma once

namespace hstu {

// norm_mul_*: out = concat(u | attn | act(u) * norm(attn)), segments by Config
struct NormMulParams {
  const void* attn;    // [rows, dim]
  const void* u;       // [rows, dim]
  const void* weight;  // [dim], or [groups] under group norm
  const void* bias;    // like weight
  void* out;           // [rows, segments * dim]
  long long rows;
  long long attn_row_stride, u_row_stride, out_row_stride;
  float eps;
  int reserved;
};
static_assert(sizeof(NormMulParams) == 80, "host and device disagree about NormMulParams");

}  // namespace hstu
