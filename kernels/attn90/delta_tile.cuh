// Tiles of the newest rows of a (sequence, head) against all of its keys: what a tile's roles must know of it, and
// their order. Rows are counted from the first new one, keys by their positions in the whole sequence; where a sequence
// has more new rows than keys the first of them stand before position 0 and see nothing.
//
// Config::kSplit blocks of threads, a cluster, share the key blocks of a tile: they take them in turns.
#pragma once
#include "attn90/schedule.cuh"
#include "params/attn_split.h"
#include "prim/cluster.cuh"
#include "tile/jagged_map.cuh"
#include "variant/hstu_mask.cuh"
#include "variant/row_tiles.cuh"

namespace hstu::attn90 {

// The key blocks of one block of threads, those of number rank, rank + kSplit, ... of the tile's plan.
template <class Config>
struct DeltaPlan {
  variant::RowTilePlan<Config> tile;
  int rank;
  int blocks;

  DeltaPlan() = default;
  // Positions [first, last), maybe none.
  HSTU_PRIM DeltaPlan(const variant::HstuMask<Config>& mask, int first, int last)
      : tile(), rank(Config::kSplit > 1 ? prim::cluster_rank() : 0), blocks(0) {
    if (first >= last) return;
    tile = variant::RowTilePlan<Config>(mask, first, last);
    blocks = own(tile.blocks);
  }

  HSTU_PRIM int key_begin(int i) const { return tile.key_begin(number(i)); }
  // Where the keys of a sequence of `length` end for block i.
  HSTU_PRIM int keys_end(int i, int length) const {
    return Config::kHasTargets && number(i) >= tile.partial ? tile.full_end : length;
  }
  HSTU_PRIM int masked_blocks(const variant::RowsView<Config>& rows) const { return own(tile.masked_blocks(rows)); }

 private:
  HSTU_PRIM int number(int i) const { return Config::kSplit > 1 ? rank + i * Config::kSplit : i; }
  // How many of the first `count` of the tile's blocks.
  HSTU_PRIM int own(int count) const {
    return Config::kSplit > 1 ? (count - rank + Config::kSplit - 1) / Config::kSplit : count;
  }
};

// Where rows and keys lie.
struct DeltaRows {
  i64 start, key_start;
  int count, length;

  HSTU_PRIM tile::JaggedBox queries() const { return tile::JaggedBox(start, count); }
  template <class Config>
  HSTU_PRIM tile::JaggedBox keys(const DeltaPlan<Config>& plan, int block) const {
    return tile::JaggedBox(key_start, plan.keys_end(block, length));
  }
};

template <class Config>
struct DeltaTile {
  variant::HstuMask<Config> mask;
  DeltaPlan<Config> plan;
  i64 start, key_start;  // the sequence's first new row, the row of its position 0
  int head;
  int first_row;  // -1: there is no further tile
  int count;      // new rows of the sequence

  HSTU_PRIM DeltaRows rows() const { return {start, key_start, count, mask.length}; }
  HSTU_PRIM int row_count() const { return count; }
  // Of the first row in the sequence.
  HSTU_PRIM int position() const { return mask.length - count + first_row; }
  // Whether the upper range is the tile's rows, each of which sees itself.
  HSTU_PRIM bool upper_is_own() const { return plan.tile.targets && position() >= 0; }
  // What 64 rows of the tile, from `row` of it on, see.
  HSTU_PRIM variant::RowsView<Config> view(int row) const {
    const int first = position() + row;
    return variant::RowsView<Config>(mask, variant::max_int(first, 0), variant::min_int(first + 64, mask.length));
  }
};

// A place of the order: the tiles of a pair are neighbours, for they share keys, and so are the heads of a sequence.
template <class Config>
struct DeltaPlace {
  using T = Shape<Config>;
  int head;
  int first_row, step;  // of its tiles: one, and more if the grid foresaw fewer rows
  int count;
  i64 start, key_start;
  variant::HstuMask<Config> mask;

  HSTU_PRIM static u32 places(const AttnSplitParams& p) {
    return static_cast<u32>(p.batch * p.num_heads) * p.row_blocks;
  }
  HSTU_PRIM DeltaPlace(const AttnSplitParams& p, u32 index) {
    const u32 pair = index / p.row_blocks, level = index - pair * p.row_blocks;
    const u32 seq = pair / p.num_heads;
    head = pair - seq * p.num_heads;
    start = static_cast<i64>(seq) * p.delta;
    count = p.delta;
    if constexpr (Config::kJaggedQ) {
      const auto* offsets = static_cast<const typename Config::QOffset*>(p.q_offsets);
      start = offsets[seq];
      count = static_cast<int>(offsets[seq + 1] - start);
    }
    const auto* offsets = static_cast<const typename Config::Offset*>(p.seq_offsets);
    key_start = offsets[seq];
    mask = variant::HstuMask<Config>(p, seq, static_cast<int>(offsets[seq + 1] - key_start));
    first_row = static_cast<int>(level) * T::kBlockM;
    step = p.row_blocks * T::kBlockM;
  }

  HSTU_PRIM bool exists() const { return first_row < count; }
  HSTU_PRIM DeltaPlan<Config> plan() const {
    const int first = mask.length - count + first_row, last = first + T::kBlockM;
    return DeltaPlan<Config>(mask, variant::max_int(first, 0), variant::min_int(last, mask.length));
  }
  HSTU_PRIM void describe(const DeltaPlan<Config>& plan, DeltaTile<Config>& tile) const {
    tile.mask = mask;
    tile.plan = plan;
    tile.start = start;
    tile.key_start = key_start;
    tile.head = head;
    tile.first_row = first_row;
    tile.count = count;
  }
};

}  // namespace hstu::attn90
