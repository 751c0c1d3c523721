// Forward HSTU attention of each sequence's newest rows against keys and values in the pages of a cache:
// attention/sm80/attn_split.cuh.
#pragma once
#include "attention/sm80/attn_split.cuh"

namespace hstu {

template <class Config>
__global__ void __launch_bounds__(AttnSplit<Config>::kThreads, Config::kMinBlocks)
    attn_paged_sm80(const __grid_constant__ AttnSplitParams p) {
  attn_split_block<Config>(p);
}

}  // namespace hstu
