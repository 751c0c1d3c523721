// Bulk copies to shared memory without a tensor map (sm_90), each by one thread. Addresses and sizes are multiples of
// 16 bytes. PTX ISA "cp.async.bulk".
#pragma once
#include "prim/types.cuh"

namespace hstu::prim {

// Brings `bytes` to shared memory at dst; they count on the barrier.
HSTU_PRIM void bulk_load(u32 dst, const void* src, u32 bytes, u32 barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(dst),
               "l"(src), "r"(bytes), "r"(barrier)
               : "memory");
}
}  // namespace hstu::prim
