// Which keys a query may see in HSTU attention (generative-recommenders ops/hstu_attention.py), in interval form.
//
// Positions of a sequence of n rows: contextual [0, C), history [C, h), targets [h, n). Row i sees one interval of keys
// and its own group:  [low(i), limit(i)) + [own(i), i].
//   causal      limit = h for contextual rows, else min(i, h): targets see the history, never another group's targets
//   local       low = i - left, limit = i + 1 + right; no targets, no context
//   full        limit = n
//   groups      own(i) = i, except for targets in groups of g: the first row of the group
//   window      rows see the W identities before them (the whole contextual block is one identity), except the last F
//               history rows, the targets when F > 0, and contextual rows: low = max(limit - W, 0) or 0
// Sequences with n < C + num_targets see only themselves, row by row.
//
// A mask type for the attention kernels (Config::Mask) is built once a row block and has
//   seen_bits(i, key)   bit t: row i sees key + t, for 32 keys
//   kSurveyed           it looks at data: after place() a warp makes the plan with survey(), see IntervalMask
//   Plan                which key blocks a row block visits, in order
//   View                what a warp's rows see of them: which keys no row needs, which all rows see
//
// Config: kCausal, kLocal (neither: full), kHasTargets, kTargetGroups, kContextual, kMaxAttnLen, kMinFullAttn;
// kSoftmax: keys outside a range are no zeros to add but must be masked. Absent features cost nothing.
#pragma once
#include "prim/types.cuh"

namespace hstu::variant {

HSTU_PRIM int min_int(int a, int b) { return a < b ? a : b; }
HSTU_PRIM int max_int(int a, int b) { return a > b ? a : b; }

// Bits [begin, end) of a word, both clamped to it.
HSTU_PRIM u32 bits_below(int end) { return end >= 32 ? ~0u : (1u << max_int(end, 0)) - 1; }
HSTU_PRIM u32 bits_between(int begin, int end) { return bits_below(end) & ~bits_below(begin); }

template <class Config>
struct KeyPlan;
template <class Config>
struct KeyView;

// How many contextual rows a sequence has: its own number, or that of all.
template <class Params>
HSTU_PRIM int contextual_rows(const Params& p, int seq) {
  if (p.num_contexts == nullptr) return p.contextual_seq_len;
  constexpr i64 kMany = 1 << 30;
  const i64 own = p.wide_contexts ? static_cast<const i64*>(p.num_contexts)[seq]
                                  : i64{static_cast<const i32*>(p.num_contexts)[seq]};
  return own < 0 ? 0 : static_cast<int>(own < kMany ? own : kMany);
}

template <class Config>
struct HstuMask {
  using Plan = KeyPlan<Config>;
  using View = KeyView<Config>;
  enum : bool { kSurveyed = false };
  enum : int { kExtraBytes = 0 };
  static_assert(Config::kCausal || !(Config::kContextual || Config::kMaxAttnLen || Config::kHasTargets),
                "windows, context and targets are causal");
  static_assert(!(Config::kCausal && Config::kLocal), "a mask is causal, local or full");
  static_assert(!Config::kTargetGroups || Config::kHasTargets, "groups are of targets");
  static_assert(!Config::kMinFullAttn || Config::kMaxAttnLen, "min_full_attn_seq_len qualifies max_attn_len");

  int length;      // n
  int history;     // h
  int contextual;  // C
  int window;      // W; of a local mask window_left
  int right;       // of a local mask window_right
  int full_from;   // first history row that ignores the window: h - F, or past every row
  int group;       // targets a group

