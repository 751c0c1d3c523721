// Forward HSTU attention for sm_90a: TMA, warpgroup products, warps with roles.
//   O_i = scale * sum over allowed keys j of silu(alpha q_i . k_j) v_j
// or, in the first num_softmax_heads heads, softmax attention over the allowed keys.
//
// kBlocks persistent blocks of threads an SM work on tiles of kBlockM = 64 kConsumers query rows of a (sequence, head),
// taken from a counter that all share. Each of kConsumers warpgroups owns 64 rows and keeps their O in registers; one
// more holds a warp that takes and describes the tiles, and a thread that starts the copies: Q once a tile, K and V
// block by block through rings of kStages.
//
//   loader     Q, K, V --TMA, jagged rows clipped--> smem (128-byte swizzle)
//   consumer   S = Q K^T (wgmma), P = silu(S) in registers, O += P V (wgmma, P as its register operand)
//
// What runs, and the file behind each line, in attention/sm90/ unless a folder is named:
//   scheduler  for each place of the order, taken from the counter          schedule.cuh, attention/section_order.cuh
//                describe the tile and the ranges of blocks that it sees    hstu_tile.cuh, seen_blocks.cuh
//   loader     for each tile                                                load.cuh
//                copy Q; for each block of keys copy K, then V              load.cuh
//   consumer   for each tile                                                attn_fwd_sm90.cuh, Consumer::run
//                Q to registers                                             warpgroup.cuh
//                for each block that its rows see                           hstu_mainloop.cuh, block_pipeline.cuh
//                  S of the next block beside O += P V of this one          block_pipeline.cuh, values.cuh
//                  mask, where rows see a part of the block                 scores.cuh, attention/mask/hstu_mask.cuh
//                  P = silu(S), or online softmax                           scores.cuh, softmax.cuh
//                scale, log-sum-exp, moments; O to memory by TMA            attn_fwd_sm90.cuh, store.cuh
//
// A warpgroup goes through the blocks that its rows see something of, in the order of keys: S of the next block and O
// += P V of this one are issued together, and P of the next is made while the other warpgroups' products run. Which
// blocks these are, and which of them all of its rows see, so that they take no mask arithmetic, is found once a tile
// by the warp that describes it (attention/sm90/seen_blocks.cuh): the warpgroups themselves would need a quarter of a
// window's time. What limits long sequences is power: the tensor cores are busy 97 % of the time, at 1.6 GHz. Q in
// registers (less shared memory is read) is worth 3 %. What limits sequences of 512 is the way between the halves of
// the L2 cache, 93 % busy: sections of few pairs give 4 %, and where all keys of a pair are few a whole pair to an SM
// gives 5 %. Not worth it: ping-pong warpgroups (+1 %, windows -1 %), a copying thread each for K, V.
// What was tried: docs/experiments/attention_sm90.md.
//
// With Config::kMoments mean and squared deviations of each row's values are written beside them, for a norm.
//
// Shared memory   Q | K ring | V ring | up to 128 columns of O | barriers, tile descriptions
// Order           attention/sm90/schedule.cuh, attention/section_order.cuh
// Sources         arXiv:2402.17152 (maths); FlashAttention-3, arXiv:2407.08608 (products beside special functions)
#pragma once
#include "attention/attn_fwd_sm90.h"
#include "attention/sm90/hstu_mainloop.cuh"
#include "attention/sm90/hstu_tile.cuh"
#include "attention/sm90/interval_tile.cuh"
#include "attention/sm90/roles.cuh"
#include "attention/sm90/softmax.cuh"
#include "attention/sm90/store.cuh"

namespace hstu {

template <class Config>
constexpr int attn_fwd_sm90_smem_bytes = attn90::smem_bytes<Config>;

namespace attn_fwd_sm90_detail {

using namespace attn90;

// Whether statistics of out's rows are written, too; a Config that says nothing has none.
template <class Config>
HSTU_PRIM constexpr auto writes_moments(int) -> decltype(Config::kMoments + 0) {
  return Config::kMoments;
}
template <class Config>
HSTU_PRIM constexpr int writes_moments(long) {
  return 0;
}

// One warpgroup's work: 64 rows of each tile.
template <class Config>
struct Consumer : HstuMainloop<Config, typename Config::Tile, AttnFwdParams> {
  using T = Shape<Config>;
  using Tile = typename Config::Tile;
  using Element = typename Config::Element;
  using Mainloop = HstuMainloop<Config, Tile, AttnFwdParams>;
  using Mainloop::attend, Mainloop::find_scale, Mainloop::wg;

