// O += P V in FP8, whose products want both operands contiguous along the keys: V is transposed in shared memory by
// warps beside the copying ones, P stays in registers.
//
// A thread's accumulators of S are columns 2 (l % 4), + 1 of each 8, its word of P as an operand 4 (l % 4) to + 3 of
// 16. So that no P moves between threads, the transposed V has its keys in another order: at position p of 16
//   key 8 ((p % 4) / 2) + 2 (p / 4) + p % 2
// which is what a transposing ldmatrix of pairs of bytes and a byte permutation give.
#pragma once
#include "attention/sm90/fp8_factors.cuh"
#include "attention/sm90/scores.cuh"
#include "prim/fp8.cuh"
#include "prim/proxy.cuh"
#include "prim/stmatrix.cuh"

namespace hstu::attn90 {

template <class Config, class Tile>
struct Fp8Storage : Storage<Config, Tile> {
  u64 transposed_ring[2 * Shape<Config>::kTransposedStages];
  u64 factors[FactorSlots<Config>::kCount];
};
// Stages of transposed V: kTransposers warps fill them, warpgroups release them.
template <class Config>
class TransposedRing {
 public:
  enum : int { kStages = Shape<Config>::kTransposedStages };
  using State = PipelineState<kStages>;
  HSTU_PRIM explicit TransposedRing(u32 smem) : smem_(smem) {}
  HSTU_PRIM void init() const {
    for (u32 stage = 0; stage < kStages; ++stage) {
      prim::mbarrier_init(full(stage), Shape<Config>::kTransposers);
      prim::mbarrier_init(empty(stage), Config::kConsumers);
    }
  }
  HSTU_PRIM void wait_empty(const State& at) const { prim::mbarrier_wait(empty(at.stage), at.parity ^ 1); }
  HSTU_PRIM void fill(const State& at) const { prim::mbarrier_arrive(full(at.stage)); }
  HSTU_PRIM void wait(const State& at) const { prim::mbarrier_wait(full(at.stage), at.parity); }
  HSTU_PRIM void release(const State& at) const {
    if (threadIdx.x % 128 == 0) prim::mbarrier_arrive(empty(at.stage));
  }

