// Group norm over the equal parts of a row, sm80: each part has statistics, one weight and one bias of its own. Design
// and Config: norm/rows/norm_rows.cuh. Source: Wu, He 2018, arXiv:1803.08494.
#pragma once
#include "norm/rows/norm_rows.cuh"

namespace hstu {

template <class Config>
constexpr int group_norm_smem_bytes = tile::norm_rows_smem_bytes<Config>;

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    group_norm_sm80(const __grid_constant__ RowNormParams p) {
  tile::norm_rows<Config>(p);
}

}  // namespace hstu
