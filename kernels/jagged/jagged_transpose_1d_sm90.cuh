// Transposition of a matrix of jagged segments, sm_90: what jagged_transpose_1d_sm80 does, through shared memory. See
// jagged/runs/runs_ring.cuh.
//
// Config    facts and knobs of jagged/runs/runs_ring.cuh.
#pragma once
#include "jagged/jagged_transpose_1d_sm80.cuh"
#include "jagged/runs/runs_ring.cuh"

namespace hstu {

template <class Config>
constexpr int jagged_transpose_1d_sm90_smem_bytes = tile::runs_ring_smem_bytes<Config>;

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, 1)
    jagged_transpose_1d_sm90(const __grid_constant__ JaggedLengthsParams p) {
  extern __shared__ __align__(1024) unsigned char smem[];
  if (p.batch == 0 && threadIdx.x == 0 && p.out_offsets) static_cast<typename Config::Offset*>(p.out_offsets)[0] = 0;
  tile::RunsRing<Config, jagged_transpose_1d::Copy<Config>>(p, smem).run();
}

}  // namespace hstu
