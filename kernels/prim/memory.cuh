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
HSTU_PRIM void st_global(void* p, const Quad& q) {
  asm volatile("st.global.v4.u32 [%0], {%1,%2,%3,%4};" ::"l"(p), "r"(q.word[0]), "r"(q.word[1]), "r"(q.word[2]),
               "r"(q.word[3])
               : "memory");
}
// Rows of a matrix: narrow accesses for rows that are not 16-byte aligned, and 16 bytes that stay out of L1 although
// the kernel may write the same memory later.
struct alignas(8) Pair {
  u32 word[2];
};

HSTU_PRIM Quad ld_global_once(const void* p) {
  Quad q;
  asm volatile("ld.global.L1::no_allocate.L2::128B.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(q.word[0]), "=r"(q.word[1]), "=r"(q.word[2]), "=r"(q.word[3])
               : "l"(p));
  return q;
}
HSTU_PRIM Pair ld_global8(const void* p) {
  Pair q;
  asm volatile("ld.global.v2.u32 {%0,%1}, [%2];" : "=r"(q.word[0]), "=r"(q.word[1]) : "l"(p));
  return q;
}
HSTU_PRIM u32 ld_global4(const void* p) {
  u32 w;
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(w) : "l"(p));
  return w;
}
HSTU_PRIM u32 ld_global2(const void* p) {  // zero-extended
  u16 w;
  asm volatile("ld.global.u16 %0, [%1];" : "=h"(w) : "l"(p));
  return w;
}
HSTU_PRIM u32 ld_global1(const void* p) {  // zero-extended
  u32 w;
  asm volatile("ld.global.u8 %0, [%1];" : "=r"(w) : "l"(p));
  return w;
}
HSTU_PRIM void st_global1(void* p, u32 w) {  // the low byte
  asm volatile("st.global.u8 [%0], %1;" ::"l"(p), "r"(w) : "memory");
}
HSTU_PRIM void st_global8(void* p, const Pair& q) {
  asm volatile("st.global.v2.u32 [%0], {%1,%2};" ::"l"(p), "r"(q.word[0]), "r"(q.word[1]) : "memory");
}
HSTU_PRIM void st_global4(void* p, u32 w) { asm volatile("st.global.u32 [%0], %1;" ::"l"(p), "r"(w) : "memory"); }
HSTU_PRIM void st_global2(void* p, u32 w) {  // the low half
  asm volatile("st.global.u16 [%0], %1;" ::"l"(p), "h"(static_cast<u16>(w)) : "memory");
}
HSTU_PRIM Quad ld_shared(u32 addr) {
  Quad q;
  asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(q.word[0]), "=r"(q.word[1]), "=r"(q.word[2]), "=r"(q.word[3])
               : "r"(addr)
               : "memory");
  return q;
}
HSTU_PRIM u32 ld_shared4(u32 addr) {
  u32 w;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(w) : "r"(addr) : "memory");
  return w;
}
HSTU_PRIM u32 ld_shared2(u32 addr) {  // zero-extended
  u16 w;
  asm volatile("ld.shared.u16 %0, [%1];" : "=h"(w) : "r"(addr) : "memory");
  return w;
}
HSTU_PRIM u32 ld_shared1(u32 addr) {  // zero-extended
  u32 w;
  asm volatile("ld.shared.u8 %0, [%1];" : "=r"(w) : "r"(addr) : "memory");
  return w;
}
HSTU_PRIM Pair ld_shared8(u32 addr) {
  Pair q;
  asm volatile("ld.shared.v2.u32 {%0,%1}, [%2];" : "=r"(q.word[0]), "=r"(q.word[1]) : "r"(addr) : "memory");
  return q;
}
HSTU_PRIM void st_shared(u32 addr, const Pair& q) {
  asm volatile("st.shared.v2.u32 [%0], {%1,%2};" ::"r"(addr), "r"(q.word[0]), "r"(q.word[1]) : "memory");
}
HSTU_PRIM void st_shared(u32 addr, u32 word) {
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(addr), "r"(word) : "memory");
}
HSTU_PRIM void st_shared2(u32 addr, u32 w) {  // the low half
  asm volatile("st.shared.u16 [%0], %1;" ::"r"(addr), "h"(static_cast<u16>(w)) : "memory");
}
HSTU_PRIM void st_shared1(u32 addr, u32 w) {  // the low byte
  asm volatile("st.shared.u8 [%0], %1;" ::"r"(addr), "r"(w) : "memory");
}
HSTU_PRIM void st_shared(u32 addr, const Quad& q) {
  asm volatile("st.shared.v4.u32 [%0], {%1,%2,%3,%4};" ::"r"(addr), "r"(q.word[0]), "r"(q.word[1]), "r"(q.word[2]),
               "r"(q.word[3])
               : "memory");
}

// Brings the line of p to L2 ahead of its use.
HSTU_PRIM void prefetch_l2(const void* p) { asm volatile("prefetch.global.L2 [%0];" ::"l"(p)); }

// The same for `bytes` from p on, both multiples of 16, by one thread (sm_90; elsewhere nothing).
HSTU_PRIM void bulk_prefetch_l2(const void* p, u32 bytes) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(p), "r"(bytes));
#endif
}

// CUDA's atomicExch and atomicCAS give the module variables of their own (prim/types.cuh), these do not.
//
// Puts `to` where `from` was and returns what was there; what the thread does next, it does after.
HSTU_PRIM u32 compare_and_swap_acquire(u32* p, u32 from, u32 to) {
  u32 found;
  asm volatile("atom.acquire.gpu.global.cas.b32 %0, [%1], %2, %3;"
               : "=r"(found)
               : "l"(p), "r"(from), "r"(to)
               : "memory");
  return found;
}
HSTU_PRIM u64 compare_and_swap_acquire(u64* p, u64 from, u64 to) {
  u64 found;
  asm volatile("atom.acquire.gpu.global.cas.b64 %0, [%1], %2, %3;"
               : "=l"(found)
               : "l"(p), "l"(from), "l"(to)
               : "memory");
  return found;
}
// Adds 1, or begins anew at 2^32 - 2, and returns what was there. Each lane's by itself: of additions the compiler
// makes one for all lanes, and waits for its result at once, to hand it out.
HSTU_PRIM u32 fetch_increment(u32* p) {
  u32 found;
  asm volatile("atom.relaxed.gpu.global.inc.u32 %0, [%1], 0xfffffffe;" : "=r"(found) : "l"(p) : "memory");
  return found;
}
// Puts `to` there, in one order with other threads' operations on it.
HSTU_PRIM u32 exchange(u32* p, u32 to) {
  u32 found;
  asm volatile("atom.relaxed.gpu.global.exch.b32 %0, [%1], %2;" : "=r"(found) : "l"(p), "r"(to) : "memory");
  return found;
}
HSTU_PRIM u64 exchange(u64* p, u64 to) {
  u64 found;
  asm volatile("atom.relaxed.gpu.global.exch.b64 %0, [%1], %2;" : "=l"(found) : "l"(p), "l"(to) : "memory");
  return found;
}

}  // namespace hstu::prim
