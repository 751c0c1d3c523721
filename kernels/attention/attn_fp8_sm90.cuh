// Forward HSTU attention in FP8 for sm_90a: q, k and v are e4m3 with scales, out is 16 bits wide. Roles, tiles and
// rings are those of attn_fwd_sm90.cuh (attention/sm90/shape.cuh); what differs:
//
//   transposers  two warps beside the loader transpose V tiles in shared memory, for products of FP8 want both operands
//                contiguous along the keys (attention/sm90/fp8_values.cuh)
//   consumer     S = Q K^T (wgmma e4m3), P = gain silu(S) rounded to e4m3 in registers, O += P V (wgmma e4m3)
//
// What runs, and the function or the file behind each line, in attention/sm90/ unless it is of this file:
//   scheduler    for each tile, taken from the counter                      schedule.cuh
//                  describe it, with the factors that its scales make       fp8_tile.cuh, fp8_factors.cuh
//   loader       for each tile copy Q; for each key block copy K, then V    load.cuh; factors: fp8_factors.cuh
//   transposers  for each key block transpose V                             fp8_values.cuh
//   consumer     for each tile                                              Consumer::run()
//                  Q to registers                                           warpgroup.cuh
//                  for each block that its rows see                         attend()
//                    S of the next block beside O += P V of this one        full_blocks(): scores.cuh, fp8_values.cuh
//                    or, where rows see a part, S, mask, O by chunks        masked_block(): scores.cuh
//                    P = gain silu(S), to e4m3                              fp8_values.cuh
//                    each kPromoteKeys keys: O to f32 sums, and anew        promote()
//                  scale; O to memory by TMA                                store_output(), store.cuh
//
// Per-tensor, per-head and per-sequence scales are one number a tile: those of q and k are part of the factors that
// make P of S, with P's gain (attention/sm90/fp8_factors.cuh), that of v and the gain's inverse one of O's. So each
// score costs two multiplications, one special function, one FMA and half a conversion. Per-block scales (of 128 rows)
// are one number a tile and one a key block, for both are cut where scales change (attention/variant/scale_blocks.cuh):
// P takes all three, so that sums go on from block to block, and a score costs no more. The loader brings a block's
// with its keys.
//
// The tensor cores add up FP8 with 14 bits. Every kPromoteKeys keys (0: never) O goes to f32 sums in shared memory.
//
// What limits it at head dim 128 is no single unit: special functions and tensor cores are each busy for 50 to 60 % of
// the time, shared memory (a tile of K and V goes there, V comes and goes again, both are read) as long. Without the
// transposition, for a trial, it is 3 % faster. Measured on an H200: 96 keys a step
// -2 to -4 %; Q from shared memory -3 to -5 %; three warpgroups of 96 keys even, but they need more registers than
// there are once sums are promoted; weights packed before the products of the last block end (twice the words of P, two
// steps an iteration) +1 %, which spills in all but a few shapes. Promotion costs 3 %; with the f32 sums in
// registers 11 %, since the weights then wait for the products, and with zeros put into O, or products drained for it,
// 6 to 9 %, since the compiler then moves O between registers at every masked chunk. So the next product starts O anew.
// What else was tried: docs/experiments/attention_fp8.md.
//
// Shared memory   Q | K ring | V ring | two or three stages of transposed V | 128 columns of O, or f32 sums |
//                 barriers, tiles
#pragma once
#include "attention/attn_fwd_sm90.h"
#include "attention/sm90/fp8_factors.cuh"
#include "attention/sm90/fp8_tile.cuh"
#include "attention/sm90/fp8_values.cuh"
#include "attention/sm90/load.cuh"
#include "attention/sm90/schedule.cuh"
#include "attention/sm90/store.cuh"
#include "prim/warpgroup.cuh"

