// Layer norm of rows of any length and alignment to FP8, sm80: the results of layer_norm_sm80, quantised. Design and
// Config: norm/rows/norm_spans.cuh. Source: Ba et al. 2016, arXiv:1607.06450.
#pragma once
#include "norm/rows/norm_spans.cuh"

namespace hstu {

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    layer_norm_fp8_sm80(const __grid_constant__ tile::NormParams<Config> p) {
  tile::norm_spans<Config, tile::NormRow<Config>>(p);
}

}  // namespace hstu
