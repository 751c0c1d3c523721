// Many pairs sorted by their keys, stable, sm80: jagged/runs/sample_sort.cuh. Fewer: sort_kv_pairs_sm80.cuh.
//
// Config    Key; kValueBytes (1, 2, 4, 8); knobs of jagged/runs/sample_sort.cuh.
// Sources   meta-recsys/generative-recommenders, sort_kv_pairs (the operator).
#pragma once
#include "jagged/runs/sample_sort.cuh"
#include "jagged/sort_kv_pairs_sm80.cuh"

namespace hstu {

template <class Config>
constexpr int sort_kv_parts_sm80_smem_bytes = static_cast<int>(sizeof(tile::SampleSortStorage<Config>));

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    sort_kv_parts_sm80(const __grid_constant__ RankSortParams p) {
  extern __shared__ __align__(1024) unsigned char smem[];
  auto& storage = *reinterpret_cast<tile::SampleSortStorage<Config>*>(smem);
  tile::SampleSort<Config, sort_kv_pairs::Pairs<Config>>(p, storage).run();
}

}  // namespace hstu