namespace hstu {

template <class Config>
constexpr int attn_fp8_sm90_smem_bytes = attn90::smem_bytes<Config>;

namespace attn_fp8_sm90_detail {

using namespace attn90;

// One warpgroup's work: 64 rows of each tile.
template <class Config>
struct Consumer {
  using T = Shape<Config>;
  using Tile = typename Config::Tile;
  using Factors = attn90::Factors<Config>;
  using Seen = typename Tile::Seen;
  enum : int { kBlockN = T::kBlockN, kChunkN = T::kMaskedChunkN };
  enum : int { kPromoteBlocks = (Config::kPromoteKeys + kBlockN - 1) / kBlockN };

  Warpgroup<Config, Tile> wg;
  u32 transposed_smem, factor_slots;
  typename TransposedRing<Config>::State value_place;

  HSTU_PRIM TransposedRing<Config> v_ring() const { return TransposedRing<Config>(transposed_smem); }

  // Of the place that the warpgroup stands at.
  HSTU_PRIM void release_keys() const {
    if constexpr (variant::block_scales<Config>(0))
      wg.k_ring().release_by_warp(wg.place);
    else
      wg.k_ring().release(wg.place);
  }
  // Releases `count` blocks that the warpgroup's rows see nothing of.
  HSTU_PRIM void skip_blocks(int count) {
#pragma unroll 1
    for (; count > 0; --count) {
      wg.k_ring().wait(wg.place);
      v_ring().wait(value_place);
      wg.sync();
      release_block();
    }
  }
  HSTU_PRIM void release_block() {
    release_keys();
    v_ring().release(value_place);
    wg.place.advance();
    value_place.advance();
  }

  // A block that some of the warpgroup's rows do not see wholly, chunk by chunk.
  template <class View>
  HSTU_PRIM void masked_block(Factors& f, const Tile& tile, const View& view, float (&o)[T::kColsV / 2],
                              const u32 (&q)[T::kQWords][4], int block) {
    const int key_begin = tile.plan.key_begin(block), row = tile.first_row + wg.thread_row();
    bool touched = false;
    wg.k_ring().wait(wg.place);
    f.load(wg.place);
    f.broadcast();
#pragma unroll 1
    for (int at = 0; at < kBlockN; at += kChunkN) {
      const int key = key_begin + at;
      if (!view.touches(key, key + kChunkN)) continue;
      touched = true;
      float s[kChunkN / 2];
      u32 w[kChunkN / 8];
      prim::warpgroup_fence_operand(s);
      prim::wgmma_fence();
      issue_qk<kChunkN>(wg, s, q, wg.place.stage, at);
      prim::wgmma_wait<0>();
      prim::warpgroup_fence_operand(s);
      if (!view.sees_all(key, key + kChunkN)) apply_mask<kChunkN>(s, tile.mask, row, key);
      silu_with_gain(f, s);
      pack_fp8(s, w);
      v_ring().wait(value_place);
      prim::warpgroup_fence_operand(o);
      prim::wgmma_fence();
      issue_pv_fp8<kChunkN>(wg, o, w, value_place.stage, at, 1);
      prim::wgmma_wait<0>();
      prim::warpgroup_fence_operand(o);
    }
    if (!touched) {
      v_ring().wait(value_place);
      wg.sync();
    }
    release_block();
  }

