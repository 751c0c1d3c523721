// Forward HSTU attention for sm_90a: TMA, warpgroup products, warps with roles.
//   O_i = scale * sum over allowed keys j of silu(alpha q_i . k_j) v_j
//
// A persistent block of threads per SM works on tiles of kBlockM = 64 kConsumers query rows of a (sequence, head),
// taken from a counter that all share. Each of kConsumers warpgroups owns 64 rows and keeps their O in registers; one
// more holds a thread that takes and describes the tiles, a step ahead, and one that starts the copies: Q once a tile,
// K and V block by block through rings of kStages.
//
//   loader     Q, K, V --TMA, jagged rows clipped--> smem (128-byte swizzle)
//   consumer   S = Q K^T (wgmma), P = silu(S) in registers, O += P V (wgmma, P as its register operand)
//
// Blocks that every row sees run without mask arithmetic: S of the next block and O += P V of this one are issued
// together, and P of the next is made while the other warpgroups' products run. The blocks with a mask come first, in
// chunks that a warpgroup skips when none of its rows sees them; so the groups come out of step, as they should be.
// What limits long sequences is power: the tensor cores are busy 97 % of the time, at 1.6 GHz. Q in registers (less
// shared memory is read) is worth 3 %. Measured slower: one loop over masked and full blocks that overlaps tiles
// (-6 %; of a window's blocks -3 to -11 %), barriers that make groups take turns (-8 %), a copying thread each for K,
// V.
//
// Shared memory   Q | K ring | V ring | 64 columns of O | barriers, tile descriptions
// Order           tiles of section_pairs (sequence, head) pairs, whose K and V share the L2 cache; in them from the
//                 longest rows down
// Sources         arXiv:2402.17152 (maths); FlashAttention-3, arXiv:2407.08608 (products beside special functions)
#pragma once
#include "attn90/hstu_tile.cuh"
#include "attn90/load.cuh"
#include "attn90/schedule.cuh"
#include "attn90/scores.cuh"
#include "attn90/store.cuh"
#include "attn90/values.cuh"
#include "params/attn_fwd_sm90.h"
#include "prim/proxy.cuh"
#include "prim/warpgroup.cuh"

namespace hstu {

template <class Config>
constexpr int attn_fwd_sm90_smem_bytes = attn90::smem_bytes<Config>;

namespace attn_fwd_sm90_detail {

using namespace attn90;

// One warpgroup's work: 64 rows of each tile.
template <class Config>
struct Consumer {
  using T = Shape<Config>;
  using Tile = HstuTile<Config>;
  using Element = typename Config::Element;
  static constexpr int kBlockN = T::kBlockN, kChunkN = T::kMaskedChunkN;
  // A warpgroup's chunk of the upper range is its own 64 rows, of which each sees itself.
  static constexpr bool kOwnRows = Config::kHasTargets && !Config::kTargetGroups && kChunkN == 64;

  Warpgroup<Config, Tile> wg;

