// Prefix sums from 0, sm80: out[0] = 0, out[i + 1] = values[0] + ... + values[i]. One launch without a workspace: each
// block adds up what lies before its own part by itself, which costs less than a second launch for batch-sized vectors.
// Longer ones: cumsum_tiles_sm80.cuh.
//
// Config    facts: Value, Result (element types), Sum (i64 or double).
//           knobs: kThreads, kItems (elements a thread).
#pragma once
#include "jagged/jagged_lengths.h"
#include "jagged/runs/block_scan.cuh"

namespace hstu {

namespace complete_cumsum {

// The sum of the first `count` values, in all threads.
template <class Config>
HSTU_PRIM typename Config::Sum sum_of_first(const typename Config::Value* values, i64 count,
                                            typename Config::Sum* warp_sums) {
  using Sum = typename Config::Sum;
  Sum sum = 0, total = 0;
#pragma unroll 8
  for (i64 i = threadIdx.x; i < count; i += Config::kThreads) sum += static_cast<Sum>(values[i]);
  tile::sum_before<Config::kThreads>(sum, total, warp_sums);
  return total;
}

}  // namespace complete_cumsum

template <class Config>
constexpr int complete_cumsum_sm80_smem_bytes = Config::kThreads / 32 * static_cast<int>(sizeof(typename Config::Sum));

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    complete_cumsum_sm80(const __grid_constant__ CumsumParams p) {
  using Sum = typename Config::Sum;
  using Result = typename Config::Result;
  constexpr int kItems = Config::kItems;
  extern __shared__ __align__(1024) unsigned char smem[];
  Sum* warp_sums = reinterpret_cast<Sum*>(smem);
  const auto* values = static_cast<const typename Config::Value*>(p.values);
  Result* out = static_cast<Result*>(p.out);
  const i64 begin = static_cast<i64>(blockIdx.x) * (Config::kThreads * kItems), first = begin + threadIdx.x * kItems;
  Sum value[kItems], sum = 0, total = 0;
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    value[i] = first + i < p.count ? static_cast<Sum>(values[first + i]) : Sum{0};
    sum += value[i];
  }
  const Sum base = complete_cumsum::sum_of_first<Config>(values, begin, warp_sums);
  Sum running = base + tile::sum_before<Config::kThreads>(sum, total, warp_sums);
  if (blockIdx.x == 0 && threadIdx.x == 0) out[0] = Result{0};
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    running += value[i];
    if (first + i < p.count) out[first + i + 1] = static_cast<Result>(running);
  }
}

}  // namespace hstu
