// Parameters of rms_norm_bwd_sm80 and swish_layer_norm_bwd_sm80.
#pragma once
#include "norm/layer_norm_bwd.h"

namespace hstu {

struct RowNormBwdParams : LayerNormBwdParams {
  const void* bias;  // [kDim]; read only when Config::kHasBias
};
static_assert(sizeof(RowNormBwdParams) == 160, "host and device disagree about RowNormBwdParams");

}  // namespace hstu
