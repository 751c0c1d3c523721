// The plan of masks given as data: which key blocks the intervals of some rows reach. Plain integer arithmetic.
#pragma once
#include "attention/mask/hstu_mask.cuh"
#include "prim/types.cuh"

namespace hstu::variant {

// The key blocks a block of rows visits: those that some interval of some row reaches, counted from the sequence's end.
template <class Config>
struct IntervalPlan {
  enum : int { kIntervals = Config::kIntervals };
  int blocks;
  int length;                   // keys of the sequence
  int segments;                 // runs of neighbouring key blocks
  int first_block[kIntervals];  // of a run, among the sequence's key blocks, 0 the last one
  int end[kIntervals];          // key blocks of the plan up to the run's last

  // The runs of key blocks that hold [seen_begin, seen_end) of all intervals, from the sequence's end: each step takes
  // the first block that is not behind it.
  HSTU_PRIM void make(int keys, const int (&seen_begin)[kIntervals], const int (&seen_end)[kIntervals]) {
    constexpr int kBlockN = Config::kBlockN;
    length = keys;
    segments = blocks = 0;
    first_block[0] = 0;  // key_begin() is asked for a block even of a plan without any
    int next = 0;        // blocks before it are decided
    for (;;) {
      int from = 1 << 30, until = 0;
      for (int m = 0; m < kIntervals; ++m) {
        if (seen_begin[m] >= seen_end[m]) continue;
        const int first_of = max_int((length - seen_end[m]) / kBlockN, next);
        const int end_of = (length - seen_begin[m] + kBlockN - 1) / kBlockN;
        if (first_of < end_of && first_of < from) from = first_of, until = end_of;
      }
      if (until == 0) return;
      const bool joins = segments > 0 && from == next;
      if (!joins) first_block[segments++] = from;
      blocks += until - from;
      end[segments - 1] = blocks;
      next = until;
    }
  }

  HSTU_PRIM int key_begin(int block) const {
    int run = 0;
    while (run + 1 < segments && block >= end[run]) ++run;
    const int from = run > 0 ? end[run - 1] : 0;
    return length - (first_block[run] + block - from + 1) * Config::kBlockN;
  }
  HSTU_PRIM static constexpr int range_begin(int) { return 0; }
  // Whether `block` may begin another run than the one before it.
  HSTU_PRIM static constexpr bool range_starts(int) { return kIntervals > 1; }
};

}  // namespace hstu::variant
