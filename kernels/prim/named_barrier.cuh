// Barriers among some warps of a block. PTX ISA "bar.sync"; barrier 0 is __syncthreads().
#pragma once
#include "prim/types.cuh"

namespace hstu::prim {

// Waits until `threads` threads (whole warps, the same ones each time) have come to barrier `id`, 1 to 15. What they
// wrote to shared memory before is visible after.
HSTU_PRIM void named_barrier_sync(u32 id, u32 threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
// The same with both known when compiled, which reserves that barrier only; and arriving without waiting, counted among
// its threads.
template <int kId, int kThreads>
HSTU_PRIM void named_barrier_sync() {
  asm volatile("bar.sync %0, %1;" ::"n"(kId), "n"(kThreads) : "memory");
}
template <int kId, int kThreads>
HSTU_PRIM void named_barrier_arrive() {
  asm volatile("bar.arrive %0, %1;" ::"n"(kId), "n"(kThreads) : "memory");
}
HSTU_PRIM void named_barrier_arrive(u32 id, u32 threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
// named_barrier_sync that also tells all whether any of them came with `is` true.
template <int kId, int kThreads>
HSTU_PRIM bool named_barrier_any(bool is) {
  u32 any;
  asm volatile(
      "{\n .reg .pred p, q;\n setp.ne.u32 p, %1, 0;\n barrier.cta.red.or.pred.aligned q, %2, %3, p;\n"
      " selp.u32 %0, 1, 0, q;\n}"
      : "=r"(any)
      : "r"(static_cast<u32>(is)), "n"(kId), "n"(kThreads)
      : "memory");
  return any != 0;
}

}  // namespace hstu::prim
