// Swish layer norm over rows, sm80: y = x * sigmoid(layer_norm(x)). Design and Config: tile/norm_rows.cuh.
#pragma once
#include "tile/norm_rows.cuh"

namespace hstu {

template <class Config>
constexpr int swish_layer_norm_smem_bytes = tile::norm_rows_smem_bytes<Config>;

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    swish_layer_norm_sm80(const __grid_constant__ RowNormParams p) {
  tile::norm_rows<Config>(p);
}

}  // namespace hstu
