// The numbers of the sequences, the longest first, stable, sm80: jagged/runs/rank_sort.cuh. Of many sequences:
// sort_by_length_parts_sm80.cuh.
//
// Config    Key (of offsets), Result; knobs of jagged/runs/rank_sort.cuh.
#pragma once
#include "jagged/runs/rank_sort.cuh"

namespace hstu {

namespace sort_by_length {

template <class Config>
struct Lengths {
  // The longest is the smallest.
  HSTU_PRIM static typename Config::Key key(const RankSortParams& p, int index) {
    const auto* offsets = static_cast<const typename Config::Key*>(p.keys);
    return offsets[index] - offsets[index + 1];
  }
  HSTU_PRIM static void write(const RankSortParams& p, int index, int place) {
    static_cast<typename Config::Result*>(p.out_values)[place] = index;
  }
};

}  // namespace sort_by_length

template <class Config>
constexpr int sort_by_length_sm80_smem_bytes = tile::rank_sort_smem_bytes<Config>;

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    sort_by_length_sm80(const __grid_constant__ RankSortParams p) {
  using Lengths = sort_by_length::Lengths<Config>;
  extern __shared__ __align__(1024) unsigned char smem[];
  const int first = static_cast<int>(blockIdx.x) * tile::RankSort<Config>::kTile + static_cast<int>(threadIdx.x);
  int place[Config::kItems];
  tile::find_places<Config, Lengths>(p, smem, first, place);
#pragma unroll
  for (int i = 0; i < Config::kItems; ++i) {
    const int index = first + i * Config::kThreads;
    if (index < p.count) Lengths::write(p, index, place[i]);
  }
}

}  // namespace hstu
