// Masks given as data: row i sees the union of Config::kIntervals intervals of keys, [0, f_0), [f_1, f_2), ..., whose
// bounds f are a column of an integer tensor (the "func" form of NVIDIA's HSTU). Intervals may overlap or be empty; a
// row may see nothing, not even itself.
//
// The same members as HstuMask, except that the plan is made by all threads: it takes the extremes of every interval
// over the rows.
#pragma once
#include "attention/mask/hstu_mask.cuh"
#include "attention/mask/interval_plan.cuh"
#include "prim/lanes.cuh"
#include "prim/types.cuh"

namespace hstu::variant {

template <class Config>
struct IntervalView;

// Of a sequence.
template <class Config>
struct IntervalBounds {
  const i32* bounds;  // f_0 of position 0
  i64 bound_stride;   // from f_m to f_m+1
  int length;

  IntervalBounds() = default;
  // Of a sequence of n keys. row_of_zero: the row of q that position 0 would have. In place: masks are large.
  template <class Params>
  HSTU_PRIM void place(const Params& p, int head, i64 row_of_zero, int n) {
    bounds = static_cast<const i32*>(p.intervals) + head * p.intervals_head_stride + row_of_zero;
    bound_stride = p.intervals_bound_stride;
    length = n;
  }

  HSTU_PRIM int begin_of(int interval, int i) const {
    return interval == 0 ? 0 : max_int(bounds[(2 * interval - 1) * bound_stride + i], 0);
  }
  HSTU_PRIM int end_of(int interval, int i) const { return min_int(bounds[2 * interval * bound_stride + i], length); }

  // Which of the keys key + 0 ... key + 31 row i, which there is, sees.
  HSTU_PRIM u32 bits_of(int i, int key) const {
    u32 bits = 0;
#pragma unroll 1
    for (int m = 0; m < Config::kIntervals; ++m) bits |= bits_between(begin_of(m, i) - key, end_of(m, i) - key);
    return bits;
  }
};

template <class Config>
struct IntervalMask : IntervalBounds<Config> {
  using IntervalBounds<Config>::length, IntervalBounds<Config>::begin_of, IntervalBounds<Config>::end_of;
  using Plan = IntervalPlan<Config>;
  using View = IntervalView<Config>;
  enum : bool { kSurveyed = true };
  enum : int { kIntervals = Config::kIntervals };
  enum : int { kExtraBytes = 32 * kIntervals };  // of shared memory, for mask and plan, beyond those of HstuMask

  int first, last;                                   // the rows of the plan
  int seen_begin[kIntervals], seen_end[kIntervals];  // what some row's interval holds
  int full_begin[kIntervals], full_end[kIntervals];  // what every row's holds

  IntervalMask() = default;

  // Which of the keys key + 0 ... key + 31 row i sees.
  HSTU_PRIM u32 seen_bits(int i, int key) const { return i < first || i >= last ? 0 : this->bits_of(i, key); }

  // The extremes over rows [first_row, last_row), and the plan; by all threads, the first warp works.
  HSTU_PRIM void survey(Plan& plan, int first_row, int last_row) {
    if (prim::thread_id() >= 32) return;
    const int lane = prim::thread_id();
    if (lane == 0) first = first_row, last = last_row;
#pragma unroll 1
    for (int m = 0; m < kIntervals; ++m) {
      int least_begin = length, most_end = 0, most_begin = 0, least_end = length;
      for (int i = first_row + lane; i < last_row; i += 32) {
        const int begin = begin_of(m, i), end = end_of(m, i);
        most_begin = max_int(most_begin, begin);
        least_end = min_int(least_end, end);
        if (begin < end) {
          least_begin = min_int(least_begin, begin);
          most_end = max_int(most_end, end);
        }
      }
#pragma unroll
      for (int offset = 16; offset > 0; offset /= 2) {
        least_begin = min_int(least_begin, __shfl_xor_sync(prim::kFullWarp, least_begin, offset));
        most_end = max_int(most_end, __shfl_xor_sync(prim::kFullWarp, most_end, offset));
        most_begin = max_int(most_begin, __shfl_xor_sync(prim::kFullWarp, most_begin, offset));
        least_end = min_int(least_end, __shfl_xor_sync(prim::kFullWarp, least_end, offset));
      }
      if (lane == 0) {
        seen_begin[m] = least_begin, seen_end[m] = most_end;
        full_begin[m] = most_begin, full_end[m] = least_end;
      }
    }
    if (lane == 0) plan.make(length, seen_begin, seen_end);
  }
};

// What a warp's rows see, as far as it is known of all rows of the plan together.
template <class Config>
struct IntervalView {
  const IntervalMask<Config>* mask;
  const IntervalPlan<Config>* plan;
  bool any_row;

  IntervalView() = default;
  HSTU_PRIM IntervalView(const IntervalMask<Config>& mask, const IntervalPlan<Config>& plan, int first_row,
                         int last_row)
      : mask(&mask), plan(&plan), any_row(max_int(first_row, 0) < last_row) {}

  HSTU_PRIM bool sees_block(int block) const {
    const int begin = plan->key_begin(block);
    return sees_all(begin, begin + Config::kBlockN);
  }
  HSTU_PRIM bool sees_all(int begin, int end) const {
    // Keys before the sequence are zeros: harmless, unless each has a weight.
    const int from = Config::kSoftmax ? begin : max_int(begin, 0);
    bool all = false;
    for (int m = 0; m < Config::kIntervals; ++m) all |= from >= mask->full_begin[m] && end <= mask->full_end[m];
    return any_row && all;
  }
  HSTU_PRIM bool touches(int begin, int end) const {
    bool any = false;
    for (int m = 0; m < Config::kIntervals; ++m) any |= begin < mask->seen_end[m] && end > mask->seen_begin[m];
    return any_row && any;
  }
};

}  // namespace hstu::variant
