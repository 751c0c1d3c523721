// Tiles of the newest rows of a (sequence, head) against all of its keys: what a tile's roles must know of it, and
// their order. Rows are counted from the first new one, keys by their positions in the whole sequence; where a sequence
// has more new rows than keys the first of them stand before position 0 and see nothing.
#pragma once
#include "attn90/delta_keys.cuh"
#include "attn90/schedule.cuh"
#include "attn90/seen_blocks.cuh"

namespace hstu::attn90 {

template <class Config>
struct DeltaTile {
  using Seen = SeenBlocks<Config>;
  variant::HstuMask<Config> mask;
  DeltaPlan<Config> plan;
  Seen seen;
  DeltaKeys<Config> keys;
  i64 start;  // the sequence's first new row
  int seq;
  int head;
  int first_row;  // -1: there is no further tile
  int count;      // new rows of the sequence

  HSTU_PRIM auto rows() const { return keys.rows(start, count); }
  HSTU_PRIM int row_count() const { return count; }
  // Of the first row in the sequence.
  HSTU_PRIM int position() const { return mask.length - count + first_row; }
  // Whether the upper range is the tile's rows, each of which sees itself.
  HSTU_PRIM bool upper_is_own() const { return plan.tile.targets && position() >= 0; }
};

// A place of the order: the tiles of a pair are neighbours, for they share keys, and so are the heads of a sequence.
template <class Config>
struct DeltaPlace {
  enum : bool { kByWarp = false };
  using T = Shape<Config>;
  int seq, head;
  int first_row, step;  // of its tiles: one, and more if the grid foresaw fewer rows
  int count;
  i64 start;
  DeltaKeys<Config> keys;
  variant::HstuMask<Config> mask;

  HSTU_PRIM static u32 places(const AttnSplitParams& p) {
    return static_cast<u32>(p.batch * p.num_heads) * p.row_blocks;
  }
  HSTU_PRIM DeltaPlace(const AttnSplitParams& p, u32 index) {
    const u32 pair = index / p.row_blocks, level = index - pair * p.row_blocks;
    seq = pair / p.num_heads;
    head = pair - seq * p.num_heads;
    start = static_cast<i64>(seq) * p.delta;
    count = p.delta;
    if constexpr (Config::kJaggedQ) {
      const auto* offsets = static_cast<const typename Config::QOffset*>(p.q_offsets);
      start = offsets[seq];
      count = static_cast<int>(offsets[seq + 1] - start);
    }
    keys = DeltaKeys<Config>(p, seq, count);
    mask = variant::HstuMask<Config>(p, seq, keys.count);
    first_row = static_cast<int>(level) * T::kBlockM;
    step = p.row_blocks * T::kBlockM;
  }

  HSTU_PRIM bool has_row(int row) const { return row < count; }
  HSTU_PRIM bool exists() const { return has_row(first_row); }
  HSTU_PRIM DeltaPlan<Config> plan() const {
    const int first = mask.length - count + first_row, last = first + T::kBlockM;
    return DeltaPlan<Config>(mask, variant::max_int(first, 0), variant::min_int(last, mask.length), keys.layout());
  }
  HSTU_PRIM void describe(const DeltaPlan<Config>& plan, DeltaTile<Config>& tile) const {
    tile.mask = mask;
    tile.plan = plan;
    tile.keys = keys;
    tile.start = start;
    tile.seq = seq;
    tile.head = head;
    tile.first_row = first_row;
    tile.count = count;
    tile.seen.find(tile, mask.length - count + first_row, !Config::kBias);
  }
};

}  // namespace hstu::attn90
