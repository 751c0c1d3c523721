// Warp-wide matrix products of the sm_80 generation: ldmatrix and mma.sync m16n8k16. With g = lane / 4, t = lane % 4:
//   A (16x16)    a0 (g, 2t)  a1 (g+8, 2t)  a2 (g, 2t+8)  a3 (g+8, 2t+8), each two consecutive k
//   B (16x8)     b0 (k = 2t, n = g)  b1 (k = 2t+8, n = g), likewise
//   C, D (16x8)  c0,c1 (g, 2t)  c2,c3 (g+8, 2t)
// PTX ISA "Matrix Fragments for mma.m16n8k16 with floating point type", "ldmatrix".
#pragma once
#include "prim/types.cuh"

namespace hstu::prim {

// Lanes 8i..8i+7 give the addresses of the eight 16-byte rows of matrix i.
HSTU_PRIM void ldmatrix_x4(u32 (&r)[4], u32 addr) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(addr)
               : "memory");
}
HSTU_PRIM void ldmatrix_x4_trans(u32 (&r)[4], u32 addr) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(addr)
               : "memory");
}

// d += a * b for one warp, 16x8x16, f32 accumulators.
template <class Element>
HSTU_PRIM void mma_m16n8k16(float (&d)[4], const u32 (&a)[4], u32 b0, u32 b1);
template <>
HSTU_PRIM void mma_m16n8k16<bf16>(float (&d)[4], const u32 (&a)[4], u32 b0, u32 b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
template <>
HSTU_PRIM void mma_m16n8k16<f16>(float (&d)[4], const u32 (&a)[4], u32 b0, u32 b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// tf32, 16x8x8: with a register per element, A and B lie as above with k in steps of one instead of two, and 4 for 8.
// The hardware ignores the low 13 bits of each operand.
HSTU_PRIM void mma_m16n8k8_tf32(float (&d)[4], const u32 (&a)[4], u32 b0, u32 b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
      "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
// The nearest tf32, ties away from zero.
HSTU_PRIM u32 round_tf32(float x) {
  u32 r;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(x));
  return r;
}

#if __CUDA_ARCH__ == 890
// FP8, 16x8x32 (sm_89): each register holds four consecutive k where a 16-bit type's holds two. Sums keep about 14
// bits: they are to be added up elsewhere every 128 k.
template <class A, class B>
HSTU_PRIM void mma_m16n8k32(float (&d)[4], const u32 (&a)[4], u32 b0, u32 b1);
#define HSTU_MMA_FP8(type_a, type_b)                                                            \
  template <>                                                                                   \
  HSTU_PRIM void mma_m16n8k32<type_a, type_b>(float(&d)[4], const u32(&a)[4], u32 b0, u32 b1) { \
    asm volatile("mma.sync.aligned.m16n8k32.row.col.f32." #type_a "." #type_b                   \
                 ".f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"                   \
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                               \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));               \
  }
HSTU_MMA_FP8(e4m3, e4m3)
HSTU_MMA_FP8(e4m3, e5m2)
HSTU_MMA_FP8(e5m2, e4m3)
HSTU_MMA_FP8(e5m2, e5m2)
#undef HSTU_MMA_FP8
#endif

}  // namespace hstu::prim
