// Tiles of query rows of a (sequence, head) of HSTU attention: what a tile's roles must know of it, and their order.
#pragma once
#include "attention/attn_fwd.h"
#include "attention/mask/hstu_mask.cuh"
#include "attention/mask/row_tiles.cuh"
#include "attention/sm90/schedule.cuh"
#include "attention/sm90/seen_blocks.cuh"
#include "tile/jagged_map.cuh"

namespace hstu::attn90 {

// Whether a head is under softmax, not SiLU: the first ones.
template <class Config>
HSTU_PRIM bool is_softmax_head(const AttnFwdParams& p, int head) {
  return Config::kSoftmax && (!Config::kSilu || head < p.num_softmax_heads);
}

// Where the rows of a sequence lie.
struct HstuRows {
  i64 start;
  int length;

  HSTU_PRIM tile::JaggedBox queries() const { return tile::JaggedBox(start, length); }
  template <class Plan>
  HSTU_PRIM tile::JaggedBox keys(const Plan& plan, int block) const {
    return tile::JaggedBox(start, plan.keys_end(block, length));
  }
};

template <class Config>
struct HstuTile {
  using Seen = SeenBlocks<Config>;
  variant::HstuMask<Config> mask;
  variant::RowTilePlan<Config> plan;
  Seen seen;
  i64 start;  // row of the sequence's position 0
  int seq;
  int head;
  int first_row;  // -1: there is no further tile

  HSTU_PRIM HstuRows rows() const { return {start, mask.length}; }
  HSTU_PRIM int row_count() const { return mask.length; }
  // Of the first row in the sequence.
  HSTU_PRIM int position() const { return first_row; }
  // Whether the upper range is the tile's rows, each of which sees itself.
  HSTU_PRIM bool upper_is_own() const { return plan.targets; }
};

// A place of the order, maybe behind the end of its sequence. Its loads are under way when it is made.
template <class Config>
struct HstuPlace {
  enum : bool { kByWarp = false, kAligned = variant::block_scales<Config>(0) };
  using T = Shape<Config>;
  int seq, head;
  int first_row, step;  // of its tiles: that of a whole pair, or one, and more if the grid foresaw shorter sequences
  bool softmax;
  i64 start;
  variant::HstuMask<Config> mask;

  HSTU_PRIM static u32 places(const AttnFwdParams& p) { return TileOrder::places(p); }
  HSTU_PRIM HstuPlace(const AttnFwdParams& p, u32 index) {
    const TileOrder at(p, index, Config::kContextual && p.first_early != 0);
    const auto* offsets = static_cast<const typename Config::Offset*>(p.seq_offsets);
    start = offsets[at.seq];
    mask = variant::HstuMask<Config>(p, at.seq, static_cast<int>(offsets[at.seq + 1] - start));
    seq = at.seq;
    head = at.head;
    softmax = is_softmax_head<Config>(p, head);
    // Contextual rows see all of the history: their tile is among the longest. Where it does not come early beside a
    // window, others, all alike, follow in the order of rows: it wants keys at about the time that they do.
    const int level = static_cast<int>(at.level);
    const bool ascends = Config::kMaxAttnLen && p.first_early == 0;
    const int row_tile = !Config::kContextual    ? p.row_blocks - 1 - level
                         : ascends || level == 0 ? level
                                                 : p.row_blocks - level;
    first_row = (at.whole ? (mask.length - 1 + lead()) / T::kBlockM : row_tile) * T::kBlockM - lead();
    step = (at.whole ? -1 : p.row_blocks) * T::kBlockM;
  }

  // By how much the first tile is shorter than others: nothing, or with per-block scales what makes the others
  // begin where tiles of the tensor do. Its first_row then lies before the sequence.
  HSTU_PRIM int lead() const { return kAligned ? static_cast<int>(start) & (T::kBlockM - 1) : 0; }
  HSTU_PRIM bool has_row(int row) const {
    if constexpr (kAligned) return row > -T::kBlockM && row < mask.length && mask.length > 0;
    return row >= 0 && row < mask.length;
  }
  HSTU_PRIM bool exists() const { return has_row(first_row); }
  HSTU_PRIM int begin() const { return kAligned ? variant::max_int(first_row, 0) : first_row; }
  HSTU_PRIM variant::RowTilePlan<Config> plan() const {
    return variant::RowTilePlan<Config>(mask, begin(), variant::min_int(first_row + T::kBlockM, mask.length),
                                        variant::NeighbouringKeys{}, start);
  }
  HSTU_PRIM void describe(const variant::RowTilePlan<Config>& plan, HstuTile<Config>& tile) const {
    tile.mask = mask;
    tile.plan = plan;
    tile.start = start;
    tile.seq = seq;
    tile.head = head;
    tile.first_row = begin();
    tile.seen.find(tile, begin(), !softmax && !Config::kBias);
  }
};

}  // namespace hstu::attn90
