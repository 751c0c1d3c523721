// Global and shared memory accesses of up to 16 bytes with their cache hints.
#pragma once
#include "prim/types.cuh"

namespace hstu::prim {

struct alignas(16) Quad {
  u32 word[4];
};

HSTU_PRIM Quad ld_global(const void* p) {
  Quad q;
  asm volatile("ld.global.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(q.word[0]), "=r"(q.word[1]), "=r"(q.word[2]), "=r"(q.word[3])
               : "l"(p));
  return q;
}
// For data read once: keeps it out of L1. The memory must not be written during the kernel.
HSTU_PRIM Quad ld_global_stream(const void* p) {
  Quad q;
  asm volatile("ld.global.nc.L1::no_allocate.L2::128B.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(q.word[0]), "=r"(q.word[1]), "=r"(q.word[2]), "=r"(q.word[3])
               : "l"(p));
  return q;
}
HSTU_PRIM void st_global(void* p, const Quad& q) {
  asm volatile("st.global.v4.u32 [%0], {%1,%2,%3,%4};" ::"l"(p), "r"(q.word[0]), "r"(q.word[1]), "r"(q.word[2]),
               "r"(q.word[3])
               : "memory");
}
HSTU_PRIM void st_global_stream(void* p, const Quad& q) {
  asm volatile("st.global.cs.v4.u32 [%0], {%1,%2,%3,%4};" ::"l"(p), "r"(q.word[0]), "r"(q.word[1]), "r"(q.word[2]),
               "r"(q.word[3])
               : "memory");
}
HSTU_PRIM Quad ld_shared(u32 addr) {
  Quad q;
  asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(q.word[0]), "=r"(q.word[1]), "=r"(q.word[2]), "=r"(q.word[3])
               : "r"(addr)
               : "memory");
  return q;
}
HSTU_PRIM void st_shared(u32 addr, u32 word) {
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(addr), "r"(word) : "memory");
}
HSTU_PRIM void st_shared(u32 addr, const Quad& q) {
  asm volatile("st.shared.v4.u32 [%0], {%1,%2,%3,%4};" ::"r"(addr), "r"(q.word[0]), "r"(q.word[1]), "r"(q.word[2]),
               "r"(q.word[3])
               : "memory");
}

}  // namespace hstu::prim
