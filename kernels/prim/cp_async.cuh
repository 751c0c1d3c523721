// cp.async (sm_80): global to shared memory without registers, in commit groups. PTX ISA "cp.async".
#pragma once
#include "prim/types.cuh"

namespace hstu::prim {

// Copies 16 bytes, or writes zeros without reading; cheaper than a byte count where nothing lies in between.
HSTU_PRIM void cp_async16_or_zero(u32 dst, const void* src, bool copy) {
  asm volatile(
      "{\n .reg .pred ignore;\n setp.eq.u32 ignore, %2, 0;\n"
      " cp.async.cg.shared.global.L2::128B [%0], [%1], 16, ignore;\n}" ::"r"(dst),
      "l"(src), "r"(static_cast<u32>(copy))
      : "memory");
}
// The same if `enable`, else nothing at all: no branch, so that the products around it may be scheduled across it.
HSTU_PRIM void cp_async16_or_zero_if(bool enable, u32 dst, const void* src, bool copy) {
  asm volatile(
      "{\n .reg .pred enabled, ignore;\n setp.ne.u32 enabled, %0, 0;\n setp.eq.u32 ignore, %3, 0;\n"
      " @enabled cp.async.cg.shared.global.L2::128B [%1], [%2], 16, ignore;\n}" ::"r"(static_cast<u32>(enable)),
      "r"(dst), "l"(src), "r"(static_cast<u32>(copy))
      : "memory");
}
// Narrower copies for rows that are aligned to 8 or 4 bytes only; these pass through L1 (.ca is their one form). They
// copy the first `bytes` and write zeros in the rest; with 0 the source is not read.
HSTU_PRIM void cp_async8_zfill(u32 dst, const void* src, u32 bytes) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(dst), "l"(src), "r"(bytes) : "memory");
}
HSTU_PRIM void cp_async4_zfill(u32 dst, const void* src, u32 bytes) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(dst), "l"(src), "r"(bytes) : "memory");
}
HSTU_PRIM void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Waits until at most N of this thread's groups are outstanding; a barrier must follow before other threads read.
template <int N>
HSTU_PRIM void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

}  // namespace hstu::prim
