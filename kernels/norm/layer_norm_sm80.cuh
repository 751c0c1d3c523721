// Layer norm over rows, sm80: y = (x - mean) * rstd * weight + bias. Design, Config and sources:
// norm/rows/norm_rows.cuh.
#pragma once
#include "norm/rows/norm_fp8_in_turn.cuh"

namespace hstu {

// Compiled for sm_80, the registers of more blocks do not suffice by a few bytes.
#if __CUDA_ARCH__ >= 900
template <class Config>
constexpr int layer_norm_min_blocks = Config::kMinBlocks;
#else
template <class Config>
constexpr int layer_norm_min_blocks = 1;
#endif

template <class Config>
constexpr int layer_norm_smem_bytes = tile::norm_rows_smem_bytes<Config>;

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, layer_norm_min_blocks<Config>)
    layer_norm_sm80(const __grid_constant__ tile::NormParams<Config> p) {
  tile::norm_rows_or_in_turn<Config>(p);
}

}  // namespace hstu
