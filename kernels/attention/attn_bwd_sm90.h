// The argument struct of attn_bwd_sm90, shared by host and device: that of the other kernels of the gradient, and the
// maps through which TMA reads rows and writes gradients.
#pragma once
#include "attention/attn_bwd.h"
#include "tile/tensor_map.h"

namespace hstu {

struct AttnBwdSm90Params {
  TensorMap q, k, v, dout;  // boxes of 64 columns and kBlockN rows; tile/jagged_map.cuh says how rows are found
  TensorMap dq, dk, dv;     // boxes of 64 columns and 16 rows; of gradients that are not wanted nothing
  AttnBwdParams bwd;
};
static_assert(sizeof(AttnBwdSm90Params) == 1536, "host and device disagree about AttnBwdSm90Params");

}  // namespace hstu
