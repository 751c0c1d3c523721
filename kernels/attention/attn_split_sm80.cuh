// Forward HSTU attention with the keys split among warps, and any mask: attention/sm80/attn_split.cuh over jagged
// tensors in which every row is query, key and value.
#pragma once
#include "attention/sm80/attn_split.cuh"

namespace hstu {

template <class Config>
__global__ void __launch_bounds__(AttnSplit<Config>::kThreads, Config::kMinBlocks)
    attn_split_sm80(const __grid_constant__ AttnSplitParams p) {
  attn_split_block<Config>(p);
}

}  // namespace hstu