 private:
  HSTU_PRIM u32 full(u32 stage) const { return smem_ + 8 * stage; }
  HSTU_PRIM u32 empty(u32 stage) const { return smem_ + 8 * (kStages + stage); }
  u32 smem_;
};

// Transposes a warp's part of a stage of V: 32 keys x 16 columns at a time. Lanes of the upper half exchange even and
// odd columns, so that the rows that are written together lie in different banks.
template <class Config>
HSTU_PRIM void transpose_values(u32 from, u32 to, u32 warp) {
  using T = Shape<Config>;
  constexpr u32 kColumns = T::kColsV / 16, kKeys = T::kBlockN / 32, kAtOnce = 2;
  constexpr bool kSharesColumns = kColumns >= T::kTransposers * kAtOnce;  // else the keys
  // Of an odd number of columns four at once spill 64 bytes.
  constexpr u32 kMostAtOnce = kColumns % kAtOnce == 0 ? 4 : 2;
  constexpr u32 kKeysAtOnce = !kSharesColumns ? 1 : kKeys % kMostAtOnce == 0 ? kMostAtOnce : kKeys % 2 == 0 ? 2 : 1;
  const u32 lane = prim::lane_id(), j = lane % 8, matrix = lane / 8;
  const u32 even = lane < 16 ? 0x6420u : 0x7531u, odd = lane < 16 ? 0x7531u : 0x6420u;
  const u32 row = 2 * j + ((matrix & 1) ^ (j >> 2));
#pragma unroll 1
  for (u32 c = kSharesColumns ? warp * kAtOnce : 0; c < kColumns;
       c += kAtOnce * (kSharesColumns ? T::kTransposers : 1)) {
    const u32 source = from + c / 8 * T::kBlockN * 128 + lane * 128 + ((j ^ c % 8) << 4);
    const u32 target = to + c * 2048 + row * 128 + (((row & 7) ^ (matrix >> 1)) << 4);
#pragma unroll 1
    for (u32 keys = kSharesColumns ? 0 : warp * kKeysAtOnce; keys < kKeys;
         keys += kKeysAtOnce * (kSharesColumns ? 1 : T::kTransposers)) {
      u32 r[kKeysAtOnce][kAtOnce][4];
#pragma unroll
      for (u32 k = 0; k < kKeysAtOnce; ++k)
#pragma unroll
        for (u32 i = 0; i < kAtOnce; ++i)
          if (kColumns % kAtOnce == 0 || c + i < kColumns)
            prim::ldmatrix_x4_trans(r[k][i], (source ^ i << 4) + (keys + k) * 4096);
#pragma unroll
      for (u32 k = 0; k < kKeysAtOnce; ++k)
#pragma unroll
        for (u32 i = 0; i < kAtOnce; ++i)
          if (kColumns % kAtOnce == 0 || c + i < kColumns)
            prim::stmatrix_x4((target ^ ((keys + k) % 4 << 5)) + (keys + k) / 4 * T::kColsV * 128 + i * 2048,
                              __byte_perm(r[k][i][0], r[k][i][1], even), __byte_perm(r[k][i][0], r[k][i][1], odd),
                              __byte_perm(r[k][i][2], r[k][i][3], even), __byte_perm(r[k][i][2], r[k][i][3], odd));
    }
  }
}

// Transposes the values of all tiles: kTransposers warps.
template <class Config, class Tile>
HSTU_PRIM void transpose(Fp8Storage<Config, Tile>& storage, u32 base, u32 warp) {
  using T = Shape<Config>;
  const u32 v_full = prim::smem_addr(storage.v_ring), v_empty = v_full + 8 * Config::kStages;
  const TransposedRing<Config> transposed(prim::smem_addr(storage.transposed_ring));
  PipelineState<Config::kStages> from;
  typename TransposedRing<Config>::State to;
  PipelineState<kTileSlots> tile_place;
#pragma unroll 1
  for (;; tile_place.advance()) {
    prim::mbarrier_wait(prim::smem_addr(&storage.tile_full[tile_place.stage]), tile_place.parity);
    const auto& tile = storage.tile[tile_place.stage];
    const int blocks = tile.first_row < 0 ? -1 : tile.plan.blocks;
    if (blocks < 0) return;
    prim::mbarrier_arrive(prim::smem_addr(&storage.tile_empty[tile_place.stage]));
#pragma unroll 1
    for (int block = 0; block < blocks; ++block) {
      prim::mbarrier_wait(v_full + 8 * from.stage, from.parity);
      transposed.wait_empty(to);
      transpose_values<Config>(base + T::kVOffset + from.stage * T::kVBytes,
                               base + T::kTransposedOffset + to.stage * T::kTransposedBytes, warp);
      prim::fence_async_shared();
      __syncwarp();
      if (prim::lane_id() == 0) {
        prim::mbarrier_arrive(v_empty + 8 * from.stage);
        transposed.fill(to);
      }
      from.advance();
      to.advance();
    }
  }
}

// S -> gain P in place: silu(x) = t tanh(t) + t with t = x / 2.
template <class Factors, int kCount>
HSTU_PRIM void silu_with_gain(const Factors& f, float (&s)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    const float t = s[i] * f.half_alpha, gained = s[i] * f.gained_alpha;
    s[i] = gained * prim::tanh_approx(t) + gained;
  }
}
// Words of the next product's operand; keys in the order of the transposed V.
template <int kCount>
HSTU_PRIM void pack_fp8(const float (&s)[kCount], u32 (&w)[kCount / 4]) {
#pragma unroll
  for (int i = 0; i < kCount / 4; ++i) {
    const float* x = s + i / 2 * 8 + i % 2 * 2;
    w[i] = prim::pack4_fp8<e4m3>(x[0], x[1], x[4], x[5]);
  }
}

// O += P V for kKeys keys from `row` of the stage of transposed V on, or O = P V unless `add`; one group of products.
template <int kKeys, class Config, class Tile>
HSTU_PRIM void issue_pv_fp8(const Warpgroup<Config, Tile>& wg, float (&o)[Shape<Config>::kColsV / 2],
                            const u32 (&w)[kKeys / 8], u32 stage, int row, int add) {
  using T = Shape<Config>;
  const u64 v = prim::smem_descriptor(
      wg.base + T::kTransposedOffset + stage * T::kTransposedBytes + row % 128 + row / 128 * T::kColsV * 128, 16, 1024,
      prim::kSwizzle128);
#pragma unroll
  for (int step = 0; step < kKeys / 32; ++step)
    prim::Wgmma<T::kColsV>::template rs<e4m3, e4m3>(
        o, w[step * 4], w[step * 4 + 1], w[step * 4 + 2], w[step * 4 + 3],
        prim::advance_descriptor(v, step / 4 * T::kColsV * 128 + step % 4 * 32), step > 0 ? 1 : add);
  prim::wgmma_commit();
}

}  // namespace hstu::attn90
