// Forward HSTU attention of each sequence's newest rows against keys and values in the pages of a cache, for sm_90a:
// attention/sm90/delta_block.cuh, whose banner says what runs, and the file behind each line.
#pragma once
#include "attention/attn_paged_sm90.h"
#include "attention/sm90/delta_block.cuh"

namespace hstu {

template <class Config>
constexpr int attn_paged_sm90_smem_bytes = attn90::smem_bytes<Config>;

template <class Config>
__global__ void __launch_bounds__(attn90::Shape<Config>::kThreads, Config::kBlocks)
    attn_paged_sm90(const __grid_constant__ AttnPagedSm90Params p) {
  attn90::delta_block<Config>(p);
}

}  // namespace hstu
