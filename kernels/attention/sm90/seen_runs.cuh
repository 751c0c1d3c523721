// What the rows of each consumer warpgroup see of the runs of key blocks of a tile whose mask is given as data
// (attention/mask/interval_mask.cuh): the warp that describes tiles looks at the bounds of all rows of a tile together.
#pragma once
#include "attention/mask/interval_mask.cuh"
#include "attention/mask/interval_runs.cuh"
#include "prim/lanes.cuh"

namespace hstu::attn90 {

// The mask of a sequence; rows outside it see nothing.
template <class Config>
struct TileBounds : variant::IntervalBounds<Config> {
  HSTU_PRIM bool has_row(int i) const { return static_cast<u32>(i) < static_cast<u32>(this->length); }
  HSTU_PRIM u32 seen_bits(int i, int key) const { return has_row(i) ? this->bits_of(i, key) : 0; }
};

// What a warpgroup's rows see of parts of blocks, as far as it is known of all of them together.
template <class Config>
struct RunsView {
  const variant::IntervalExtremes (&of)[Config::kIntervals];

  HSTU_PRIM bool sees_all(int begin, int end) const {
    bool all = false;
#pragma unroll 1
    for (const variant::IntervalExtremes& x : of) all |= x.any() && begin >= x.full_begin && end <= x.full_end;
    return all;
  }
  HSTU_PRIM bool touches(int begin, int end) const {
    bool any = false;
#pragma unroll 1
    for (const variant::IntervalExtremes& x : of) any |= x.any() && begin < x.seen_end && end > x.seen_begin;
    return any;
  }
};

template <class Config>
struct SeenRuns {
  enum : int { kRanges = Config::kIntervals, kLower = 0 };
  enum : int { kCount = Config::kConsumers * kRanges };
  variant::BlockRange of[Config::kConsumers][kRanges];
  variant::IntervalExtremes extremes[Config::kConsumers][kRanges];

  // Makes the plan and finds what is seen of it, for the tile's rows from `position` in the sequence on, with
  // per-block scales those before `end` alone. By all lanes of a warp, of which the first kCount write.
  template <class Plan>
  HSTU_PRIM void find(const TileBounds<Config>& mask, Plan& plan, int position, int end = 0) {
    const int lane = prim::lane_id();
#pragma unroll 1
    for (int m = 0; m < kRanges; ++m) {
#pragma unroll 1
      for (int group = 0; group < Config::kConsumers; ++group) {
        const variant::IntervalExtremes all = survey(mask, m, position + group * 64, end);
        if (lane == 0) extremes[group][m] = all;
      }
    }
    if (lane == 0) plan.make(extremes);
    __syncwarp();
#pragma unroll 1
    for (int i = lane; i < kCount; i += 32)
      of[i / kRanges][i % kRanges] = plan.seen_of(i % kRanges, extremes[i / kRanges]);
  }

 private:
  // Of an interval over the 64 rows of a warpgroup from `first` on, of which each lane looks at two.
  HSTU_PRIM static variant::IntervalExtremes survey(const TileBounds<Config>& mask, int interval, int first, int end) {
    const u32 length = mask.length;
    u32 least_begin = length, most_end = 0, most_begin = 0, least_end = length;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int i = first + half * 32 + prim::lane_id();
      if (!mask.has_row(i) || (variant::block_scales<Config>(0) && i >= end)) continue;
      const u32 begin = mask.begin_of(interval, i), end = variant::max_int(mask.end_of(interval, i), 0);
      most_begin = max(most_begin, begin);
      least_end = min(least_end, end);
      if (begin < end) {
        least_begin = min(least_begin, begin);
        most_end = max(most_end, end);
      }
    }
    return {int(length - prim::lane_max(length - least_begin)), int(prim::lane_max(most_end)),
            int(prim::lane_max(most_begin)), int(length - prim::lane_max(length - least_end))};
  }
};

}  // namespace hstu::attn90
