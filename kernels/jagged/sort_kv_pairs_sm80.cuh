// Pairs sorted by their keys, stable, sm80: jagged/runs/rank_sort.cuh.
//
// Config    Key; kValueBytes (1, 2, 4, 8); knobs of jagged/runs/rank_sort.cuh.
// Sources   meta-recsys/generative-recommenders, sort_kv_pairs (the operator).
#pragma once
#include "jagged/runs/rank_sort.cuh"
#include "tile/piece.cuh"

namespace hstu {

namespace sort_kv_pairs {

template <class Config>
struct Pairs {
  using Key = typename Config::Key;
  HSTU_PRIM static Key given(const RankSortParams& p, int index) { return static_cast<const Key*>(p.keys)[index]; }
  HSTU_PRIM static Key key(const RankSortParams& p, int index) {
    return (given(p, index) & static_cast<Key>(p.mask)) ^ static_cast<Key>(p.flip);
  }
  // Puts the pair at its place.
  HSTU_PRIM static void write(const RankSortParams& p, int index, int place) {
    static_cast<Key*>(p.out_keys)[place] = given(p, index);
    tile::Piece<Config::kValueBytes> value;
    value.load(static_cast<const char*>(p.values) + i64{index} * Config::kValueBytes);
    value.store(static_cast<char*>(p.out_values) + i64{place} * Config::kValueBytes);
  }
};

}  // namespace sort_kv_pairs

template <class Config>
constexpr int sort_kv_pairs_sm80_smem_bytes = tile::rank_sort_smem_bytes<Config>;

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    sort_kv_pairs_sm80(const __grid_constant__ RankSortParams p) {
  using Pairs = sort_kv_pairs::Pairs<Config>;
  extern __shared__ __align__(1024) unsigned char smem[];
  const int first = static_cast<int>(blockIdx.x) * tile::RankSort<Config>::kTile + static_cast<int>(threadIdx.x);
  int place[Config::kItems];
  tile::find_places<Config, Pairs>(p, smem, first, place);
#pragma unroll
  for (int i = 0; i < Config::kItems; ++i) {
    const int index = first + i * Config::kThreads;
    if (index >= p.count) break;
    Pairs::write(p, index, place[i]);
  }
}

}  // namespace hstu
