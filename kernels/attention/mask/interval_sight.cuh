// mask/tile_sight.cuh of masks given as data, which are asked row by row: any tile may have something to see.
#pragma once
#include "attention/mask/interval_mask.cuh"
#include "attention/mask/tile_sight.cuh"
#include "prim/types.cuh"

namespace hstu::variant {

template <class Config>
HSTU_PRIM bool sees_some(const IntervalBounds<Config>&, int, int last, int, int key_end) {
  return last > 0 && key_end > 0;
}
template <class Config>
HSTU_PRIM bool sees_all(const IntervalBounds<Config>&, int, int, int, int) {
  return false;
}
template <class Config>
HSTU_PRIM u32 row_bits(const IntervalBounds<Config>& mask, int i, int key) {
  return i >= 0 && i < mask.length ? mask.bits_of(i, key) : 0;
}

template <class Config, class Params>
HSTU_PRIM void place_mask(IntervalBounds<Config>& mask, const Params& p, int, int head, i64 row, int n) {
  mask.place(p, head, row, n);
}
template <class Config, class Params>
HSTU_PRIM void move_mask(IntervalBounds<Config>& mask, const Params& p, int head, i64 row) {
  mask.place(p, head, row, mask.length);
}

}  // namespace hstu::variant