  // `count` blocks that every row sees wholly, at least one: products of a block run beside the weights of the next.
  // promoted: whether sums were promoted, which warpgroups do at blocks of their own, so that others' products run
  // then, and between two loops: within one its code costs 3 % even where it does not run.
  HSTU_PRIM void full_blocks(Factors& f, float (&o)[T::kColsV / 2], const u32 (&q)[T::kQWords][4], int count,
                             bool& promoted) {
    float s[kBlockN / 2];
    u32 w[kBlockN / 8];
    wg.k_ring().wait(wg.place);
    prim::warpgroup_fence_operand(s);
    prim::wgmma_fence();
    issue_qk<kBlockN>(wg, s, q, wg.place.stage, 0);
    f.load(wg.place);
    prim::wgmma_wait<0>();
    prim::warpgroup_fence_operand(s);
    release_keys();
    f.broadcast();
    silu_with_gain(f, s);
    pack_fp8(s, w);
    int add = 1;  // 0: the sums start anew
    int until = kPromoteBlocks > 0 ? kPromoteBlocks - wg.group * (kPromoteBlocks / T::kConsumers) : count;
#pragma unroll 1
    for (int block = 1;;) {
#pragma unroll 1
      for (const int end = variant::min_int(until + 1, count); block < end; ++block) {
        wg.place.advance();
        wg.k_ring().wait(wg.place);
        prim::warpgroup_fence_operand(s);
        prim::warpgroup_fence_operand(o);
        prim::wgmma_fence();
        issue_qk<kBlockN>(wg, s, q, wg.place.stage, 0);
        f.load(wg.place);
        v_ring().wait(value_place);
        issue_pv_fp8<kBlockN>(wg, o, w, value_place.stage, 0, add);
        f.broadcast();
        prim::wgmma_wait<1>();
        prim::warpgroup_fence_operand(s);
        release_keys();
        silu_with_gain(f, s);
        prim::warpgroup_fence_operand(s);
        prim::wgmma_wait<0>();
        prim::warpgroup_fence_operand(o);
        v_ring().release(value_place);
        value_place.advance();
        pack_fp8(s, w);
        add = 1;
      }
      if (block >= count && block <= until) break;
      promote(o, promoted);
      promoted = true;
      add = 0;
      until += kPromoteBlocks;
      if (block >= count) break;
    }
    v_ring().wait(value_place);
    prim::warpgroup_fence_operand(o);
    prim::wgmma_fence();
    issue_pv_fp8<kBlockN>(wg, o, w, value_place.stage, 0, add);
    prim::wgmma_wait<0>();
    prim::warpgroup_fence_operand(o);
    v_ring().release(value_place);
    wg.place.advance();
    value_place.advance();
  }

  // The tensor cores add up with 14 bits: before too many keys have come together, their sums go to f32 sums in shared
  // memory, and start anew. With `more`, there are such sums already.
  HSTU_PRIM u32 promoted_sums() const { return wg.warp_staging() + prim::lane_id() * 16; }
  HSTU_PRIM void promote(const float (&o)[T::kColsV / 2], bool more) const {
    if (!more) finish_stores(wg);  // they read the same room
#pragma unroll
    for (int i = 0; i < T::kColsV / 8; ++i) {
      const u32 at = promoted_sums() + i * 512;
      prim::Quad sums{{0, 0, 0, 0}};
      if (more) sums = prim::ld_shared(at);
#pragma unroll
      for (int j = 0; j < 4; ++j) sums.word[j] = __float_as_uint(__uint_as_float(sums.word[j]) + o[i * 4 + j]);
      prim::st_shared(at, sums);
    }
  }
  HSTU_PRIM void add_promoted(float (&o)[T::kColsV / 2]) const {
#pragma unroll
    for (int i = 0; i < T::kColsV / 8; ++i) {
      const prim::Quad sums = prim::ld_shared(promoted_sums() + i * 512);
#pragma unroll
      for (int j = 0; j < 4; ++j) o[i * 4 + j] += __uint_as_float(sums.word[j]);
    }
  }

  // O of the tile's rows but for a factor.
  HSTU_PRIM void attend(Factors& f, const Tile& tile, float (&o)[T::kColsV / 2], const u32 (&q)[T::kQWords][4]) {
    const auto view = tile.view(wg.group);
    int block = 0;
    bool promoted = false;
#pragma unroll 1
    for (int range = 0; range < Seen::kRanges; ++range) {
      const variant::BlockRange seen = tile.seen.of[wg.group][range];
      skip_blocks(seen.begin - block);
      block = seen.begin;
#pragma unroll 1
      while (block < seen.end) {
        if (seen.is_full(block)) {
          full_blocks(f, o, q, seen.full_end - seen.full_begin, promoted);
          block = seen.full_end;
        } else {
          masked_block(f, tile, view, o, q, block++);
        }
      }
    }
    skip_blocks(tile.plan.blocks - block);
    if (kPromoteBlocks > 0 && promoted) add_promoted(o);
  }

