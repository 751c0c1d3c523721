// Forward attention in f32 over jagged keys and values, of which the queries are the newest rows:
// attention/f32/attn_f32.cuh.
#pragma once
#include "attention/f32/attn_f32.cuh"
#include "attention/variant/cached_sequences.cuh"

namespace hstu {

template <class Config>
__global__ void __launch_bounds__(AttnF32Shape<Config>::kThreads, Config::kMinBlocks)
    attn_delta_f32_sm80(const __grid_constant__ AttnSplitParams p) {
  attn_f32_block<Config>(p);
}

}  // namespace hstu
