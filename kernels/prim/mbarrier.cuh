// Barriers in shared memory that count arrivals and complete in phases (sm_80). Phase parity starts at 0: waiting for
// parity 1 on a fresh barrier returns at once. PTX ISA "mbarrier", "cp.async.mbarrier.arrive".
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
// Arrives once all cp.async of this thread issued so far have landed; counted in init's arrivals. Not done when
// `enable` is false.
HSTU_PRIM void cp_async_mbarrier_arrive(u32 barrier, bool enable) {
  asm volatile(
      "{\n .reg .pred enabled;\n setp.ne.u32 enabled, %1, 0;\n"
      " @enabled cp.async.mbarrier.arrive.noinc.shared.b64 [%0];\n}" ::"r"(barrier),
      "r"(static_cast<u32>(enable))
      : "memory");
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

}  // namespace hstu::prim
