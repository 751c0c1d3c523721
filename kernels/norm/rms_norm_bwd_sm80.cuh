// Gradient of RMS norm, or of SiLU of it, sm80. Design and Config: norm/rows/norm_gradient.cuh.
#pragma once
#include "norm/rows/norm_gradient.cuh"

namespace hstu {

template <class Config>
constexpr int rms_norm_bwd_smem_bytes = tile::NormGradient<Config>::kSmemBytes;

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kBlocksPerSm)
    rms_norm_bwd_sm80(const __grid_constant__ RowNormBwdParams p) {
  tile::norm_gradient<Config>(p);
}

}  // namespace hstu
