// RMS norm over rows, sm80: y = x / sqrt(mean(x^2) + eps) * weight, through SiLU if Config::Output says so. Design and
// Config: norm/rows/norm_rows.cuh. Source: Zhang, Sennrich 2019, arXiv:1910.07467.
#pragma once
#include "norm/rows/norm_fp8_in_turn.cuh"

namespace hstu {

template <class Config>
constexpr int rms_norm_smem_bytes = tile::norm_rows_smem_bytes<Config>;

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    rms_norm_sm80(const __grid_constant__ RowNormParams p) {
  tile::norm_rows_or_in_turn<Config>(p);
}

}  // namespace hstu
