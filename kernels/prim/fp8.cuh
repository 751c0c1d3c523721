// Conversions of FP8: e4m3 (finite; bias 7, largest 448, NaN 0x7f) and e5m2 (bias 15, largest 57344, infinity 0x7c).
// sm_89 and later have instructions for them; before, integer arithmetic gives the same bits.
// PTX ISA "cvt", types .e4m3x2 and .e5m2x2.
#pragma once
#include "prim/types.cuh"

namespace hstu::prim {

// What the formats differ in.
template <class Fp8>
struct Fp8Format;
template <>
struct Fp8Format<e4m3> {
  enum : int { kMantissaBits = 3, kBias = 7, kLargest = 448 };
};
template <>
struct Fp8Format<e5m2> {
  enum : int { kMantissaBits = 2, kBias = 15, kLargest = 57344 };
};

#if __CUDA_ARCH__ >= 890
// Two floats to 16 bits, lo in bits 0-7: round to nearest even, saturating at the largest value; NaN stays NaN.
template <class Fp8>
HSTU_PRIM u32 pack2_fp8(float lo, float hi);
template <>
HSTU_PRIM u32 pack2_fp8<e4m3>(float lo, float hi) {
  u16 r;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(r) : "f"(hi), "f"(lo));
  return r;
}
template <>
HSTU_PRIM u32 pack2_fp8<e5m2>(float lo, float hi) {
  u16 r;
  asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(r) : "f"(hi), "f"(lo));
  return r;
}
// Four floats to a word, the first in bits 0-7.
template <class Fp8>
HSTU_PRIM u32 pack4_fp8(float a, float b, float c, float d);
template <>
HSTU_PRIM u32 pack4_fp8<e4m3>(float a, float b, float c, float d) {
  u32 r;
  asm("{\n .reg .b16 l, h;\n cvt.rn.satfinite.e4m3x2.f32 l, %2, %1;\n cvt.rn.satfinite.e4m3x2.f32 h, %4, %3;\n"
      " mov.b32 %0, {l, h};\n}"
      : "=r"(r)
      : "f"(a), "f"(b), "f"(c), "f"(d));
  return r;
}

// The two values in bits 0-15 as a pair of f16; exact.
template <class Fp8>
HSTU_PRIM u32 unpack2_fp8(u32 pair);
template <>
HSTU_PRIM u32 unpack2_fp8<e4m3>(u32 pair) {
  u32 r;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(r) : "h"(static_cast<u16>(pair)));
  return r;
}
template <>
HSTU_PRIM u32 unpack2_fp8<e5m2>(u32 pair) {
  u32 r;
  asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(r) : "h"(static_cast<u16>(pair)));
  return r;
}
#else
// One float; the bits that the instruction of sm_89 gives.
template <class Fp8>
HSTU_PRIM u32 round_fp8(float x) {
  using Format = Fp8Format<Fp8>;
  constexpr int kDropped = 23 - Format::kMantissaBits;
  constexpr u32 kInfinity = 0x7f800000u, kHalf = (1u << (kDropped - 1)) - 1;
  constexpr u32 kLeastNormal = static_cast<u32>(128 - Format::kBias) << 23;  // bits of 2^(1 - bias)
  // Adding this power of two leaves the units of the subnormals as the lowest bits of the sum.
  constexpr u32 kAlign = static_cast<u32>(127 + 24 - Format::kBias - Format::kMantissaBits) << 23;
  const u32 bits = __float_as_uint(x), sign = bits >> 24 & 0x80;
  const u32 size = min(bits & 0x7fffffffu, __float_as_uint(Format::kLargest));
  const u32 normal = ((size + kHalf + (size >> kDropped & 1)) >> kDropped) -
                     (static_cast<u32>(127 - Format::kBias) << Format::kMantissaBits);
  const u32 subnormal = __float_as_uint(__uint_as_float(size) + __uint_as_float(kAlign)) - kAlign;
  const u32 value = size < kLeastNormal ? subnormal : normal;
  return sign | ((bits & 0x7fffffffu) > kInfinity ? 0x7f : value);
}
template <class Fp8>
HSTU_PRIM u32 pack2_fp8(float lo, float hi) {
  return round_fp8<Fp8>(lo) | round_fp8<Fp8>(hi) << 8;
}

template <class Fp8>
HSTU_PRIM u32 unpack2_fp8(u32 pair);
// The exponent moves one place down the f16, which is 2^8 too small then; only NaN needs help.
template <>
HSTU_PRIM u32 unpack2_fp8<e4m3>(u32 pair) {
  const u32 spread = __byte_perm(pair, 0, 0x1404);  // the bytes as upper halves
  const u32 moved = (spread & 0x80008000u) | (spread & 0x7f007f00u) >> 1;
  u32 scaled;
  asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(scaled) : "r"(moved), "r"(0x5c005c00u));  // 2^8
  const u32 nan = ((spread & 0x7f007f00u) + 0x01000100u) & 0x80008000u;           // only 0x7f carries
  return scaled | (nan - (nan >> 6));
}
// An e5m2 is the upper byte of an f16.
template <>
HSTU_PRIM u32 unpack2_fp8<e5m2>(u32 pair) {
  return __byte_perm(pair, 0, 0x1404);
}
#endif

}  // namespace hstu::prim
