// Forward softmax attention with the instructions of sm_80: the kernel of attn_fwd_sm80.cuh under the entry of its own
// family, with Config::kSilu false and, for dense tensors, variant::DenseSequences.
#pragma once
#include "attention/attn_fwd_sm80.cuh"

namespace hstu {

template <class Config>
__global__ void __launch_bounds__(AttnFwdSm80<Config>::kThreads, Config::kMinBlocks)
    flash_attn_sm80(const __grid_constant__ AttnFwdParams p) {
  attn_fwd_sm80_detail::run<Config>(p);
}

}  // namespace hstu