  HstuMask() = default;
  // Params: num_targets, num_contexts, wide_contexts, contextual_seq_len, max_attn_len, min_full_attn_seq_len,
  // target_group_size, window_left, window_right, as far as Config reads them.
  template <class Params>
  HSTU_PRIM HstuMask(const Params& p, int seq, int n)
      : length(n), history(n), contextual(0), window(0), right(0), full_from(n), group(1) {
    if constexpr (Config::kContextual) contextual = contextual_rows(p, seq);
    if constexpr (Config::kHasTargets) {
      const auto targets = static_cast<const typename Config::Target*>(p.num_targets)[seq];
      history = targets < n ? n - static_cast<int>(targets > 0 ? targets : 0) : 0;
      if constexpr (Config::kTargetGroups) group = targets <= n ? p.target_group_size : 1;
    }
    if constexpr (Config::kContextual) {
      if (history < contextual) {
        history = contextual = 0;
        group = 1;
      }
    }
    if constexpr (Config::kMaxAttnLen) window = p.max_attn_len > 0 ? p.max_attn_len : n;
    if constexpr (Config::kMinFullAttn) {
      if (p.min_full_attn_seq_len > 0) full_from = history - p.min_full_attn_seq_len;
    }
    if constexpr (Config::kLocal) {
      window = p.window_left >= 0 && p.window_left < n ? p.window_left : n;
      right = p.window_right >= 0 && p.window_right < n ? p.window_right : n;
    }
  }

  // Rows before the sequence, of tiles that hang over its start, are not.
  HSTU_PRIM bool is_contextual(int i) const { return static_cast<u32>(i) < static_cast<u32>(contextual); }

  // End of row i's interval.
  HSTU_PRIM int limit(int i) const {
    if constexpr (Config::kLocal) return min_int(i + 1 + right, length);
    if constexpr (!Config::kCausal) return length;
    if (Config::kContextual && is_contextual(i)) return history;
    return Config::kHasTargets || Config::kContextual ? min_int(i, history) : i;
  }

  // Start of row i's interval.
  HSTU_PRIM int low(int i) const {
    if constexpr (Config::kLocal) return max_int(i - window, 0);
    if constexpr (!Config::kMaxAttnLen) return 0;
    if (Config::kContextual && is_contextual(i)) return 0;
    if (Config::kMinFullAttn && i >= full_from) return 0;
    const int shared = Config::kContextual && contextual > 0 ? contextual - 1 : 0;
    const int end = limit(i);
    return end - shared <= window ? 0 : end - window;
  }

  // First row of row i's own group.
  HSTU_PRIM int own(int i) const {
    if constexpr (!Config::kTargetGroups) return i;
    return i < history ? i : history + (i - history) / group * group;
  }

  // Which of the keys key + 0 ... key + 31 row i sees.
  HSTU_PRIM u32 seen_bits(int i, int key) const {
    constexpr bool kPlain = !Config::kHasTargets && !Config::kContextual && !Config::kMaxAttnLen && !Config::kLocal;
    if constexpr (kPlain) return bits_below((Config::kCausal ? i + 1 : length) - key);
    if constexpr (Config::kLocal) return bits_between(low(i) - key, limit(i) - key);
    u32 group_bits = static_cast<u32>(i - key) < 32u ? 1u << (i - key) : 0u;
    if constexpr (Config::kTargetGroups) group_bits = bits_between(own(i) - key, i + 1 - key);
    if constexpr (!Config::kMaxAttnLen) return bits_below(limit(i) - key) | group_bits;
    return bits_between(low(i) - key, limit(i) - key) | group_bits;
  }

  // Extremes over the rows [first, last), not empty.
  HSTU_PRIM int limit_min(int first, int last) const {
    // limit() grows with i except that contextual rows stand at h.
    if (Config::kContextual && first < contextual && last > contextual) first = contextual;
    return limit(first);
  }
  HSTU_PRIM int limit_max(int first, int last) const {
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
};

// The key blocks that a block of query rows visits: two ranges cut into blocks from their upper ends downwards. `upper`
// holds keys only the rows' own groups reach (targets; empty otherwise), `lower` the union of their intervals.
// Between the two lie keys that no row sees. Keys outside a range are to be loaded as zeros: silu(0) = 0, so a block
// that hangs over the start of a range needs no mask for that.
template <class Config>
struct KeyPlan {
  int upper_begin, upper_end, upper_blocks;
  int lower_begin, lower_end, blocks;

