// Swish layer norm over rows, sm80: y = x * sigmoid(layer_norm(x)). Design and Config: norm/rows/norm_rows.cuh, or
// where kInTurn says so norm/rows/norm_in_turn.cuh.
#pragma once
#include "norm/rows/norm_in_turn.cuh"

namespace hstu {

// Compiled for sm_80, the registers of more blocks do not suffice by a few bytes.
#if __CUDA_ARCH__ >= 900
template <class Config>
constexpr int swish_layer_norm_min_blocks = Config::kMinBlocks;
#else
template <class Config>
constexpr int swish_layer_norm_min_blocks = 1;
#endif

template <class Config>
constexpr int swish_layer_norm_smem_bytes = tile::norm_rows_smem_bytes<Config>;

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, swish_layer_norm_min_blocks<Config>)
    swish_layer_norm_sm80(const __grid_constant__ RowNormParams p) {
  if constexpr (Config::kInTurn)
    tile::norm_rows_in_turn<Config>(p);
  else
    tile::norm_rows<Config>(p);
}

}  // namespace hstu
