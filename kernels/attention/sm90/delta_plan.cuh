// Which key blocks a block of threads visits for a tile of the newest rows of a (sequence, head): all of the tile's
// plan, or its share, where a cluster of Config::kSplit blocks takes them round-robin.
#pragma once
#include "attention/mask/hstu_mask.cuh"
#include "attention/mask/row_tiles.cuh"
#include "prim/cluster.cuh"

namespace hstu::attn90 {

// The key blocks of one block of threads, those of number rank, rank + kSplit, ... of the tile's plan. TilePlan:
// variant::RowTilePlan or, of a mask given as data, variant::IntervalRuns.
template <class Config, class TilePlan>
struct DeltaPlan {
  TilePlan tile;
  int rank;
  int blocks;

  DeltaPlan() = default;
  // Positions [first, last), maybe none. Keys: how they lie (attention/mask/row_tiles.cuh).
  template <class Keys>
  HSTU_PRIM DeltaPlan(const variant::HstuMask<Config>& mask, int first, int last, const Keys& keys)
      : tile(), rank(Config::kSplit > 1 ? prim::cluster_rank() : 0), blocks(0) {
    if (first >= last) return;
    tile = TilePlan(mask, first, last, keys);
    blocks = own(tile.blocks);
  }
  // Of a mask given as data: by what its intervals hold.
  template <class Extremes>
  HSTU_PRIM void make(const Extremes& extremes) {
    tile.make(extremes);
    rank = Config::kSplit > 1 ? prim::cluster_rank() : 0;
    blocks = own(tile.blocks);
  }

  HSTU_PRIM int key_begin(int i) const { return tile.key_begin(number(i)); }
  // Where the keys of a sequence of `length` end for block i.
  HSTU_PRIM int keys_end(int i, int length) const { return tile.keys_end(number(i), length); }
  HSTU_PRIM int end_of(int i) const { return tile.end_of(number(i)); }
  HSTU_PRIM bool is_upper(int i) const {
    if constexpr (Config::kHasTargets) return number(i) < tile.upper_blocks;
    return false;
  }
  HSTU_PRIM variant::BlockRange upper(const variant::RowsView<Config>& rows) const { return own(tile.upper(rows)); }
  HSTU_PRIM variant::BlockRange lower(const variant::RowsView<Config>& rows, bool zero_is_nothing) const {
    return own(tile.lower(rows, zero_is_nothing));
  }
  template <class Extremes>
  HSTU_PRIM variant::BlockRange seen_of(int run, const Extremes& extremes) const {
    return own(tile.seen_of(run, extremes));
  }

 private:
  HSTU_PRIM int number(int i) const { return Config::kSplit > 1 ? rank + i * Config::kSplit : i; }
  // How many of the first `count` of the tile's blocks.
  HSTU_PRIM int own(int count) const {
    return Config::kSplit > 1 ? (count - rank + Config::kSplit - 1) / Config::kSplit : count;
  }
  HSTU_PRIM variant::BlockRange own(const variant::BlockRange& tiles) const {
    return {own(tiles.begin), own(tiles.full_begin), own(tiles.full_end), own(tiles.end)};
  }
};

}  // namespace hstu::attn90