  // Scales O and writes the rows of `tile` that exist.
  HSTU_PRIM void store_output(const AttnFwdParams& p, const Factors& f, const Tile& tile,
                              const float (&o)[T::kColsV / 2]) const {
    using Output = typename Config::Output;
    const i64 start = tile.start;
    const int first = tile.first_row, length = tile.mask.length, row = first + wg.thread_row();
    float scale[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      scale[half] = p.scale;
      if constexpr (Config::kAttnScale) {
        const int position = row + half * 8;
        const i64 at = start + (position < length ? position : 0);
        scale[half] = __uint_as_float(prim::ld_global4(p.attn_scale + at * p.attn_scale_stride));
      }
      scale[half] *= f.output;
    }
    store_rows<Output>(wg, o, scale, tile.rows().queries(), first, tile.head);
  }

  HSTU_PRIM void run(const AttnFwdParams& p) {
    PipelineState<kTileSlots> tile_place;
    u32 q_parity = 0;
#pragma unroll 1
    for (;; tile_place.advance(), q_parity ^= 1) {
      const Tile& tile = static_cast<const Tile&>(wg.storage.tile[tile_place.stage]);
      wg.wait(&wg.storage.tile_full[tile_place.stage], tile_place.parity);
      const int first_row = tile.first_row;
      if (first_row < 0) break;
      Factors f(tile.factors, factor_slots);
      wg.wait(&wg.storage.q_full, q_parity);
      u32 q[T::kQWords][4];
      wg.load_q(q);
      float o[T::kColsV / 2];
#pragma unroll
      for (float& x : o) x = 0.0f;
      attend(f, tile, o, q);
      if constexpr (T::kQSteps < T::kStepsQk) wg.release(&wg.storage.q_empty);
      store_output(p, f, tile, o);
      wg.release_tile(tile_place.stage);
    }
    finish_stores(wg);
  }
};

}  // namespace attn_fp8_sm90_detail

template <class Config>
__global__ void __launch_bounds__(attn90::Shape<Config>::kThreads, Config::kBlocks)
    attn_fp8_sm90(const __grid_constant__ AttnFwdSm90Params p) {
  using T = attn90::Shape<Config>;
  using Tile = typename Config::Tile;
  using Storage = attn90::Fp8Storage<Config, Tile>;
  extern __shared__ __align__(1024) unsigned char shared[];
  static_assert(sizeof(Storage) <= attn_fp8_sm90_smem_bytes<Config>, "attn90::kExtraBytes");
  auto& storage = *reinterpret_cast<Storage*>(shared);
  const u32 base = prim::smem_addr(storage.tiles), transposed = prim::smem_addr(storage.transposed_ring);
  const u32 factors = prim::smem_addr(storage.factors);
  if (threadIdx.x == 0) {
    attn90::init<Config, Tile>(storage);
    attn90::TransposedRing<Config>(transposed).init();
    prim::mbarrier_fence_init();
    prim::tma_prefetch_map(&p.q);
    prim::tma_prefetch_map(&p.k);
    prim::tma_prefetch_map(&p.v);
    prim::tma_prefetch_map(&p.out);
  }
  __syncthreads();
  const int group = prim::warp_id() / 4;
  if (group == T::kConsumers) {
    prim::warpgroup_reg_dealloc<T::kProducerRegisters>();
    const int role = threadIdx.x - T::kConsumers * 128;
    if (role == 0) attn90::load<Config, Tile>(p, storage, base, attn90::key_factors<Config, Tile>(p.attn, factors));
    if (role / 32 == 1) attn90::schedule<typename Config::Place, Config, Tile>(p.attn, p.tile_counters, storage);
    if (role >= 64) attn90::transpose<Config, Tile>(storage, base, role / 32 - 2);
  } else {
    prim::warpgroup_reg_alloc<T::kConsumerRegisters>();
    attn_fp8_sm90_detail::Consumer<Config>{{storage, &p.out, base, group, {}}, transposed, factors, {}}.run(p.attn);
  }
}

}  // namespace hstu
