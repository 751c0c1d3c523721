// Prefix sums over the threads of a block.
#pragma once
#include "prim/lanes.cuh"

namespace hstu::tile {

// Adds the values of all lanes in front.
template <class T>
HSTU_PRIM void add_before(T& value, u32 lane) {
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const T below = __shfl_up_sync(prim::kFullWarp, value, step);
    if (lane >= static_cast<u32>(step)) value += below;
  }
}

// The same for several values of a lane, each with its like.
template <class T, int kCount>
HSTU_PRIM void add_before(T (&values)[kCount], u32 lane) {
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
#pragma unroll
    for (T& value : values) {
      const T below = __shfl_up_sync(prim::kFullWarp, value, step);
      if (lane >= static_cast<u32>(step)) value += below;
    }
  }
}

// The sum of the values of all threads before this one; total: of all of them. Ends in a barrier, after which
// warp_sums, one per warp, may be reused.
template <int kThreads, class T>
HSTU_PRIM T sum_before(T value, T& total, T* warp_sums) {
  const u32 lane = prim::lane_id(), warp = threadIdx.x / 32;
  T inclusive = value;
  add_before(inclusive, lane);
  if (lane == 31) warp_sums[warp] = inclusive;
  __syncthreads();
  T before = 0;
  total = 0;
#pragma unroll
  for (int w = 0; w < kThreads / 32; ++w) {
    if (w < static_cast<int>(warp)) before += warp_sums[w];
    total += warp_sums[w];
  }
  __syncthreads();
  return before + inclusive - value;
}

}  // namespace hstu::tile
