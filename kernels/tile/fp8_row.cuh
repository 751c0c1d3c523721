// What the FP8 quantisers share: which elements have one scale, packs of FP8, amax (the largest magnitude), and the
// scale that follows from it.
#pragma once
#include "prim/fp8.cuh"
#include "prim/lanes.cuh"
#include "prim/math.cuh"
#include "tile/row_pack.cuh"

namespace hstu::tile {

// A unit, the elements under one scale: the tensor, a row, 128 columns of a row, a block of 128 rows and columns.
enum : int { kPerTensor = 0, kPerRow = 1, kPerGroup = 2, kPerBlock = 3 };
enum : int { kScaleSpan = 128 };

template <class Fp8, int Count>
HSTU_PRIM void pack_fp8(RowPack<Fp8, Count>& to, const float (&value)[Count], float multiplier) {
#pragma unroll
  for (u32& word : to.word) word = 0;
#pragma unroll
  for (int i = 0; i < Count; i += 2) {
    const u32 pair = prim::pack2_fp8<Fp8>(value[i] * multiplier, i + 1 < Count ? value[i + 1] * multiplier : 0.0f);
    to.word[i / 4] |= pair << (i % 4 * 8);
  }
}

template <class Fp8, int Count>
HSTU_PRIM void unpack_fp8(float (&value)[Count], const RowPack<Fp8, Count>& from) {
#pragma unroll
  for (int i = 0; i < Count; i += 2) {
    const u32 pair = prim::unpack2_fp8<Fp8>(from.word[i / 4] >> (i % 4 * 8));
    value[i] = prim::unpack_lo<f16>(pair);
    if (i + 1 < Count) value[i + 1] = prim::unpack_hi<f16>(pair);
  }
}

// The amax of what was added so far, in the form that is cheapest for Element. As bits of a float, magnitudes compare
// like unsigned numbers and NaN is above infinity, so that it is never lost.
template <class Element>
struct Amax {
  u32 bits = 0;  // of a float; or of a pair of 16-bit elements

  template <int Count>
  HSTU_PRIM void add(const RowPack<Element, Count>& pack) {
#pragma unroll
    for (const u32 word : pack.word) {
      if constexpr (sizeof(Element) == 4)
        bits = max(bits, word & 0x7fffffffu);
      else
        bits = prim::max2<Element>(bits, word & 0x7fff7fffu);
    }
  }

  // As bits of a float.
  HSTU_PRIM u32 value() const {
    if constexpr (sizeof(Element) == 4)
      return bits;
    else
      return max(__float_as_uint(prim::unpack_lo<Element>(bits)), __float_as_uint(prim::unpack_hi<Element>(bits)));
  }
};

// A unit's scale from its amax, given as bits of a float: descale = amax / L, and elements are multiplied with L /
// amax, L the largest FP8 value; each is rounded once. `amin` stands for an amax so small that dividing by it would
// overflow.
template <class Fp8>
struct UnitScale {
  float amax;

  HSTU_PRIM explicit UnitScale(u32 bits, float amin = 1e-12f)
      : amax(__uint_as_float(max(bits, __float_as_uint(amin)))) {}
  HSTU_PRIM float descale() const { return prim::div_exact(amax, prim::Fp8Format<Fp8>::kLargest); }
  HSTU_PRIM float multiplier() const { return prim::div_exact(prim::Fp8Format<Fp8>::kLargest, amax); }
};

}  // namespace hstu::tile