  KeyPlan() = default;
  // Rows [first, last) of the sequence, not empty. Causal rows before it see nothing.
  HSTU_PRIM KeyPlan(const HstuMask<Config>& mask, int first, int last)
      : upper_begin(0), upper_end(0), upper_blocks(0), lower_begin(0), lower_end(0), blocks(0) {
    constexpr int kBlockN = Config::kBlockN;
    if (Config::kCausal && last <= 0) return;
    first = max_int(first, 0);
    const int shared_end = mask.limit_max(first, last);
    // All rows are targets behind a gap, or the intervals run into the rows' own positions.
    const int own_begin = mask.own(first);
    const bool gap = Config::kHasTargets && shared_end < own_begin;
    lower_begin = mask.low_min(first, last);
    lower_end = gap || !Config::kCausal ? shared_end : max_int(shared_end, last);
    upper_begin = own_begin;
    upper_end = last;
    upper_blocks = gap ? (last - own_begin + kBlockN - 1) / kBlockN : 0;
    blocks = upper_blocks + (max_int(lower_end - lower_begin, 0) + kBlockN - 1) / kBlockN;
  }

  HSTU_PRIM bool is_upper(int block) const { return Config::kHasTargets && block < upper_blocks; }
  // First key of the block; may lie before its range.
  HSTU_PRIM int key_begin(int block) const {
    if (is_upper(block)) return upper_end - (block + 1) * Config::kBlockN;
    return lower_end - (block - (Config::kHasTargets ? upper_blocks : 0) + 1) * Config::kBlockN;
  }
  HSTU_PRIM int range_begin(int block) const { return is_upper(block) ? upper_begin : lower_begin; }
  // Whether `block` is the first of another range than the one before it.
  HSTU_PRIM bool range_starts(int block) const { return Config::kHasTargets && block == upper_blocks; }
};

// What a warp's rows see of the keys of a plan: all of [full_begin, full_end), nothing outside [seen_begin, seen_end)
// but their own groups. Blocks [from, until) of the plan lie in the former.
template <class Config>
struct KeyView {
  int full_begin, full_end, seen_begin, seen_end;
  int own_begin, last;
  int from, until;

  KeyView() = default;
  // Rows [first_row, last_row) of the sequence, maybe none.
  HSTU_PRIM KeyView(const HstuMask<Config>& mask, const KeyPlan<Config>& plan, int first_row, int last_row)
      : full_begin(0), full_end(-kAnyKey), seen_begin(0), seen_end(0), own_begin(kAnyKey), last(last_row) {
    const int first = max_int(first_row, 0);
    if (last > first) {
      if constexpr (Config::kCausal) own_begin = mask.own(first);
      full_end = mask.limit_min(first, last);
      const int low_max = mask.low_max(first, last);
      // Keys before a range are zeros: harmless to all who see its first.
      full_begin = low_max > plan.lower_begin ? low_max : Config::kSoftmax ? plan.lower_begin : -kAnyKey;
      seen_begin = mask.low_min(first, last);
      seen_end = mask.limit_max(first, last);
    }
    constexpr int kBlockN = Config::kBlockN;
    const int lower_blocks = plan.blocks - plan.upper_blocks;
    from = plan.upper_blocks + min_int((max_int(plan.lower_end - full_end, 0) + kBlockN - 1) / kBlockN, lower_blocks);
    until = full_begin < plan.lower_begin ? plan.blocks
                                          : plan.upper_blocks + max_int(plan.lower_end - full_begin, 0) / kBlockN;
  }

  HSTU_PRIM bool sees_block(int block) const { return block >= from && block < until; }
  HSTU_PRIM bool sees_all(int begin, int end) const { return begin >= full_begin && end <= full_end; }
  HSTU_PRIM bool touches(int begin, int end) const {
    return (begin < last && end > own_begin) || (begin < seen_end && end > seen_begin);
  }

 private:
  enum : int { kAnyKey = 1 << 30 };
};

}  // namespace hstu::variant
