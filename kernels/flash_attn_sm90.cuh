// Forward softmax attention for sm_90a: TMA, warpgroup products, warps with roles.
//   O_i = sum over keys j that i sees of exp(alpha q_i . k_j) v_j, divided by the sum of the exponentials
//
// The rooms of attn90/ and how they work together: attn90/shape.cuh. A consumer warpgroup owns 64 rows of a tile.
//
//   masked blocks  the tile's last keys, first: in chunks, those that no row of the warpgroup sees left out
//   full blocks    S of the next block and O += P V of this one are issued together, and the softmax of the next runs
//                  beside P V and the other warpgroups' products; kTurns: these are issued in turns
//
// A row's reference moves only when a score is 2^8 above it (attn90/softmax.cuh), so O is hardly ever scaled. A
// negative alpha is one of -Q.
//
// What limits it: power at head dim 128 (long rows: 700 TFLOP/s cool, 620 in a row without pause), the special
// functions at 64, of which a score needs one and the chip makes as many as its products need. Measured slower:
// exponentials of 1 or 2 in 8 scores by polynomial at head dim 64 (-5, -9 %: issue slots), three warpgroups at 128 (-3
// %), keys a step below 96 (-4 %) or above 144; turns are worth +2 % at head dim 64, nothing at 128.
//
// Shared memory, order and sources as in attn_fwd_sm90.cuh; FlashAttention-3, arXiv:2407.08608.
#pragma once
#include "attn90/flash_tile.cuh"
#include "attn90/load.cuh"
#include "attn90/schedule.cuh"
#include "attn90/scores.cuh"
#include "attn90/softmax.cuh"
#include "attn90/store.cuh"
#include "attn90/values.cuh"
#include "params/attn_fwd_sm90.h"
#include "prim/named_barrier.cuh"
#include "prim/proxy.cuh"
#include "prim/warpgroup.cuh"

namespace hstu {

template <class Config>
constexpr int flash_attn_sm90_smem_bytes = attn90::smem_bytes<Config>;

namespace flash_attn_sm90_detail {

using namespace attn90;

// One warpgroup's work: 64 rows of each tile.
template <class Config>
struct Consumer {
  using T = Shape<Config>;
  using Tile = FlashTile<Config>;
  using Element = typename Config::Element;
  static constexpr int kBlockN = T::kBlockN, kChunkN = T::kMaskedChunkN;
  static constexpr bool kTurns = Config::kTurns && T::kConsumers > 1;

  Warpgroup<Config, Tile> wg;

  // Warpgroups issue their products in turns, so that one's softmax runs beside the others' products.
  HSTU_PRIM void await_turn() const {
    if constexpr (kTurns) prim::named_barrier_sync(1 + wg.group, 256);
  }
  HSTU_PRIM void pass_turn() const {
    if constexpr (kTurns) prim::named_barrier_arrive(wg.group + 1 == T::kConsumers ? 1 : 2 + wg.group, 256);
  }

  // -Q for a negative logit scale, so that the greatest score has the greatest weight.
  HSTU_PRIM void negate_q() const {
#pragma unroll
    for (int panel = 0; panel < T::kPanelsQk; ++panel) {
#pragma unroll 1
      for (int at = threadIdx.x % 128 * 16; at < 64 * 128; at += 128 * 16) {
        const u32 address = wg.q_rows() + panel * T::kBlockM * 128 + at;
        prim::Quad x = prim::ld_shared(address);
        for (u32& word : x.word) word ^= 0x80008000u;
        prim::st_shared(address, x);
      }
    }
    prim::fence_async_shared();
    prim::named_barrier_sync(8 + wg.group, 128);
  }

