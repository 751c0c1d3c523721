// Fragments to shared memory, the reverse of ldmatrix (sm_90): of each 8x8 matrix lane l gives the words of row l / 4,
// columns 2 (l % 4) and the next; lanes 8i to 8i + 7 give the addresses of the 16-byte rows of matrix i. PTX ISA
// "stmatrix".
#pragma once
#include "prim/types.cuh"

namespace hstu::prim {

HSTU_PRIM void stmatrix_x4(u32 addr, u32 m0, u32 m1, u32 m2, u32 m3) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared::cta.b16 [%0], {%1, %2, %3, %4};" ::"r"(addr), "r"(m0), "r"(m1),
               "r"(m2), "r"(m3)
               : "memory");
}

}  // namespace hstu::prim
