// Tiles of query rows of HSTU attention whose mask is given as data (variant/interval_mask.cuh): the warp that
// describes tiles looks at the bounds of all rows of a tile together.
#pragma once
#include "attn90/hstu_tile.cuh"
#include "variant/interval_mask.cuh"
#include "variant/interval_runs.cuh"

namespace hstu::attn90 {

// The mask of a sequence, whose rows behind its end see nothing.
template <class Config>
struct TileBounds : variant::IntervalBounds<Config> {
  HSTU_PRIM u32 seen_bits(int i, int key) const { return i < this->length ? this->bits_of(i, key) : 0; }
};

// What the rows of each consumer warpgroup see of the runs of a tile's key blocks.
template <class Config>
struct SeenRuns {
  enum : int { kRanges = Config::kIntervals, kLower = 0 };
  variant::BlockRange of[Config::kConsumers][kRanges];
};

template <class Config>
struct IntervalTile {
  using Seen = SeenRuns<Config>;
  enum : int { kWriters = Config::kConsumers * Config::kIntervals };
  TileBounds<Config> mask;
  variant::IntervalRuns<Config> plan;
  Seen seen;
  variant::IntervalExtremes extremes[Config::kConsumers][Config::kIntervals];
  i64 start;  // row of the sequence's position 0
  int seq;
  int head;
  int first_row;  // -1: there is no further tile

  HSTU_PRIM HstuRows rows() const { return {start, mask.length}; }
  HSTU_PRIM int row_count() const { return mask.length; }
  HSTU_PRIM int position() const { return first_row; }
  HSTU_PRIM static constexpr bool upper_is_own() { return false; }

  // By all lanes of a warp, each of which looks at two rows of a warpgroup.
  HSTU_PRIM void survey() {
    const int lane = prim::lane_id();
#pragma unroll 1
    for (int group = 0; group < Config::kConsumers; ++group) {
#pragma unroll 1
      for (int m = 0; m < Config::kIntervals; ++m) {
        const u32 length = mask.length;
        u32 least_begin = length, most_end = 0, most_begin = 0, least_end = length;
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const u32 i = first_row + group * 64 + half * 32 + lane;
          if (i >= length) continue;
          const u32 begin = mask.begin_of(m, i), end = variant::max_int(mask.end_of(m, i), 0);
          most_begin = max(most_begin, begin);
          least_end = min(least_end, end);
          if (begin < end) {
            least_begin = min(least_begin, begin);
            most_end = max(most_end, end);
          }
        }
        const u32 all[] = {length - prim::lane_max(length - least_begin), prim::lane_max(most_end),
                           prim::lane_max(most_begin), length - prim::lane_max(length - least_end)};
        if (lane == 0) extremes[group][m] = {int(all[0]), int(all[1]), int(all[2]), int(all[3])};
      }
    }
    if (lane == 0) plan.make(extremes);
    __syncwarp();
    if (lane < Config::kConsumers * Config::kIntervals) {
      const int group = lane / Config::kIntervals, run = lane % Config::kIntervals;
      seen.of[group][run] = plan.seen_of(run, extremes[group]);
    }
  }
};

// A place of the order, maybe behind the end of its sequence.
template <class Config>
struct IntervalPlace {
  enum : bool { kByWarp = true };
  using T = Shape<Config>;
  int seq, head;
  int first_row, step;  // as of an HstuPlace
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
    first_row = (at.whole ? (length - 1) / T::kBlockM : p.row_blocks - 1 - at.level) * T::kBlockM;
    step = (at.whole ? -1 : p.row_blocks) * T::kBlockM;
  }

  HSTU_PRIM bool has_row(int row) const { return row >= 0 && row < length; }
  HSTU_PRIM bool exists() const { return has_row(first_row); }
  // By all lanes.
  HSTU_PRIM void describe(const AttnFwdParams& p, IntervalTile<Config>& tile) const {
    if (prim::lane_id() == 0) {
      tile.mask.place(p, head, start, length);
      tile.start = start;
      tile.seq = seq;
      tile.head = head;
      tile.first_row = first_row;
    }
    __syncwarp();
    tile.survey();
  }
};

}  // namespace hstu::attn90
