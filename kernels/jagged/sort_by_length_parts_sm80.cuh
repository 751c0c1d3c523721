// The numbers of many sequences, the longest first, stable, sm80: jagged/runs/sample_sort.cuh. Fewer:
// sort_by_length_sm80.cuh.
//
// Config    Key (of offsets), Result; knobs of jagged/runs/sample_sort.cuh.
#pragma once
#include "jagged/runs/sample_sort.cuh"
#include "jagged/sort_by_length_sm80.cuh"

namespace hstu {

template <class Config>
constexpr int sort_by_length_parts_sm80_smem_bytes = static_cast<int>(sizeof(tile::SampleSortStorage<Config>));

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    sort_by_length_parts_sm80(const __grid_constant__ RankSortParams p) {
  extern __shared__ __align__(1024) unsigned char smem[];
  auto& storage = *reinterpret_cast<tile::SampleSortStorage<Config>*>(smem);
  tile::SampleSort<Config, sort_by_length::Lengths<Config>>(p, storage).run();
}

}  // namespace hstu
