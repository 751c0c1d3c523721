// Barriers in shared memory that count arrivals and complete in phases (sm_80). Phase parity starts at 0: waiting for
// parity 1 on a fresh barrier returns at once. PTX ISA "mbarrier".
#pragma once
#include "prim/types.cuh"

namespace hstu::prim {

// By one thread; others may use the barrier after a block-wide barrier.
HSTU_PRIM void mbarrier_init(u32 barrier, u32 arrivals) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
// Before another init at the same address.
HSTU_PRIM void mbarrier_inval(u32 barrier) {
  asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(barrier) : "memory");
}

HSTU_PRIM void mbarrier_arrive(u32 barrier) {
  asm volatile("{\n .reg .b64 state;\n mbarrier.arrive.shared.b64 state, [%0];\n}" ::"r"(barrier) : "memory");
}

// Arrives when the copies that this thread has issued by cp.async are complete; at once where there are none.
HSTU_PRIM void cp_async_mbarrier_arrive(u32 barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(barrier) : "memory");
}

// Returns when the phase of that parity has completed. The loop is inside the asm so that the compiler need not reckon
// with lanes leaving it one by one.
HSTU_PRIM void mbarrier_wait(u32 barrier, u32 parity) {
#if __CUDA_ARCH__ >= 900
#define HSTU_MBARRIER_TEST "mbarrier.try_wait.parity.shared.b64"  // sleeps instead of taking issue slots
#else
#define HSTU_MBARRIER_TEST "mbarrier.test_wait.parity.shared.b64"
#endif
  asm volatile("{\n .reg .pred done;\nWAIT:\n " HSTU_MBARRIER_TEST
               " done, [%0], %1;\n @done bra.uni DONE;\n bra.uni WAIT;\nDONE:\n}" ::"r"(barrier),
               "r"(parity)
               : "memory");
#undef HSTU_MBARRIER_TEST
}

// sm_90 from here on.
//
// After the inits, by the thread that made them, before a barrier of the block or cluster: TMA and other blocks see
// them.
HSTU_PRIM void mbarrier_fence_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
// Arrives, and lets the phase wait for so many bytes more from TMA.
HSTU_PRIM void mbarrier_arrive_expect_tx(u32 barrier, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
// Arrives on the barrier at the same place in block `rank` of the cluster, this one or another.
HSTU_PRIM void mbarrier_arrive_cluster(u32 barrier, u32 rank) {
  asm volatile(
      "{\n .reg .b32 remote;\n mapa.shared::cluster.u32 remote, %0, %1;\n"
      " mbarrier.arrive.release.cluster.shared::cluster.b64 _, [remote];\n}" ::"r"(barrier),
      "r"(rank)
      : "memory");
}
// mbarrier_wait for ordinary writes of other blocks of the cluster.
HSTU_PRIM void mbarrier_wait_cluster(u32 barrier, u32 parity) {
  asm volatile(
      "{\n .reg .pred done;\nWAIT:\n mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64"
      " done, [%0], %1;\n @done bra.uni DONE;\n bra.uni WAIT;\nDONE:\n}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

}  // namespace hstu::prim
