// The key blocks that a tile of query rows visits, for kernels whose rows and key blocks count from the sequence's
// start (attn_fwd_sm90). The blocks that some row does not see wholly come first, then those that all rows see, which
// need no mask arithmetic.
//
// Keys of a plan lie in two ranges (variant/hstu_mask.cuh): `lower`, the union of the rows' intervals, and `upper`,
// keys that only the rows' own target groups reach, or that lie apart. Both are cut into blocks of kBlockN from their
// first key on, so only a range's last block hangs over, and only at its end. Targets all see the same interval: what
// hangs over there is to be loaded as zeros, whose silu is 0, and its block counts as seen wholly; under softmax it
// does not, and there its keys behind the range's end, which may be the upper range's, are to be hidden.
#pragma once
#include "variant/hstu_mask.cuh"

namespace hstu::variant {

// What some of the tile's rows see: all of [full_begin, full_end), nothing outside [seen_begin, seen_end) but their own
// groups.
template <class Config>
struct RowsView {
  int full_begin, full_end, seen_begin, seen_end, own_begin, last;
  bool any;  // whether there are rows

  RowsView() = default;
  // Rows [first, last) of the sequence, maybe none.
  HSTU_PRIM RowsView(const HstuMask<Config>& mask, int first, int end)
      : full_begin(0), full_end(0), seen_begin(0), seen_end(0), own_begin(0), last(0), any(false) {
    if (first >= end) return;
    any = true;
    last = Config::kCausal ? end : 0;
    own_begin = Config::kCausal ? mask.own(first) : 0;
    seen_begin = mask.low_min(first, end);
    seen_end = mask.limit_max(first, end);
    full_begin = mask.low_max(first, end);
    full_end = mask.limit_min(first, end);
  }
  HSTU_PRIM bool sees_all(int begin, int end) const { return begin >= full_begin && end <= full_end; }
  HSTU_PRIM bool touches(int begin, int end) const {
    return (begin < last && end > own_begin) || (begin < seen_end && end > seen_begin);
  }
};

// How keys lie: as neighbours, or apart, those of targets in one place and `cached` others in another, of which a block
// begins at a multiple of kAlign.
struct NeighbouringKeys {
  enum : int { kAlign = 1 };
  enum : bool { kApart = false };
  int cached = 0;
};

template <class Config>
struct RowTilePlan {
  int lower_begin, lower_blocks;
  int full_first, full_last;  // blocks of the lower range that every row sees wholly
  int upper_begin;
  int partial;  // blocks that are not full, the upper range's included
  int blocks;
  int full_end;  // keys of full blocks from here on are to be zeros
  bool targets;  // all rows are targets: under SiLU no block is partial but the upper range's and one that kAlign began

  RowTilePlan() = default;
  // Rows [first, last) of the sequence, not empty. zero_is_nothing: keys that are zeros add nothing.
  template <class Keys = NeighbouringKeys>
  HSTU_PRIM RowTilePlan(const HstuMask<Config>& mask, int first, int last, bool zero_is_nothing = true,
                        const Keys& keys = {}) {
    constexpr int kBlockN = Config::kBlockN;
    constexpr bool kApart = Keys::kApart && Config::kHasTargets;
    const int shared_end = mask.limit_max(first, last), own_begin = mask.own(first);
    lower_begin = mask.low_min(first, last) / Keys::kAlign * Keys::kAlign;
    const int shared_blocks = (max_int(shared_end - lower_begin, 0) + kBlockN - 1) / kBlockN;
    targets = Config::kHasTargets && shared_end <= own_begin && (!kApart || own_begin >= keys.cached);
    const bool apart = kApart && !targets;
    int lower_end = targets || !Config::kCausal ? shared_end : max_int(shared_end, last);
    if (apart) lower_end = min_int(lower_end, keys.cached);
    lower_blocks = targets ? shared_blocks : (max_int(lower_end - lower_begin, 0) + kBlockN - 1) / kBlockN;
    upper_begin = apart ? keys.cached : own_begin;
    int upper_blocks = targets ? (last - own_begin + kBlockN - 1) / kBlockN : 0;
    if (apart) upper_blocks = (max_int(last - keys.cached, 0) + kBlockN - 1) / kBlockN;
    full_end = targets ? shared_end : mask.length;
    full_first = (mask.low_max(first, last) - lower_begin + kBlockN - 1) / kBlockN;
    full_last =
        targets && zero_is_nothing ? shared_blocks : max_int(mask.limit_min(first, last) - lower_begin, 0) / kBlockN;
    if (full_first >= full_last) full_first = full_last = 0;
    partial = lower_blocks - (full_last - full_first) + upper_blocks;
    blocks = lower_blocks + upper_blocks;
  }

  // First key of block i in the order of visits: of partial blocks the upper range's, those at the lower range's begin,
  // those at its end from the last one down; then the full ones.
  HSTU_PRIM int key_begin(int i) const {
    constexpr int kBlockN = Config::kBlockN;
    if (i >= partial) return lower_begin + (full_first + i - partial) * kBlockN;
    if (i < upper_blocks()) return upper_begin + i * kBlockN;
    i -= upper_blocks();
    return lower_begin + (i < full_first ? i : lower_blocks - 1 - (i - full_first)) * kBlockN;
  }
  HSTU_PRIM int upper_blocks() const { return blocks - lower_blocks; }

  // Where the range of block i, a partial one, ends; far behind all keys unless that is in another range's way.
  HSTU_PRIM int end_of(int i) const {
    return Config::kHasTargets && targets && i >= upper_blocks() ? full_end : 1 << 30;
  }

  // Blocks, the first ones in the order of visits, of which some of the rows do not see all: what follows all of them
  // see wholly, though other rows of the tile may not.
  HSTU_PRIM int masked_blocks(const RowsView<Config>& rows) const {
    int masked = partial;
    while (masked > upper_blocks() && rows.sees_all(key_begin(masked - 1), key_begin(masked - 1) + Config::kBlockN))
      --masked;
    return masked;
  }
};

}  // namespace hstu::variant
