// Blocks of a cluster (sm_90): where a block stands, barriers among them, each other's shared memory. PTX ISA
// "barrier.cluster", "mapa".
#pragma once
#include "prim/memory.cuh"
#include "prim/types.cuh"

namespace hstu::prim {

HSTU_PRIM u32 cluster_rank() {
  u32 r;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
  return r;
}

// All threads of all blocks of the cluster. What was written before the arrival is visible after the wait.
HSTU_PRIM void cluster_arrive() { asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory"); }
HSTU_PRIM void cluster_wait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
HSTU_PRIM void cluster_sync() {
  cluster_arrive();
  cluster_wait();
}

// The address, in block `rank`, of what lies at `addr` here.
HSTU_PRIM u32 cluster_addr(u32 addr, u32 rank) {
  u32 r;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(r) : "r"(addr), "r"(rank));
  return r;
}
// 16 bytes, at a multiple of them.
HSTU_PRIM Quad ld_cluster16(u32 addr) {
  Quad q;
  asm volatile("ld.shared::cluster.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(q.word[0]), "=r"(q.word[1]), "=r"(q.word[2]), "=r"(q.word[3])
               : "r"(addr)
               : "memory");
  return q;
}
// Writes 16 bytes to another block, at a multiple of them, and counts them on its barrier; both addresses from
// cluster_addr(), of the same block.
HSTU_PRIM void st_async_f32x4(u32 addr, float a, float b, float c, float d, u32 barrier) {
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(addr),
               "f"(a), "f"(b), "f"(c), "f"(d), "r"(barrier)
               : "memory");
}

}  // namespace hstu::prim
