// Sorting by rank: an element's place is the number of keys that go before it, smaller ones and equal ones in front of
// it. No workspace and no order among blocks; as many comparisons as there are pairs.
//
//   all keys, tile by tile ──► smem ──► compared with kItems own keys a thread, in registers ──► places
//
// Work      A block owns kThreads * kItems elements; a tile is as many. Tiles in front of the block's own count their
//           equal keys, those behind do not, and its own looks at positions.
// Barriers  two __syncthreads a tile: filled, read.
// Config    Key (i32, i64). knobs: kThreads, kItems.
#pragma once
#include "jagged/rank_sort.h"
#include "prim/types.cuh"

namespace hstu::tile {

template <class Config>
struct RankSort {
  using Key = typename Config::Key;
  enum : int { kThreads = Config::kThreads, kItems = Config::kItems, kTile = kThreads * kItems };
};
template <class Config>
constexpr int rank_sort_smem_bytes = static_cast<int>(sizeof(typename Config::Key)) * RankSort<Config>::kTile;

// Adds how many of the tile's first `count` keys go before the own ones: smaller, or with kEqual equal.
template <class Config, bool kEqual>
HSTU_PRIM void count_before(const typename Config::Key* keys, int count,
                            const typename Config::Key (&own)[Config::kItems], int (&place)[Config::kItems]) {
#pragma unroll 8
  for (int j = 0; j < count; ++j) {
    const typename Config::Key key = keys[j];
#pragma unroll
    for (int i = 0; i < Config::kItems; ++i) place[i] += kEqual ? !(own[i] < key) : key < own[i];
  }
}

// Source: key(p, index), as it is compared. Place number i is that of element first + i * kThreads; that of elements
// past the last is of no meaning.
template <class Config, class Source>
HSTU_PRIM void find_places(const RankSortParams& p, unsigned char* smem, int first, int (&place)[Config::kItems]) {
  using Shape = RankSort<Config>;
  using Key = typename Config::Key;
  Key* keys = reinterpret_cast<Key*>(smem);
  const int own_tile = blockIdx.x;
  Key own[Config::kItems];
#pragma unroll
  for (int i = 0; i < Config::kItems; ++i) {
    const int index = first + i * Config::kThreads;
    own[i] = index < p.count ? Source::key(p, index) : Key{0};
    place[i] = 0;
  }
  for (int tile = 0, begin = 0; begin < p.count; ++tile, begin += Shape::kTile) {
    const int count = min(Shape::kTile, p.count - begin);
    for (int j = threadIdx.x; j < count; j += Config::kThreads) keys[j] = Source::key(p, begin + j);
    __syncthreads();
    if (tile < own_tile) {
      count_before<Config, true>(keys, count, own, place);
    } else if (tile > own_tile) {
      count_before<Config, false>(keys, count, own, place);
    } else {
      for (int j = 0; j < count; ++j) {
#pragma unroll
        for (int i = 0; i < Config::kItems; ++i)
          place[i] += keys[j] < own[i] || (keys[j] == own[i] && begin + j < first + i * Config::kThreads);
      }
    }
    if (p.count - begin <= Shape::kTile) break;
    __syncthreads();
  }
}

}  // namespace hstu::tile
