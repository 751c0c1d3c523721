// The key blocks that a tile of query rows visits under a mask given as data, for kernels whose key blocks count from
// the sequence's start (attn_fwd_sm90), and what parts of its rows see of them. Plain integer arithmetic.
#pragma once
#include "attention/mask/hstu_mask.cuh"
#include "attention/mask/row_tiles.cuh"
#include "attention/variant/scale_blocks.cuh"
#include "prim/types.cuh"

namespace hstu::variant {

// Of one interval over some rows: some row's holds the first and the last key of [seen_begin, seen_end), none's holds
// another; every row's holds [full_begin, full_end).
struct IntervalExtremes {
  int seen_begin, seen_end, full_begin, full_end;

  HSTU_PRIM bool any() const { return seen_begin < seen_end; }
};

// Runs of neighbouring key blocks, in the order of keys, that hold what the tile's rows see, interval by interval. With
// per-block scales key blocks lie as those do (attention/variant/scale_blocks.cuh): the sequence's first may be
// shorter.
template <class Config>
struct IntervalRuns : BlockLeads<Config::kBlockN, block_scales<Config>(0)> {
  enum : int { kBlockN = Config::kBlockN, kIntervals = Config::kIntervals };
  enum : bool { kLeads = block_scales<Config>(0) };
  int blocks, runs;
  int first_block[kIntervals];  // of a run, among the sequence's key blocks
  int end[kIntervals];          // blocks of the plan up to the run's last

  // From the extremes of the tile's kParts parts of rows; set_leads(start, 0, 0) comes before.
  template <int kParts>
  HSTU_PRIM void make(const IntervalExtremes (&of)[kParts][kIntervals]) {
    blocks = runs = 0;
    int next = 0;  // key blocks before it are decided
    for (;;) {
      int from = 1 << 30, until = 0;
      for (int m = 0; m < kIntervals; ++m) {
        int begin = 1 << 30, last = 0;
        for (int part = 0; part < kParts; ++part) {
          if (!of[part][m].any()) continue;
          begin = min_int(begin, of[part][m].seen_begin);
          last = max_int(last, of[part][m].seen_end);
        }
        const int first_of = max_int(block_of(begin), next), end_of = whole_blocks(last);
        if (first_of < end_of && first_of < from) from = first_of, until = end_of;
      }
      if (until == 0) return;
      const bool joins = runs > 0 && from == next;
      if (!joins) first_block[runs++] = from;
      blocks += until - from;
      end[runs - 1] = blocks;
      next = until;
    }
  }

  // First key of block i. Runs by their numbers, so that copies of them may stay in registers.
  HSTU_PRIM int key_begin(int i) const {
    int at = first_block[0] + i;
    for (int run = 1; run < kIntervals; ++run)
      if (run < runs && i >= end[run - 1]) at = first_block[run] + i - end[run - 1];
    return kLeads ? max_int(at * kBlockN - this->lower_lead, 0) : at * kBlockN;
  }
  // Where block i is to be loaded as zeros from, of a sequence of `length` keys; where its range ends.
  HSTU_PRIM int keys_end(int i, int length) const {
    if constexpr (!kLeads) return length;
    const int begin = key_begin(i);
    return min_int(begin + kBlockN - (begin + this->lower_lead) % kBlockN, length);
  }
  HSTU_PRIM static int end_of(int) { return 1 << 30; }

  // What a part's rows see of a run, maybe of none that there is: neighbouring blocks, among them blocks that all rows
  // see wholly, as many as one interval holds.
  HSTU_PRIM BlockRange seen_of(int run, const IntervalExtremes (&of)[kIntervals]) const {
    if (run >= runs) return {blocks, blocks, blocks, blocks};
    const int from = begin_of(run), until = end[run];
    const int shift = from - first_block[run];  // from the sequence's blocks to the plan's
    int begin = until, last = from, full_begin = 0, full_end = 0;
    for (int m = 0; m < kIntervals; ++m) {
      if (!of[m].any()) continue;
      const int first_of = max_int(block_of(of[m].seen_begin) + shift, from);
      const int end_of = min_int(whole_blocks(of[m].seen_end) + shift, until);
      if (first_of >= end_of) continue;
      begin = min_int(begin, first_of);
      last = max_int(last, end_of);
      const int full_from = max_int(whole_blocks(of[m].full_begin) + shift, from);
      const int full_until = min_int(block_of(max_int(of[m].full_end, 0)) + shift, until);
      if (full_until - full_from > full_end - full_begin) full_begin = full_from, full_end = full_until;
    }
    if (begin >= last) return {from, from, from, from};
    return full_begin < full_end ? BlockRange{begin, full_begin, full_end, last} : BlockRange{begin, last, last, last};
  }

 private:
  HSTU_PRIM int begin_of(int run) const { return run > 0 ? end[run - 1] : 0; }
  // Of the sequence's key blocks that which holds a key, and how many hold the first `keys`.
  HSTU_PRIM int block_of(int key) const { return (key + this->lower_lead) / kBlockN; }
  HSTU_PRIM int whole_blocks(int keys) const {
    return kLeads && keys <= 0 ? 0 : (keys + this->lower_lead + kBlockN - 1) / kBlockN;
  }
};

}  // namespace hstu::variant
