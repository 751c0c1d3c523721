// Splitting of a jagged vector, sm_90: what split_1d_jagged_sm80 does, through shared memory. See
// jagged/runs/runs_ring.cuh.
//
// Config    facts and knobs of jagged/runs/runs_ring.cuh.
#pragma once
#include "jagged/runs/runs_ring.cuh"
#include "jagged/split_1d_jagged_sm80.cuh"

namespace hstu {

template <class Config>
constexpr int split_1d_jagged_sm90_smem_bytes = tile::runs_ring_smem_bytes<Config>;

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, 1)
    split_1d_jagged_sm90(const __grid_constant__ JaggedLengthsParams p) {
  extern __shared__ __align__(1024) unsigned char smem[];
  tile::RunsRing<Config, split_1d_jagged::Copy<Config>>(p, smem).run();
}

}  // namespace hstu
