// The key blocks that a tile of query rows visits, for kernels whose rows and key blocks count from the sequence's
// start (attn_fwd_sm90), and what parts of its rows see of them.
//
// Keys of a plan lie in two ranges (attention/mask/hstu_mask.cuh): `upper`, keys that only the rows' own target groups
// reach, or that lie apart, and `lower`, the union of the rows' intervals. Both are cut into blocks of kBlockN from
// their first key on, so only a range's last block hangs over, and only at its end; the upper range's are visited
// first. (With per-block scales the first block of a range ends where others of the tensor would,
// attention/variant/scale_blocks.cuh: what hangs over there is to be loaded as zeros.) What rows see of either range
// are neighbouring blocks, and so are those among them that need no mask. Targets all see the same interval: what hangs
// over there is to be loaded as zeros, whose silu is 0, and its block counts as seen wholly; under softmax or a bias it
// does not, and there its keys behind the range's end, which may be the upper range's, are to be hidden. Under a bias,
// whose columns TMA fetches from multiples of 16 bytes on, both ranges begin at such keys.
#pragma once
#include "attention/mask/hstu_mask.cuh"
#include "attention/variant/scale_blocks.cuh"

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

// Blocks [begin, end) of a plan, those that some rows see keys of; [full_begin, full_end) all of them see wholly.
struct BlockRange {
  int begin, full_begin, full_end, end;

  HSTU_PRIM bool is_full(int block) const { return block >= full_begin && block < full_end; }
};

// How keys lie: as neighbours, or apart, those of targets in one place and `cached` others in another, of which a block
// begins at a multiple of kAlign.
struct NeighbouringKeys {
  enum : int { kAlign = 1 };
  enum : bool { kApart = false };
  int cached = 0;
};

template <class Config>
struct RowTilePlan : BlockLeads<Config::kBlockN, block_scales<Config>(0)> {
  enum : int { kBlockN = Config::kBlockN, kBiasAlign = Config::kBias ? 8 : 1 };
  int lower_begin, upper_begin;
  int upper_blocks, blocks;
  int full_end;  // lower keys from here on are to be zeros
  bool targets;  // all rows are targets, whose own groups are the upper range
  bool apart;    // the upper range holds the keys that lie apart

  RowTilePlan() = default;
  // Rows [first, last) of the sequence, not empty. start: row of the tensor that is its position 0.
  template <class Keys = NeighbouringKeys>
  HSTU_PRIM RowTilePlan(const HstuMask<Config>& mask, int first, int last, const Keys& keys = {}, i64 start = 0) {
    constexpr bool kApart = Keys::kApart && Config::kHasTargets;
    const int shared_end = mask.limit_max(first, last), own_begin = mask.own(first);
    const int align = max_int(Keys::kAlign, kBiasAlign);
    lower_begin = mask.low_min(first, last) / align * align;
    targets = Config::kHasTargets && shared_end <= own_begin && (!kApart || own_begin >= keys.cached);
    apart = kApart && !targets;
    int lower_end = targets || !Config::kCausal ? shared_end : max_int(shared_end, last);
    if (apart) lower_end = min_int(lower_end, keys.cached);
    upper_begin = apart ? keys.cached : kApart ? own_begin : own_begin / kBiasAlign * kBiasAlign;
    if (Config::kBias && targets) lower_end = min_int(lower_end, upper_begin);
    this->set_leads(start, lower_begin, upper_begin);
    upper_blocks = targets || apart ? blocks_until(last, upper_begin, this->upper_lead) : 0;
    full_end = targets ? lower_end : mask.length;
    blocks = upper_blocks + blocks_until(lower_end, lower_begin, this->lower_lead);
  }

  // First key of block i in the order of visits.
  HSTU_PRIM int key_begin(int i) const {
    return i < upper_blocks ? upper_begin + max_int(i * kBlockN - this->upper_lead, 0)
                            : lower_begin + max_int((i - upper_blocks) * kBlockN - this->lower_lead, 0);
  }
  // Where block i is to be loaded as zeros from, of a sequence of `length` keys.
  HSTU_PRIM int keys_end(int i, int length) const {
    const int end = Config::kHasTargets && i >= upper_blocks ? full_end : length;
    if constexpr (!block_scales<Config>(0)) return end;
    const int next = i < upper_blocks ? upper_begin - this->upper_lead + (i + 1) * kBlockN
                                      : lower_begin - this->lower_lead + (i + 1 - upper_blocks) * kBlockN;
    return min_int(end, next);
  }
  // Where the range of block i ends; far behind all keys unless that is in another range's way.
  HSTU_PRIM int end_of(int i) const { return Config::kHasTargets && targets && i >= upper_blocks ? full_end : 1 << 30; }

  // What some of the tile's rows see of either range, in the order of visits. zero_is_nothing: keys that are zeros add
  // nothing.
  HSTU_PRIM BlockRange upper(const RowsView<Config>& rows) const {
    if (!rows.any) return {0, 0, 0, 0};
    const bool shares = rows.seen_end > upper_begin && rows.seen_begin < rows.own_begin;
    const int from = shares ? rows.seen_begin : rows.own_begin;
    const int begin = min_int((max_int(from - upper_begin, 0) + this->upper_lead) / kBlockN, upper_blocks);
    const int end = min_int(blocks_until(rows.last, upper_begin, this->upper_lead), upper_blocks);
    return {begin, end, end, end};
  }
  HSTU_PRIM BlockRange lower(const RowsView<Config>& rows, bool zero_is_nothing = true) const {
    const int count = blocks - upper_blocks;
    if (!rows.any) return {upper_blocks, upper_blocks, upper_blocks, upper_blocks};
    const int reached = targets ? rows.seen_end : max_int(rows.seen_end, rows.last);
    const int lead = this->lower_lead;
    const int end = min_int(blocks_until(reached, lower_begin, lead), count);
    const int begin = min_int((rows.seen_begin - lower_begin + lead) / kBlockN, end);
    const int full_from = blocks_until(rows.full_begin, lower_begin, lead);
    const int full_until =
        targets && zero_is_nothing
            ? end
            : min_int((max_int(min_int(rows.full_end, full_end) - lower_begin, 0) + lead) / kBlockN, end);
    const bool any_full = full_from < full_until;
    return {upper_blocks + begin, upper_blocks + (any_full ? full_from : end),
            upper_blocks + (any_full ? full_until : end), upper_blocks + end};
  }

 private:
  // Blocks of a range that have keys before `end`, its first shorter by `lead`.
  HSTU_PRIM static int blocks_until(int end, int begin, int lead) {
    return end > begin ? (end - begin + lead + kBlockN - 1) / kBlockN : 0;
  }
};

}  // namespace hstu::variant