  HSTU_PRIM void store_lse(const AttnFwdParams& p, const Tile& tile, const float (&lse)[2]) const {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int position = tile.first_row + wg.thread_row() + half * 8;
      if (position < tile.mask.length && prim::lane_id() % 4 == 0)
        p.lse[(tile.start + position) * p.lse_row_stride + tile.head * p.lse_head_stride] = lse[half];
    }
  }

  HSTU_PRIM void store_moments(const AttnFwdParams& p, const Tile& tile, const float (&o)[T::kColsV / 2],
                               const float (&scale)[2]) const {
    tile::PartMoments moments[2];
    row_moments<Element, Config>(moments, o, scale);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int position = tile.first_row + wg.thread_row() + half * 8;
      const i64 at = (tile.start + position) * p.num_heads + tile.head;
      if (position < tile.mask.length && prim::lane_id() % 4 == 0)
        prim::st_global8(p.moments + 2 * at,
                         prim::Pair{{__float_as_uint(moments[half].mean), __float_as_uint(moments[half].squares)}});
    }
  }
  HSTU_PRIM void store(const AttnFwdParams& p, const Tile& tile, const float (&o)[T::kColsV / 2],
                       const float (&scale)[2]) const {
    if constexpr (writes_moments<Config>(0) != 0) store_moments(p, tile, o, scale);
    store_rows<Element>(wg, o, scale, tile.rows().queries(), tile.first_row, tile.head);
  }

  // What the rows of O are multiplied with, by the weights of the tile's head.
  HSTU_PRIM void finish(const AttnFwdParams& p, const Tile& tile, const Silu<AttnFwdParams, Config::kBias>&,
                        float (&factor)[2]) const {
    find_scale(p, tile, factor);
  }
  HSTU_PRIM void finish(const AttnFwdParams& p, const Tile& tile, const Softmax& weights, float (&factor)[2]) const {
    float lse[2];
    weights.finish(factor, lse);
    if constexpr (Config::kLse) store_lse(p, tile, lse);
  }
  HSTU_PRIM void finish(const AttnFwdParams& p, const Tile& tile,
                        const SomeSoftmax<AttnFwdParams, Config::kBias>& weights, float (&factor)[2]) const {
    if (weights.is_softmax)
      finish(p, tile, weights.softmax, factor);
    else
      finish(p, tile, weights.silu, factor);
  }

  template <class Weights>
  HSTU_PRIM void run_tile(const AttnFwdParams& p, const Tile& tile, Weights weights) {
    u32 q[T::kQWords][4];
    float o[T::kColsV / 2], factor[2];
    if (weights.negates()) wg.negate_q();
    wg.load_q(q);
    clear(o);
    attend(p, tile, weights, o, q);
    finish(p, tile, weights, factor);
    store(p, tile, o, factor);
  }
  HSTU_PRIM void run_tile(const AttnFwdParams& p, const Tile& tile) {
    // With all masks two copies of the steps take 1.6 s to compile, one 0.9. Without them one is 3 % slower.
    constexpr bool kOneCopy = Config::kSilu && Config::kSoftmax && Config::kMaxAttnLen && Config::kContextual;
    const bool is_softmax = is_softmax_head<Config>(p, tile.head);
    if constexpr (kOneCopy)
      run_tile(p, tile, SomeSoftmax<AttnFwdParams, Config::kBias>(p, is_softmax));
    else if (is_softmax)
      run_tile(p, tile, Softmax(p.log2_alpha));
    else
      run_tile(p, tile, Silu<AttnFwdParams, Config::kBias>{p});
  }

  HSTU_PRIM void run(const AttnFwdParams& p) {
    PipelineState<kTileSlots> tile_place;
    u32 q_parity = 0;
#pragma unroll 1
    for (;; tile_place.advance(), q_parity ^= 1) {
      const auto& tile = wg.storage.tile[tile_place.stage];
      wg.wait(&wg.storage.tile_full[tile_place.stage], tile_place.parity);
      if (tile.first_row < 0) break;
      wg.wait(&wg.storage.q_full, q_parity);
      run_tile(p, tile);
      wg.release_tile(tile_place.stage);
    }
    finish_stores(wg);
  }
};

}  // namespace attn_fwd_sm90_detail

template <class Config>
__global__ void __launch_bounds__(attn90::Shape<Config>::kThreads, Config::kBlocks)
    attn_fwd_sm90(const __grid_constant__ AttnFwdSm90Params p) {
  attn90::run<Config, typename Config::Tile, typename Config::Place, attn_fwd_sm90_detail::Consumer>(p);
}

}  // namespace hstu
