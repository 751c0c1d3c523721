// Concatenation of two jagged vectors, sm_90: what concat_1d_jagged_sm80 does, through shared memory. See
// jagged/runs/runs_ring.cuh.
//
// Config    facts and knobs of jagged/runs/runs_ring.cuh.
#pragma once
#include "jagged/concat_1d_jagged_sm80.cuh"
#include "jagged/runs/runs_ring.cuh"

namespace hstu {

template <class Config>
constexpr int concat_1d_jagged_sm90_smem_bytes = tile::runs_ring_smem_bytes<Config>;

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, 1)
    concat_1d_jagged_sm90(const __grid_constant__ JaggedLengthsParams p) {
  extern __shared__ __align__(1024) unsigned char smem[];
  tile::RunsRing<Config, concat_1d_jagged::Copy<Config>>(p, smem).run();
}

}  // namespace hstu
