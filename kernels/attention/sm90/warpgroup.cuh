// What a consumer warpgroup of the sm_90 attention kernels knows: its number, the tiles' address, its place in the
// rings.
#pragma once
#include "attention/sm90/storage.cuh"
#include "prim/lanes.cuh"
#include "prim/memory.cuh"
#include "prim/mma.cuh"
#include "prim/named_barrier.cuh"
#include "prim/proxy.cuh"
#include "tile/tensor_map.h"

namespace hstu::attn90 {

// One warpgroup's view: 64 rows of each tile.
template <class Config, class Tile>
struct Warpgroup {
  using T = Shape<Config>;
  using Element = typename Config::Element;
  using Ring = PipelineState<Config::kStages>;

  Storage<Config, Tile>& storage;
  const TensorMap* out;  // of O, in boxes of 64 columns and a warp's 16 rows
  u32 base;              // shared address of the tiles
  int group;             // the warpgroup's number
  Ring place;

  HSTU_PRIM KeyRing<Config> k_ring() const { return KeyRing<Config>(prim::smem_addr(storage.k_ring)); }
  HSTU_PRIM ValueRing<Config> v_ring() const { return ValueRing<Config>(prim::smem_addr(storage.v_ring)); }
  HSTU_PRIM static void release(u64* barrier) {
    if (prim::lane_id() == 0) prim::mbarrier_arrive(prim::smem_addr(barrier));
  }
  HSTU_PRIM void release_tile(u32 stage) const { prim::mbarrier_arrive(prim::smem_addr(&storage.tile_empty[stage])); }
  HSTU_PRIM static void wait(u64* barrier, u32 parity) { prim::mbarrier_wait(prim::smem_addr(barrier), parity); }

  // The warpgroup's rows of Q, and rows from `row` on of a stage's K and V.
  HSTU_PRIM u32 q_rows() const { return base + group * 64 * 128; }
  HSTU_PRIM u32 k_rows(u32 stage, int row) const { return base + T::kKOffset + stage * T::kKBytes + row * 128; }
  HSTU_PRIM u32 v_rows(u32 stage, int row) const { return base + T::kVOffset + stage * T::kVBytes + row * 128; }
  // The bias of the warpgroup's rows and a stage's keys.
  HSTU_PRIM u32 bias_rows(u32 stage) const { return base + T::kBiasOffset + stage * T::kBiasBytes + group * 64 * 128; }
  HSTU_PRIM u32 warp_staging() const {
    return base + T::kOOffset + (group * 4 + threadIdx.x % 128 / 32) * T::kOWarpBytes;
  }
  // Until all of the warpgroup's warps have come here. One thread releases a stage for all of them: products bring
  // them together before it does, and where there were none, this. Else a warp that comes late to the stage would find
  // it filled for the next lap, and wait for ever.
  HSTU_PRIM void sync() const { prim::named_barrier_sync(8 + group, 128); }

  // Row of the tile that is the warp's first.
  HSTU_PRIM int warp_row() const { return group * 64 + threadIdx.x % 128 / 32 * 16; }
  // Row of the tile that the thread's first accumulators belong to; the others are the eighth behind it.
  HSTU_PRIM int thread_row() const { return warp_row() + prim::lane_id() / 4; }

  // Where ldmatrix finds 16 columns of a warp's 16 rows in panels of kRows rows; `rows`: the warpgroup's first.
  template <int kRows>
  HSTU_PRIM static u32 fragment(u32 rows, int step) {
    const u32 lane = prim::lane_id(), row = threadIdx.x % 128 / 32 * 16 + lane % 16;
    return rows + step / 4 * kRows * 128 + row * 128 + (((step % 4 * 2 + lane / 16) ^ (row & 7)) << 4);
  }

  // -Q for a negative logit scale, so that the maximum score has the largest weight.
  HSTU_PRIM void negate_q() const {
#pragma unroll
    for (int panel = 0; panel < T::kPanelsQk; ++panel) {
#pragma unroll 1
      for (int at = threadIdx.x % 128 * 16; at < 64 * 128; at += 128 * 16) {
        const u32 address = q_rows() + panel * T::kBlockM * 128 + at;
        prim::Quad x = prim::ld_shared(address);
        for (u32& word : x.word) word ^= 0x80008000u;
        prim::st_shared(address, x);
      }
    }
    prim::fence_async_shared();
    sync();
  }

  HSTU_PRIM void load_q(u32 (&q)[T::kQWords][4]) const {
#pragma unroll
    for (int step = 0; step < T::kQSteps; ++step) prim::ldmatrix_x4(q[step], fragment<T::kBlockM>(q_rows(), step));
    if constexpr (T::kQSteps == T::kStepsQk) release(&storage.q_empty);
  }
};

}  // namespace hstu::attn90
