// Where a thread stands, and moving values between the lanes of a warp.
#pragma once
#include "prim/types.cuh"

namespace hstu::prim {

enum : u32 { kFullWarp = 0xffffffffu };

HSTU_PRIM u32 lane_id() {
  u32 r;
  asm("mov.u32 %0, %%laneid;" : "=r"(r));
  return r;
}

// threadIdx.x, read anew at each call: what is derived from it does not occupy registers across a long loop.
HSTU_PRIM u32 thread_id() {
  u32 r;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(r));
  return r;
}

// x, which all lanes have, in a register the compiler knows to be warp-uniform. For all lanes together, as warp_id()
// is: in a branch that some of them leave out it hangs.
HSTU_PRIM u32 uniform(u32 x) { return __shfl_sync(kFullWarp, x, 0); }

// The warp's index in its block.
HSTU_PRIM u32 warp_id() { return uniform(threadIdx.x >> 5); }

// The number of this launch, different from all others of the context (PTX ISA "%gridid").
HSTU_PRIM u64 grid_id() {
  u64 r;
  asm volatile("mov.u64 %0, %%gridid;" : "=l"(r));
  return r;
}

// 0 in a grid whose z extent is 1, which the compiler cannot know.
HSTU_PRIM u32 opaque_zero() {
  u32 r;
  asm("mov.u32 %0, %%ctaid.z;" : "=r"(r));
  return r;
}

// p itself, opaque to the compiler from here on: accesses at p + constant then share one address instead of getting a
// sum each.
template <class T>
HSTU_PRIM T* opaque(T* p) {
  asm("" : "+l"(p));
  return p;
}

// The same for a number: it stays in one register, and no part of it is shared with other sums. A number that comes
// from memory is not waited for before.
HSTU_PRIM i32 opaque(i32 x) {
  asm volatile("" : "+r"(x));
  return x;
}
HSTU_PRIM i64 opaque(i64 x) {
  asm volatile("" : "+l"(x));
  return x;
}
HSTU_PRIM u32 opaque(u32 x) {
  asm volatile("" : "+r"(x));
  return x;
}

// 32-bit shared-window address of a shared-memory pointer, as cp.async, ldmatrix and the barriers take it.
HSTU_PRIM u32 smem_addr(const void* p) { return static_cast<u32>(__cvta_generic_to_shared(p)); }

// Sum over groups of `Width` neighbouring lanes (a power of two); every lane gets its group's sum.
template <int Width = 32>
HSTU_PRIM float lane_sum(float x) {
#pragma unroll
  for (int offset = Width / 2; offset > 0; offset /= 2) x += __shfl_xor_sync(kFullWarp, x, offset);
  return x;
}
// Sums for several values at once; their shuffles overlap.
template <int Width, int Count>
HSTU_PRIM void lane_sums(float (&x)[Count]) {
#pragma unroll
  for (int offset = Width / 2; offset > 0; offset /= 2) {
#pragma unroll
    for (int i = 0; i < Count; ++i) x[i] += __shfl_xor_sync(kFullWarp, x[i], offset);
  }
}

// The sum of all lanes' numbers.
HSTU_PRIM u32 lane_add(u32 x) {
  u32 r;
  asm volatile("redux.sync.add.u32 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(kFullWarp));
  return r;
}

// Maximum of the unsigned numbers of groups of `Width` neighbouring lanes; every lane gets its group's.
template <int Width = 32>
HSTU_PRIM u32 lane_max(u32 x) {
  if constexpr (Width == 32) {
    u32 r;
    asm volatile("redux.sync.max.u32 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(kFullWarp));
    return r;
  } else {
#pragma unroll
    for (int offset = Width / 2; offset > 0; offset /= 2) x = max(x, __shfl_xor_sync(kFullWarp, x, offset));
    return x;
  }
}

// The maximum of floats, one or several at once; NaN is passed over.
template <int Width = 32>
HSTU_PRIM float lane_max(float x) {
#pragma unroll
  for (int offset = Width / 2; offset > 0; offset /= 2) x = fmaxf(x, __shfl_xor_sync(kFullWarp, x, offset));
  return x;
}
template <int Width, int Count>
HSTU_PRIM void lane_maxima(float (&x)[Count]) {
#pragma unroll
  for (int offset = Width / 2; offset > 0; offset /= 2) {
#pragma unroll
    for (int i = 0; i < Count; ++i) x[i] = fmaxf(x[i], __shfl_xor_sync(kFullWarp, x[i], offset));
  }
}

}  // namespace hstu::prim