  // A block that some row of the tile does not see wholly, chunk by chunk. [seen, reached): keys that some rows of the
  // warpgroup see and others do not.
  HSTU_PRIM void masked_block(const Tile& tile, Softmax& softmax, float (&o)[T::kColsV / 2],
                              const u32 (&q)[T::kQWords][4], int block, int seen, int reached) {
    const int key_begin = tile.plan.key_begin(block);
    wg.k_ring().wait(wg.place);
    wg.v_ring().wait(wg.place);
#pragma unroll 1
    for (int at = 0; at < kBlockN; at += kChunkN) {
      const int key = key_begin + at;
      if (key >= reached) break;
      float s[kChunkN / 2], kept[2];
      u32 w[kChunkN / 4];
      prim::wgmma_keep(s);
      prim::wgmma_fence();
      issue_qk<kChunkN>(wg, s, q, wg.place.stage, at);
      prim::wgmma_wait<0>();
      prim::wgmma_keep(s);
      if (key + kChunkN > seen) {
        const int row = tile.first_row + tile.sequence.first_query() + wg.thread_row();
        apply_mask<kChunkN>(s, tile.mask(), row, key, -infinity());
      }
      if (softmax.meet(s, kept)) scale_rows(o, kept);
      softmax.template weigh<true>(s);
      pack<Element>(s, w);
      prim::wgmma_keep(o);
      prim::wgmma_fence();
      issue_pv<kChunkN>(wg, o, w, wg.place.stage, at);
      prim::wgmma_wait<0>();
      prim::wgmma_keep(o);
    }
    wg.k_ring().release(wg.place);
    wg.v_ring().release(wg.place);
    wg.place.advance();
  }

  // `count` blocks that every row sees wholly, at least one: products of a block run beside the softmax of the next.
  HSTU_PRIM void full_blocks(Softmax& softmax, float (&o)[T::kColsV / 2], const u32 (&q)[T::kQWords][4], int count) {
    float s[kBlockN / 2], kept[2];
    u32 w[kBlockN / 4];
    wg.k_ring().wait(wg.place);
    await_turn();
    prim::wgmma_keep(s);
    prim::wgmma_fence();
    issue_qk<kBlockN>(wg, s, q, wg.place.stage, 0);
    pass_turn();
    prim::wgmma_wait<0>();
    prim::wgmma_keep(s);
    wg.k_ring().release(wg.place);
    if (softmax.meet(s, kept)) scale_rows(o, kept);
    softmax.template weigh<false>(s);
    pack<Element>(s, w);
#pragma unroll 1
    for (int block = 1; block < count; ++block) {
      const auto before = wg.place;
      wg.place.advance();
      wg.k_ring().wait(wg.place);
      await_turn();
      prim::wgmma_keep(s);
      prim::wgmma_keep(o);
      prim::wgmma_fence();
      issue_qk<kBlockN>(wg, s, q, wg.place.stage, 0);
      wg.v_ring().wait(before);
      issue_pv<kBlockN>(wg, o, w, before.stage, 0);
      pass_turn();
      prim::wgmma_wait<1>();
      prim::wgmma_keep(s);
      wg.k_ring().release(wg.place);
      const bool moved = softmax.meet(s, kept);
      softmax.template weigh<false>(s);
      prim::wgmma_wait<0>();
      prim::wgmma_keep(o);
      wg.v_ring().release(before);
      if (moved) scale_rows(o, kept);
      pack<Element>(s, w);
    }
    wg.v_ring().wait(wg.place);
    prim::wgmma_keep(o);
    prim::wgmma_fence();
    issue_pv<kBlockN>(wg, o, w, wg.place.stage, 0);
    prim::wgmma_wait<0>();
    prim::wgmma_keep(o);
    wg.v_ring().release(wg.place);
    wg.place.advance();
  }

