// Which keys a query may see in HSTU attention (generative-recommenders ops/hstu_attention.py), in interval form.
//
// Positions of a sequence of n rows: contextual [0, C), history [C, h), targets [h, n). Row i sees one interval of keys
// and itself:  [low(i), limit(i)) + {i}.
//   causal      limit = h for contextual rows, else min(i, h): targets see the history, never one another
//   not causal  limit = n for history rows, h for targets
//   window      rows see the W identities before them (the whole contextual block is one identity), except the last F
//               history rows, the targets when F > 0, and contextual rows: low = max(limit - W, 0) or 0
// Sequences with n < C + num_targets see only themselves, row by row.
//
// Config: kCausal, kHasTargets, kContextual, kMaxAttnLen, kMinFullAttn. Absent features cost nothing.
#pragma once
#include "params/attn_fwd.h"
#include "prim/types.cuh"

namespace hstu::variant {

HSTU_PRIM int min_int(int a, int b) { return a < b ? a : b; }
HSTU_PRIM int max_int(int a, int b) { return a > b ? a : b; }

template <class Config>
struct HstuMask {
  static_assert(Config::kCausal || !(Config::kContextual || Config::kMaxAttnLen), "windows and context are causal");
  static_assert(!Config::kMinFullAttn || Config::kMaxAttnLen, "min_full_attn_seq_len qualifies max_attn_len");

  int length;      // n
  int history;     // h
  int contextual;  // C
  int window;      // W
  int full_from;   // first history row that ignores the window: h - F, or past every row

  HstuMask() = default;
  HSTU_PRIM HstuMask(const AttnFwdParams& p, int seq, int n)
      : length(n), history(n), contextual(0), window(0), full_from(n) {
    if constexpr (Config::kContextual) contextual = p.contextual_seq_len;
    if constexpr (Config::kHasTargets) {
      const auto targets = static_cast<const typename Config::Target*>(p.num_targets)[seq];
      history = targets < n ? n - static_cast<int>(targets) : 0;
    }
    if constexpr (Config::kContextual) {
      if (history < contextual) history = contextual = 0;
    }
    if constexpr (Config::kMaxAttnLen) window = p.max_attn_len > 0 ? p.max_attn_len : n;
    if constexpr (Config::kMinFullAttn) {
      if (p.min_full_attn_seq_len > 0) full_from = history - p.min_full_attn_seq_len;
    }
  }

  // End of row i's interval.
  HSTU_PRIM int limit(int i) const {
    if constexpr (!Config::kCausal) return i < history ? length : history;
    if (Config::kContextual && i < contextual) return history;
    return Config::kHasTargets || Config::kContextual ? min_int(i, history) : i;
  }

  // Start of row i's interval.
  HSTU_PRIM int low(int i) const {
    if constexpr (!Config::kMaxAttnLen) return 0;
    if (Config::kContextual && i < contextual) return 0;
    if (Config::kMinFullAttn && i >= full_from) return 0;
    const int shared = Config::kContextual && contextual > 0 ? contextual - 1 : 0;
    const int end = limit(i);
    return end - shared <= window ? 0 : end - window;
  }

  HSTU_PRIM bool allowed(int i, int j) const {
    constexpr bool kPlain = !Config::kHasTargets && !Config::kContextual && !Config::kMaxAttnLen;
    if constexpr (kPlain) return Config::kCausal ? j <= i : true;
    if constexpr (!Config::kMaxAttnLen) return j < limit(i) || j == i;
    const int start = low(i);
    return (j >= start && j < limit(i)) || j == i;
  }

  // Extremes over the rows [first, last), not empty.
  HSTU_PRIM int limit_min(int first, int last) const {
    if constexpr (!Config::kCausal) return limit(last - 1);
    // limit() grows with i except that contextual rows stand at h.
    if (Config::kContextual && first < contextual && last > contextual) first = contextual;
    return limit(first);
  }
  HSTU_PRIM int limit_max(int first, int last) const {
    if constexpr (!Config::kCausal) return limit(first);
    if (Config::kContextual && first < contextual) return history;
    return limit(last - 1);
  }
  HSTU_PRIM int low_min(int first, int last) const {
    if (Config::kMinFullAttn && last > full_from) return 0;
    return low(first);
  }
  HSTU_PRIM int low_max(int first, int last) const {
    if (Config::kMinFullAttn && last > full_from && first < full_from) last = full_from;
    return low(last - 1);
  }

  // Whether any of the rows [first, last) sees any of the keys [begin, end).
  HSTU_PRIM bool touches(int first, int last, int begin, int end) const {
    const bool diagonal = begin < last && end > first;
    return diagonal || (begin < limit_max(first, last) && end > low_min(first, last));
  }
};

struct BlockRange {
  int from, until;
};

// The key blocks that a block of query rows visits: two ranges cut into blocks from their upper ends downwards. `upper`
// holds keys only the rows' own diagonals reach (targets; empty otherwise), `lower` the union of their intervals.
// Between the two lie keys that no row sees. Keys outside a range are to be loaded as zeros: silu(0) = 0, so a block
// that hangs over the start of a range needs no mask for that.
template <class Config>
struct KeyPlan {
  int upper_begin, upper_end, upper_blocks;
  int lower_begin, lower_end, blocks;

  KeyPlan() = default;
  // Rows [first, last) of the sequence, not empty.
  HSTU_PRIM KeyPlan(const HstuMask<Config>& mask, int first, int last) {
    constexpr int kBlockN = Config::kBlockN;
    const int shared_end = mask.limit_max(first, last);
    // All rows are targets behind a gap, or the intervals run into the rows' own positions.
    const bool gap = Config::kHasTargets && shared_end < first;
    lower_begin = mask.low_min(first, last);
    lower_end = gap ? shared_end : max_int(shared_end, last);
    upper_begin = first;
    upper_end = last;
    upper_blocks = gap ? (last - first + kBlockN - 1) / kBlockN : 0;
    blocks = upper_blocks + (max_int(lower_end - lower_begin, 0) + kBlockN - 1) / kBlockN;
  }

  // The key blocks that rows [first, last) of the sequence, among those of the plan, see entirely, all of them. Rows
  // before the sequence do not count; without any row the range is empty.
  HSTU_PRIM BlockRange full_blocks(const HstuMask<Config>& mask, int first, int last) const {
    if (last <= 0) return {blocks, blocks};
    first = max_int(first, 0);
    constexpr int kBlockN = Config::kBlockN;
    BlockRange range{upper_blocks, blocks};
    range.from += (max_int(lower_end - mask.limit_min(first, last), 0) + kBlockN - 1) / kBlockN;
    if constexpr (Config::kMaxAttnLen) {
      const int full_begin = mask.low_max(first, last);
      if (lower_begin < full_begin) range.until = upper_blocks + max_int(lower_end - full_begin, 0) / kBlockN;
    }
    return range;
  }

  HSTU_PRIM bool is_upper(int block) const { return Config::kHasTargets && block < upper_blocks; }
  // First key of the block; may lie before its range.
  HSTU_PRIM int key_begin(int block) const {
    if (is_upper(block)) return upper_end - (block + 1) * Config::kBlockN;
    return lower_end - (block - (Config::kHasTargets ? upper_blocks : 0) + 1) * Config::kBlockN;
  }
  HSTU_PRIM int range_begin(int block) const { return is_upper(block) ? upper_begin : lower_begin; }
};

}  // namespace hstu::variant
