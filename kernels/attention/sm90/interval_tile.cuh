// Tiles of query rows of HSTU attention whose mask is given as data (attention/mask/interval_mask.cuh).
#pragma once
#include "attention/sm90/hstu_tile.cuh"
#include "attention/sm90/seen_runs.cuh"

namespace hstu::attn90 {

template <class Config>
struct IntervalTile {
  using Seen = SeenRuns<Config>;
  enum : int { kWriters = Seen::kCount < 32 ? Seen::kCount : 32 };
  TileBounds<Config> mask;
  variant::IntervalRuns<Config> plan;
  Seen seen;
  i64 start;  // row of the sequence's position 0
  int seq;
  int head;
  int first_row;  // -1: there is no further tile

  HSTU_PRIM HstuRows rows() const { return {start, mask.length}; }
  HSTU_PRIM int row_count() const { return mask.length; }
  HSTU_PRIM int position() const { return first_row; }
  HSTU_PRIM static constexpr bool upper_is_own() { return false; }
};

// A place of the order, maybe behind the end of its sequence.
template <class Config>
struct IntervalPlace {
  enum : bool { kByWarp = true, kAligned = variant::block_scales<Config>(0) };
  using T = Shape<Config>;
  int seq, head;
  int first_row, step;  // as of an HstuPlace, and so is lead()
  i64 start;
  int length;

  HSTU_PRIM static u32 places(const AttnFwdParams& p) { return TileOrder::places(p); }
  HSTU_PRIM IntervalPlace(const AttnFwdParams& p, u32 index) {
    const TileOrder at(p, index);
    const auto* offsets = static_cast<const typename Config::Offset*>(p.seq_offsets);
    start = offsets[at.seq];
    length = static_cast<int>(offsets[at.seq + 1] - start);
    seq = at.seq;
    head = at.head;
    first_row = (at.whole ? (length - 1 + lead()) / T::kBlockM : p.row_blocks - 1 - at.level) * T::kBlockM - lead();
    step = (at.whole ? -1 : p.row_blocks) * T::kBlockM;
  }

  HSTU_PRIM int lead() const { return kAligned ? static_cast<int>(start) & (T::kBlockM - 1) : 0; }
  HSTU_PRIM bool has_row(int row) const {
    if constexpr (kAligned) return row > -T::kBlockM && row < length && length > 0;
    return row >= 0 && row < length;
  }
  HSTU_PRIM bool exists() const { return has_row(first_row); }
  HSTU_PRIM int begin() const { return kAligned ? variant::max_int(first_row, 0) : first_row; }
  // By all lanes.
  HSTU_PRIM void describe(const AttnFwdParams& p, IntervalTile<Config>& tile) const {
    if (prim::lane_id() == 0) {
      tile.mask.place(p, head, start, length);
      tile.start = start;
      tile.seq = seq;
      tile.head = head;
      tile.first_row = begin();
      tile.plan.set_leads(start, 0, 0);
    }
    __syncwarp();
    tile.seen.find(tile.mask, tile.plan, begin(), first_row + T::kBlockM);
  }
};

}  // namespace hstu::attn90
