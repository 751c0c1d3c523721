// Forward softmax attention for sm_90a: TMA, warpgroup products, warps with roles.
//   O_i = sum over keys j that i sees of exp(alpha q_i . k_j) v_j, divided by the sum of the exponentials
//
// The rooms of attention/sm90/ and how they work together: attention/sm90/shape.cuh. A consumer warpgroup owns 64 rows
// of a tile.
//
// What runs, and the function or the file behind each line, in attention/sm90/ unless it is of this file:
//   scheduler  for each tile, taken from the counter                        schedule.cuh, attention/section_order.cuh
//                describe it and its key blocks, masked and full            flash_tile.cuh
//   loader     for each tile copy Q; for each key block copy K, then V      load.cuh
//   consumer   for each tile                                                Consumer::run()
//                Q to registers, as -Q for a negative alpha                 warpgroup.cuh
//                for each masked block, chunk by chunk                      masked_block()
//                  S = Q K^T, mask, online softmax, O += P V                block_pipeline.cuh: masked_chunk()
//                for each full block                                        full_blocks()
//                  S of the next block beside O += P V of this one          block_pipeline.cuh: BlockPipeline
//                  online softmax of the next; rescale O if its max moved   softmax.cuh
//                divide by row sums; log-sum-exp; O to memory by TMA        store_output(), store.cuh
//
//   masked blocks  the tile's last keys, first: in chunks, those that no row of the warpgroup sees left out
//   full blocks    S of the next block and O += P V of this one are issued together, and the softmax of the next runs
//                  beside P V and the other warpgroups' products; kTurns: their products are ping-pong
//
// A row's reference moves only when a score is 2^8 above it (attention/sm90/softmax.cuh), so O is hardly ever scaled. A
// negative alpha is one of -Q.
//
// What limits it: power at head dim 128 (long rows: 700 TFLOP/s cool, 620 in a row without pause), the special
// functions at 64, of which a score needs one and the chip makes as many as its products need. Measured slower:
// exponentials of 1 or 2 in 8 scores by polynomial at head dim 64 (-5, -9 %: issue slots), three warpgroups at 128 (-3
// %), keys a step below 96 (-4 %) or above 144; ping-pong is worth +2 % at head dim 64, nothing at 128.
//
// Shared memory, order and sources as in attn_fwd_sm90.cuh; FlashAttention-3, arXiv:2407.08608.
#pragma once
#include "attention/attn_fwd_sm90.h"
#include "attention/sm90/block_pipeline.cuh"
#include "attention/sm90/flash_tile.cuh"
#include "attention/sm90/roles.cuh"
#include "attention/sm90/softmax.cuh"
#include "attention/sm90/store.cuh"

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
  enum : int { kChunkN = T::kMaskedChunkN };
  enum : bool { kTurns = Config::kTurns && T::kConsumers > 1 };

  Warpgroup<Config, Tile> wg;

  // A block that some row of the tile does not see wholly, chunk by chunk. All of the warpgroup's rows see keys before
  // `seen`, none sees one from `reached` on.
  HSTU_PRIM void masked_block(const Tile& tile, Softmax& softmax, float (&o)[T::kColsV / 2],
                              const u32 (&q)[T::kQWords][4], int block, int seen, int reached) {
    const int key_begin = tile.plan.key_begin(block);
    const int row = tile.first_row + tile.sequence.first_query() + wg.thread_row();
    wg.k_ring().wait(wg.place);
    wg.v_ring().wait(wg.place);
#pragma unroll 1
    for (int at = 0; at < T::kBlockN && key_begin + at < reached; at += kChunkN) {
      const int key = key_begin + at;
      masked_chunk<kChunkN>(wg, softmax, o, q, at, tile.mask(), row, key, key + kChunkN <= seen);
    }
    if (key_begin >= reached) wg.sync();
    wg.k_ring().release(wg.place);
    wg.v_ring().release(wg.place);
    wg.place.advance();
  }

  // `count` blocks that every row sees wholly, at least one.
  HSTU_PRIM void full_blocks(Softmax& softmax, float (&o)[T::kColsV / 2], const u32 (&q)[T::kQWords][4], int count) {
    const auto make_p = [&softmax](float(&s)[T::kBlockN / 2], float(&rescale)[2]) {
      const bool needs_rescale = softmax.update_max(s, rescale);
      softmax.make_p<false>(s);
      return needs_rescale;
    };
    BlockPipeline<kTurns, Config, Tile> pipeline(wg, o, q, softmax.flip());
    pipeline.prologue(make_p);
#pragma unroll 1
    for (int block = 1; block < count; ++block) pipeline.step(make_p);
    pipeline.drain();
  }

  // Divides O by the sums and writes the rows that exist, and their log-sum-exp; rows without keys are zeros.
  HSTU_PRIM void store_output(const AttnFwdParams& p, const Tile& tile, const Softmax& softmax,
                              const float (&o)[T::kColsV / 2]) const {
    const int rows = tile.sequence.last_query() - tile.sequence.first_query();
    float factor[2], lse[2];
    softmax.finish(factor, lse);
    if constexpr (Config::kLse) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = tile.first_row + wg.thread_row() + half * 8;
        if (row < rows && prim::lane_id() % 4 == 0)
          *tile.sequence.lse(p, tile.head, tile.sequence.first_query() + row) = lse[half];
      }
    }
    store_rows<Element>(wg, o, factor, tile.rows().queries(), tile.first_row, tile.head);
  }

  HSTU_PRIM void run(const AttnFwdParams& p) {
    PipelineState<kTileSlots> tile_place;
    u32 q_parity = 0;
    ping_pong_init<kTurns>(wg);
#pragma unroll 1
    for (;; tile_place.advance(), q_parity ^= 1) {
      const auto& tile = wg.storage.tile[tile_place.stage];
      wg.wait(&wg.storage.tile_full[tile_place.stage], tile_place.parity);
      if (tile.first_row < 0) break;
      wg.wait(&wg.storage.q_full, q_parity);
      Softmax softmax(p.log2_alpha);
      if (softmax.negated) wg.negate_q();
      u32 q[T::kQWords][4];
      wg.load_q(q);
      float o[T::kColsV / 2];
      clear(o);
      const int partial = tile.plan.partial, full = tile.plan.blocks - partial;
      const int first = tile.sequence.first_query() + tile.first_row + wg.group * 64;
      const int seen = tile.mask().limit(first), reached = tile.mask().limit(first + 63);
#pragma unroll 1
      for (int block = 0; block < partial; ++block) masked_block(tile, softmax, o, q, block, seen, reached);
      if (full > 0) full_blocks(softmax, o, q, full);
      if constexpr (T::kQSteps < T::kStepsQk) wg.release(&wg.storage.q_empty);
      store_output(p, tile, softmax, o);
      wg.release_tile(tile_place.stage);
    }
    finish_stores(wg);
  }
};

}  // namespace flash_attn_sm90_detail

template <class Config>
__global__ void __launch_bounds__(attn90::Shape<Config>::kThreads, Config::kBlocks)
    flash_attn_sm90(const __grid_constant__ AttnFwdSm90Params p) {
  attn90::run<Config, attn90::FlashTile<Config>, attn90::FlashPlace<Config>, flash_attn_sm90_detail::Consumer>(p);
}

}  // namespace hstu
