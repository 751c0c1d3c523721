// Element types and fixed-width integers for device code, and the packing between them and float. No CUDA header is
// needed: a production container has NVRTC and the driver only, so conversions are single PTX instructions.
//
// Constants outside functions are enumerators everywhere in kernels/: NVRTC gives a constexpr variable, used or not, a
// place in the module's memory, and the driver takes four times as long to load a module that has such memory.
#pragma once

#ifdef __CUDACC__
#define HSTU_PRIM __device__ __forceinline__
#else
#error "kernels/prim is device code: compile it with NVRTC or nvcc"
#endif

namespace hstu {

using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;
using i32 = int;
using i64 = long long;

// Sixteen stored bits. Arithmetic happens in float (or in the tensor cores); these only name the storage.
struct bf16 {
  u16 bits;
};
struct f16 {
  u16 bits;
};

// Eight stored bits.
struct e4m3 {
  u8 bits;
};
struct e5m2 {
  u8 bits;
};

namespace prim {

// Two floats to one register, round to nearest even; lo goes to bits 0-15, hi to bits 16-31.
template <class Element>
HSTU_PRIM u32 pack2(float lo, float hi);
template <>
HSTU_PRIM u32 pack2<bf16>(float lo, float hi) {
  u32 r;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(hi), "f"(lo));
  return r;
}
template <>
HSTU_PRIM u32 pack2<f16>(float lo, float hi) {
  u32 r;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(hi), "f"(lo));
  return r;
}

// The float held in the low or high half of a packed pair; exact.
template <class Element>
HSTU_PRIM float unpack_lo(u32 pair);
template <class Element>
HSTU_PRIM float unpack_hi(u32 pair);
template <>
HSTU_PRIM float unpack_lo<bf16>(u32 pair) {
  return __uint_as_float(pair << 16);
}
template <>
HSTU_PRIM float unpack_hi<bf16>(u32 pair) {
  return __uint_as_float(pair & 0xffff0000u);
}
template <>
HSTU_PRIM float unpack_lo<f16>(u32 pair) {
  float f;
  asm("{\n .reg .b16 l, h;\n mov.b32 {l, h}, %1;\n cvt.f32.f16 %0, l;\n}" : "=f"(f) : "r"(pair));
  return f;
}
template <>
HSTU_PRIM float unpack_hi<f16>(u32 pair) {
  float f;
  asm("{\n .reg .b16 l, h;\n mov.b32 {l, h}, %1;\n cvt.f32.f16 %0, h;\n}" : "=f"(f) : "r"(pair));
  return f;
}

// One element, for tails and scalar paths; float passes through.
HSTU_PRIM float to_float(float x) { return x; }
HSTU_PRIM float to_float(bf16 x) { return unpack_lo<bf16>(x.bits); }
HSTU_PRIM float to_float(f16 x) { return unpack_lo<f16>(x.bits); }

template <class Element>
HSTU_PRIM Element from_float(float x) {
  return Element{static_cast<u16>(pack2<Element>(x, 0.0f))};
}
template <>
HSTU_PRIM float from_float<float>(float x) {
  return x;
}

}  // namespace prim
}  // namespace hstu
