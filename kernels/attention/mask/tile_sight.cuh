// What rows of a sequence see of a tile of its keys, for kernels that visit tiles by asking each: gradients walk the
// keys of a block of rows, or the rows of a block of keys, with one and the same question. Plain integer arithmetic.
//
// Tiles hang over the start of their sequence; what lies before it is neither row nor key.
#pragma once
#include "attention/mask/hstu_mask.cuh"
#include "prim/types.cuh"

namespace hstu::variant {

// Whether some row of [first, last) may see some key of [key, key_end). No: none does.
template <class Config>
HSTU_PRIM bool sees_some(const HstuMask<Config>& mask, int first, int last, int key, int key_end) {
  first = max_int(first, 0);
  if (last <= first || key_end <= 0) return false;
  if (key < mask.limit_max(first, last) && key_end > mask.low_min(first, last)) return true;
  return Config::kCausal && key < last && key_end > mask.own(first);
}
// Whether each row of [first, last) sees each key of [key, key_end). No: perhaps not all do. Keys before the sequence
// are zeros: harmless to silu, but under softmax nobody sees them.
template <class Config>
HSTU_PRIM bool sees_all(const HstuMask<Config>& mask, int first, int last, int key, int key_end) {
  first = max_int(first, 0);
  if (Config::kSoftmax && key < 0) return false;
  return last > first && max_int(key, 0) >= mask.low_max(first, last) && key_end <= mask.limit_min(first, last);
}
// Which of the keys key + 0 ... key + 31 row i sees; of rows before the sequence anything.
template <class Config>
HSTU_PRIM u32 row_bits(const HstuMask<Config>& mask, int i, int key) {
  const u32 seen = mask.seen_bits(i, key);
  return Config::kSoftmax ? seen & ~bits_below(-key) : seen;
}

// The mask of a sequence of n rows that begins at `row` of q.
template <class Config, class Params>
HSTU_PRIM void place_mask(HstuMask<Config>& mask, const Params& p, int seq, int, i64, int n) {
  mask = HstuMask<Config>(p, seq, n);
}
// The same of another head.
template <class Config, class Params>
HSTU_PRIM void move_mask(HstuMask<Config>&, const Params&, int, i64) {}

}  // namespace hstu::variant