  // A block that some row of the tile does not see wholly, chunk by chunk.
  HSTU_PRIM void masked_block(const AttnFwdParams& p, const Tile& tile, const variant::RowsView<Config>& view,
                              float (&o)[T::kColsV / 2], const u32 (&q)[T::kQWords][4], int block) {
    const int key_begin = tile.plan.key_begin(block);
    const int row = tile.first_row + wg.thread_row();
    wg.k_ring().wait(wg.place);
    wg.v_ring().wait(wg.place);
#pragma unroll 1
    for (int at = 0; at < kBlockN; at += kChunkN) {
      const int key = key_begin + at;
      if (!view.touches(key, key + kChunkN)) continue;
      if (kOwnRows && tile.plan.targets) {
        own_rows(wg, p, o, q, wg.place.stage, at);
        continue;
      }
      float s[kChunkN / 2];
      u32 w[kChunkN / 4];
      prim::wgmma_keep(s);
      prim::wgmma_fence();
      issue_qk<kChunkN>(wg, s, q, wg.place.stage, at);
      prim::wgmma_wait<0>();
      prim::wgmma_keep(s);
      if (!view.sees_all(key, key + kChunkN)) apply_mask<kChunkN>(s, tile.mask, row, key);
      weigh(p, s);
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

  // `count` blocks that every row sees wholly, at least one: products of a block run beside the weights of the next.
  HSTU_PRIM void full_blocks(const AttnFwdParams& p, float (&o)[T::kColsV / 2], const u32 (&q)[T::kQWords][4],
                             int count) {
    float s[kBlockN / 2];
    u32 w[kBlockN / 4];
    wg.k_ring().wait(wg.place);
    prim::wgmma_keep(s);
    prim::wgmma_fence();
    issue_qk<kBlockN>(wg, s, q, wg.place.stage, 0);
    prim::wgmma_wait<0>();
    prim::wgmma_keep(s);
    wg.k_ring().release(wg.place);
    weigh(p, s);
    pack<Element>(s, w);
#pragma unroll 1
    for (int block = 1; block < count; ++block) {
      const auto before = wg.place;
      wg.place.advance();
      wg.k_ring().wait(wg.place);
      prim::wgmma_keep(s);
      prim::wgmma_keep(o);
      prim::wgmma_fence();
      issue_qk<kBlockN>(wg, s, q, wg.place.stage, 0);
      wg.v_ring().wait(before);
      issue_pv<kBlockN>(wg, o, w, before.stage, 0);
      prim::wgmma_wait<1>();
      prim::wgmma_keep(s);
      wg.k_ring().release(wg.place);
      weigh(p, s);
      prim::wgmma_wait<0>();
      prim::wgmma_keep(o);
      wg.v_ring().release(before);
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

  // Scales O and writes the rows of `tile` that exist.
  HSTU_PRIM void store_output(const AttnFwdParams& p, const Tile& tile, const float (&o)[T::kColsV / 2]) const {
    const int lane = prim::lane_id(), warp_row = wg.group * 64 + threadIdx.x % 128 / 32 * 16;
    const i64 start = tile.start;
    const int first = tile.first_row, length = tile.mask.length;
    float scale[2] = {p.scale, p.scale};
    if constexpr (Config::kAttnScale) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int position = first + warp_row + half * 8 + lane / 4;
        const i64 row = start + (position < length ? position : 0);
        scale[half] = __uint_as_float(prim::ld_global4(p.attn_scale + row * p.attn_scale_stride));
      }
    }
    auto* out = static_cast<Element*>(p.out) + (start + first) * p.out_row_stride + tile.head * p.out_head_stride;
    store_rows(wg, o, scale, out, p.out_row_stride, first, length);
  }

  HSTU_PRIM void run(const AttnFwdParams& p) {
    RingPlace<kTileSlots> tile_place;
    u32 q_parity = 0;
#pragma unroll 1
    for (;; tile_place.advance(), q_parity ^= 1) {
      const auto& tile = wg.storage.tile[tile_place.stage];
      wg.wait(&wg.storage.tile_full[tile_place.stage], tile_place.parity);
      const int first_row = tile.first_row;
      if (first_row < 0) return;
      wg.wait(&wg.storage.q_full, q_parity);
      u32 q[T::kQWords][4];
      wg.load_q(q);
      float o[T::kColsV / 2];
#pragma unroll
      for (int i = 0; i < T::kColsV / 2; ++i) o[i] = 0.0f;
      const int partial = tile.plan.partial, full = tile.plan.blocks - partial, row = first_row + wg.group * 64;
      const variant::RowsView<Config> view(tile.mask, row, variant::min_int(row + 64, tile.mask.length));
#pragma unroll 1
      for (int block = 0; block < partial; ++block) masked_block(p, tile, view, o, q, block);
      if (full > 0) full_blocks(p, o, q, full);
      if constexpr (T::kQSteps < T::kStepsQk) wg.release(&wg.storage.q_empty);
      store_output(p, tile, o);
      wg.release(&wg.storage.tile_empty[tile_place.stage]);
    }
  }
};

}  // namespace attn_fwd_sm90_detail

template <class Config>
__global__ void __launch_bounds__(attn90::Shape<Config>::kThreads, 1)
    attn_fwd_sm90(const __grid_constant__ AttnFwdSm90Params p) {
  using T = attn90::Shape<Config>;
  using Tile = attn90::HstuTile<Config>;
  using Storage = attn90::Storage<Config, Tile>;
  extern __shared__ __align__(1024) unsigned char shared[];
  static_assert(sizeof(Storage) <= attn_fwd_sm90_smem_bytes<Config>, "attn90::kExtraBytes");
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
    if (role == 32) attn90::schedule<attn90::HstuPlace<Config>>(p.attn, storage);
  } else {
    prim::raise_registers<T::kConsumerRegisters>();
    attn_fwd_sm90_detail::Consumer<Config>{{storage, base, group, {}}}.run(p.attn);
  }
}

}  // namespace hstu
