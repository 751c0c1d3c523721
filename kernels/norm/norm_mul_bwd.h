// Parameters of norm_mul_bwd_sm80.
#pragma once
#include "norm/dropout.h"
#include "norm/layer_norm_bwd.h"

namespace hstu {

// x is attn and dx its gradient; dout has all segments. moments are [rows, kParts, 2], read only when Config::kParts.
// Of groups, weight, bias and their gradients are [kGroups].
struct NormMulBwdParams : LayerNormBwdParams {
  const void* bias;  // read only when Config::kHasBias
  const void* u;     // [rows, kGroups * kDim]
  void* du;
  void* out;  // like dout; written only when Config::kHasOut
  long long u_row_stride, du_row_stride, out_row_stride;
  DropoutRate dropout;  // read only with dropout
};
static_assert(sizeof(NormMulBwdParams) == 224, "host and device disagree about NormMulBwdParams");

}  // namespace hstu
