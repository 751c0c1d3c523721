// Forward attention in f32 over jagged or dense tensors, under softmax: attention/f32/attn_f32.cuh.
#pragma once
#include "attention/f32/attn_f32.cuh"
#include "attention/variant/sequences.cuh"

namespace hstu {

template <class Config>
__global__ void __launch_bounds__(AttnF32Shape<Config>::kThreads, Config::kMinBlocks)
    flash_attn_f32_sm80(const __grid_constant__ AttnFwdParams p) {
  attn_f32_block<Config>(p);
}

}  // namespace hstu
