// Bulk tensor copies between global and shared memory (TMA, sm_90): one thread issues, loads complete on an mbarrier,
// stores in groups. Shared addresses are multiples of 128 bytes, of 1024 under the 128-byte swizzle. Coordinates count
// elements, innermost first; the innermost must be a multiple of 16 bytes, or the copy is an illegal instruction.
// Outside the tensor loads give zeros (a whole box counts on the barrier all the same) and stores write nothing; the
// innermost dimension of a store is cut at whole 16 bytes only. PTX ISA "cp.async.bulk.tensor".
#pragma once
#include "prim/types.cuh"
#include "tile/tensor_map.h"

namespace hstu::prim {

// Fetches the map itself, ahead of its first use.
HSTU_PRIM void tma_prefetch_map(const TensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

// Loads a box to shared memory at dst; its bytes count on the barrier.
HSTU_PRIM void tma_load_2d(u32 dst, const TensorMap* map, u32 barrier, i32 x, i32 y) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%3, %4}], [%2];" ::"r"(dst),
      "l"(map), "r"(barrier), "r"(x), "r"(y)
      : "memory");
}
HSTU_PRIM void tma_load_3d(u32 dst, const TensorMap* map, u32 barrier, i32 x, i32 y, i32 z) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%3, %4, %5}], [%2];" ::"r"(dst),
      "l"(map), "r"(barrier), "r"(x), "r"(y), "r"(z)
      : "memory");
}
HSTU_PRIM void tma_load_4d(u32 dst, const TensorMap* map, u32 barrier, i32 x, i32 y, i32 z, i32 u) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%3, %4, %5, %6}], [%2];" ::"r"(dst),
      "l"(map), "r"(barrier), "r"(x), "r"(y), "r"(z), "r"(u)
      : "memory");
}
HSTU_PRIM void tma_load_5d(u32 dst, const TensorMap* map, u32 barrier, i32 x, i32 y, i32 z, i32 u, i32 v) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%3, %4, %5, %6, %7}], [%2];" ::"r"(dst),
      "l"(map), "r"(barrier), "r"(x), "r"(y), "r"(z), "r"(u), "r"(v)
      : "memory");
}

// To the same place in every block of the cluster whose bit is set; each one's own barrier at that place counts the
// bytes.
HSTU_PRIM void tma_load_2d_multicast(u32 dst, const TensorMap* map, u32 barrier, i32 x, i32 y, u16 blocks) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster"
      " [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(dst),
      "l"(map), "r"(barrier), "r"(x), "r"(y), "h"(blocks)
      : "memory");
}

// Brings a box to L2.
HSTU_PRIM void tma_prefetch_2d(const TensorMap* map, i32 x, i32 y) {
  asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %2}];" ::"l"(map), "r"(x), "r"(y) : "memory");
}

// Stores a box from shared memory.
HSTU_PRIM void tma_store_2d(const TensorMap* map, u32 src, i32 x, i32 y) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map), "r"(src),
               "r"(x), "r"(y)
               : "memory");
}
HSTU_PRIM void tma_store_4d(const TensorMap* map, u32 src, i32 x, i32 y, i32 z, i32 u) {
  asm volatile("cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4, %5}], [%1];" ::"l"(map),
               "r"(src), "r"(x), "r"(y), "r"(z), "r"(u)
               : "memory");
}
HSTU_PRIM void tma_store_5d(const TensorMap* map, u32 src, i32 x, i32 y, i32 z, i32 u, i32 v) {
  asm volatile(
      "cp.async.bulk.tensor.5d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4, %5, %6}], [%1];" ::"l"(map),
      "r"(src), "r"(x), "r"(y), "r"(z), "r"(u), "r"(v)
      : "memory");
}
// Stores of a thread since the last commit are a group. Waits until at most N of its groups are not yet read from
// shared memory, which may be overwritten then.
HSTU_PRIM void bulk_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
template <int N>
HSTU_PRIM void bulk_wait_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory");
}

}  // namespace hstu::prim
