// Tiles of the newest rows of a (sequence, head) against all of its keys: what a tile's roles must know of it, and
// their order. Rows are counted from the first new one, keys by their positions in the whole sequence; where a sequence
// has more new rows than keys the first of them stand before position 0 and see nothing.
#pragma once
#include "attention/sm90/delta_keys.cuh"
#include "attention/sm90/delta_plan.cuh"
#include "attention/sm90/schedule.cuh"
#include "attention/sm90/seen_blocks.cuh"
#include "attention/sm90/seen_runs.cuh"

namespace hstu::attn90 {

// What a tile's description has of its mask, which may be given as data.
template <class Config, bool kGiven>
struct DeltaMaskOf {
  using Mask = variant::HstuMask<Config>;
  using Plan = DeltaPlan<Config, variant::RowTilePlan<Config>>;
  using Seen = SeenBlocks<Config>;
  enum : int { kWriters = 1 };
};
template <class Config>
struct DeltaMaskOf<Config, true> {
  using Mask = TileBounds<Config>;
  using Plan = DeltaPlan<Config, variant::IntervalRuns<Config>>;
  using Seen = SeenRuns<Config>;
  enum : int { kWriters = Seen::kCount < 32 ? Seen::kCount : 32 };
};

template <class Config>
struct DeltaTile {
  // Keys of targets that lie apart from a history in pages begin where that ends, TMA's boxes at multiples of 16 bytes.
  enum : bool { kLooseBias = Config::kBias && Config::kHasTargets && Config::kPageSize > 0 };
  using Types = DeltaMaskOf<Config, (Config::kIntervals > 0)>;
  using Seen = typename Types::Seen;
  enum : int { kWriters = Types::kWriters };
  typename Types::Mask mask;
  typename Types::Plan plan;
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
  HSTU_PRIM bool upper_is_own() const {
    if constexpr (Config::kHasTargets) return plan.tile.targets && position() >= 0;
    return false;
  }
};

// A place of the order: the tiles of a pair are neighbours, for they share keys, and so are the heads of a sequence.
template <class Config>
struct DeltaRows {
  using T = Shape<Config>;
  int seq, head;
  int first_row, step;  // of its tiles: one, and more if the grid foresaw fewer rows
  int count;
  i64 start;
  DeltaKeys<Config> keys;

  HSTU_PRIM static u32 places(const AttnSplitParams& p) {
    return static_cast<u32>(p.batch * p.num_heads) * p.row_blocks;
  }
  HSTU_PRIM DeltaRows(const AttnSplitParams& p, u32 index) {
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
    first_row = static_cast<int>(level) * T::kBlockM;
    step = p.row_blocks * T::kBlockM;
  }

  HSTU_PRIM bool has_row(int row) const { return row < count; }
  HSTU_PRIM bool exists() const { return has_row(first_row); }
  // Of the first row in the sequence.
  HSTU_PRIM int position() const { return keys.count - count + first_row; }
  // All but the mask, the plan and what is seen.
  HSTU_PRIM void describe_rows(DeltaTile<Config>& tile) const {
    tile.keys = keys;
    tile.start = start;
    tile.seq = seq;
    tile.head = head;
    tile.first_row = first_row;
    tile.count = count;
  }
};

template <class Config>
struct DeltaPlace : DeltaRows<Config> {
  enum : bool { kByWarp = false };
  using Rows = DeltaRows<Config>;
  using Plan = typename DeltaTile<Config>::Types::Plan;
  using Rows::keys, Rows::position;
  variant::HstuMask<Config> mask;

  HSTU_PRIM DeltaPlace(const AttnSplitParams& p, u32 index) : Rows(p, index) {
    mask = variant::HstuMask<Config>(p, Rows::seq, keys.count);
  }
  HSTU_PRIM Plan plan() const {
    const int first = position(), last = first + Rows::T::kBlockM;
    return Plan(mask, variant::max_int(first, 0), variant::min_int(last, mask.length), keys.layout());
  }
  HSTU_PRIM void describe(const Plan& plan, DeltaTile<Config>& tile) const {
    tile.mask = mask;
    tile.plan = plan;
    Rows::describe_rows(tile);
    tile.seen.find(tile, position(), !Config::kBias);
  }
};

// The same of a mask given as data.
template <class Config>
struct DeltaIntervalPlace : DeltaRows<Config> {
  enum : bool { kByWarp = true };
  using Rows = DeltaRows<Config>;
  using Rows::keys, Rows::position;

  HSTU_PRIM DeltaIntervalPlace(const AttnSplitParams& p, u32 index) : Rows(p, index) {}
  // By all lanes.
  HSTU_PRIM void describe(const AttnSplitParams& p, DeltaTile<Config>& tile) const {
    if (prim::lane_id() == 0) {
      tile.mask.place(p, Rows::head, Rows::start + Rows::count - keys.count, keys.count);
      Rows::describe_rows(tile);
    }
    __syncwarp();
    tile.seen.find(tile.mask, tile.plan, position());
  }
};

template <class Config, bool kGiven>
struct DeltaPlaceOf {
  using Type = DeltaPlace<Config>;
};
template <class Config>
struct DeltaPlaceOf<Config, true> {
  using Type = DeltaIntervalPlace<Config>;
};

}  // namespace hstu::attn90