  // Divides O by the sums and writes the rows that exist, and their log-sum-exp; rows without keys are zeros.
  HSTU_PRIM void store_output(const AttnFwdParams& p, const Tile& tile, const Softmax& softmax,
                              const float (&o)[T::kColsV / 2]) const {
    constexpr float kLn2 = 0.693147180559945f;
    const int rows = tile.sequence.last_query() - tile.sequence.first_query();
    float scale[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float total = prim::lane_sum<4>(softmax.sum[half]);
      scale[half] = total > 0 ? 1.0f / total : 0.0f;
      if constexpr (Config::kLse) {
        const int row = tile.first_row + wg.thread_row() + half * 8;
        const float lse = (softmax.reference[half] * softmax.scale + prim::lg2_approx(total)) * kLn2;
        if (row < rows && prim::lane_id() % 4 == 0)
          *tile.sequence.lse(p, tile.head, tile.sequence.first_query() + row) = total > 0 ? lse : -infinity();
      }
    }
    auto* out = tile.sequence.out(p, tile.head, tile.sequence.first_query() + tile.first_row);
    store_rows(wg, o, scale, out, p.out_row_stride, tile.first_row, rows);
  }

  HSTU_PRIM void run(const AttnFwdParams& p) {
    RingPlace<kTileSlots> tile_place;
    u32 q_parity = 0;
    if (kTurns && wg.group + 1 == T::kConsumers) prim::named_barrier_arrive(1, 256);
#pragma unroll 1
    for (;; tile_place.advance(), q_parity ^= 1) {
      const auto& tile = wg.storage.tile[tile_place.stage];
      wg.wait(&wg.storage.tile_full[tile_place.stage], tile_place.parity);
      if (tile.first_row < 0) return;
      wg.wait(&wg.storage.q_full, q_parity);
      if (p.log2_alpha < 0) negate_q();
      u32 q[T::kQWords][4];
      wg.load_q(q);
      float o[T::kColsV / 2];
#pragma unroll
      for (int i = 0; i < T::kColsV / 2; ++i) o[i] = 0.0f;
      Softmax softmax(fabsf(p.log2_alpha));
      const int partial = tile.plan.partial, full = tile.plan.blocks - partial;
      const int first = tile.sequence.first_query() + tile.first_row + wg.group * 64;
      const int seen = tile.mask().limit(first), reached = tile.mask().limit(first + 63);
#pragma unroll 1
      for (int block = 0; block < partial; ++block) masked_block(tile, softmax, o, q, block, seen, reached);
      if (full > 0) full_blocks(softmax, o, q, full);
      if constexpr (T::kQSteps < T::kStepsQk) wg.release(&wg.storage.q_empty);
      store_output(p, tile, softmax, o);
      wg.release(&wg.storage.tile_empty[tile_place.stage]);
    }
  }
};

}  // namespace flash_attn_sm90_detail

template <class Config>
__global__ void __launch_bounds__(attn90::Shape<Config>::kThreads, 1)
    flash_attn_sm90(const __grid_constant__ AttnFwdSm90Params p) {
  using T = attn90::Shape<Config>;
  using Tile = attn90::FlashTile<Config>;
  using Storage = attn90::Storage<Config, Tile>;
  extern __shared__ __align__(1024) unsigned char shared[];
  static_assert(sizeof(Storage) <= flash_attn_sm90_smem_bytes<Config>, "attn90::kExtraBytes");
  auto& storage = *reinterpret_cast<Storage*>(shared);
  const u32 base = prim::smem_addr(storage.tiles);
  if (threadIdx.x == 0) {
    attn90::init(storage);
    prim::tma_prefetch_map(&p.q);
    prim::tma_prefetch_map(&p.k);
    prim::tma_prefetch_map(&p.v);
  }
  __syncthreads();
  const int group = prim::warp_id() / 4;
  if (group == T::kConsumers) {
    prim::lower_registers<T::kProducerRegisters>();
    const int role = threadIdx.x - T::kConsumers * 128;
    if (role == 0) attn90::load(p, storage, base);
    if (role == 32) attn90::schedule<attn90::FlashPlace<Config>>(p.attn, storage);
  } else {
    prim::raise_registers<T::kConsumerRegisters>();
    flash_attn_sm90_detail::Consumer<Config>{{storage, base, group, {}}}.run(p.attn);
  }
}

}  // namespace hstu
