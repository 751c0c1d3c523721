// What a consumer warpgroup of HSTU attention does with a tile: its key blocks one after the other, and the factors of
// O.
//
// Tile: mask, plan and what places its 64 rows of the warpgroup have, HstuTile or DeltaTile.
#pragma once
#include "attn90/blocks.cuh"
#include "variant/hstu_mask.cuh"
#include "variant/row_tiles.cuh"

namespace hstu::attn90 {

// The mask of a block that ends before key `end`.
template <class Config>
struct BlockMask {
  const variant::HstuMask<Config>& mask;
  int end;

  HSTU_PRIM u32 seen_bits(int i, int key) const { return mask.seen_bits(i, key) & variant::bits_below(end - key); }
};

template <class Config, class Tile, class Params>
struct HstuSteps {
  using T = Shape<Config>;
  enum : int { kBlockN = T::kBlockN, kChunkN = T::kMaskedChunkN };
  // A warpgroup's chunk of the upper range is its own 64 rows, of which each sees itself.
  enum : bool { kOwnRows = Config::kHasTargets && !Config::kTargetGroups && kChunkN == 64 };

  Warpgroup<Config, Tile> wg;

  // A block that some row of the tile does not see wholly, chunk by chunk.
  template <class Weights>
  HSTU_PRIM void masked_block(const Params& p, const Tile& tile, const variant::RowsView<Config>& view,
                              Weights& weights, float (&o)[T::kColsV / 2], const u32 (&q)[T::kQWords][4], int block) {
    const int key_begin = tile.plan.key_begin(block);
    const int row = tile.position() + wg.thread_row();
    bool touched = false;
    wg.k_ring().wait(wg.place);
    wg.v_ring().wait(wg.place);
#pragma unroll 1
    for (int at = 0; at < kBlockN; at += kChunkN) {
      const int key = key_begin + at;
      if (!view.touches(key, key + kChunkN)) continue;
      touched = true;
      if (kOwnRows && Weights::kZeroIsNothing && tile.upper_is_own()) {
        own_rows(wg, p, o, q, wg.place.stage, at);
        continue;
      }
      const bool all_seen = view.sees_all(key, key + kChunkN);
      if constexpr (Weights::kZeroIsNothing)
        masked_chunk<kChunkN>(wg, weights, o, q, at, tile.mask, row, key, all_seen);
      else
        masked_chunk<kChunkN>(wg, weights, o, q, at, BlockMask<Config>{tile.mask, tile.plan.end_of(block)}, row, key,
                              all_seen);
    }
    if (!touched) wg.sync();
    wg.k_ring().release(wg.place);
    wg.v_ring().release(wg.place);
    wg.place.advance();
  }

  // O of the tile's rows but for a factor.
  template <class Weights>
  HSTU_PRIM void attend(const Params& p, const Tile& tile, Weights& weights, float (&o)[T::kColsV / 2],
                        const u32 (&q)[T::kQWords][4]) {
    const auto view = tile.view(wg.group * 64);
    const int masked = tile.plan.masked_blocks(view), full = tile.plan.blocks - masked;
#pragma unroll 1
    for (int block = 0; block < masked; ++block) masked_block(p, tile, view, weights, o, q, block);
    if (full > 0) full_blocks<false>(wg, weights, o, q, full);
    if constexpr (T::kQSteps < T::kStepsQk) wg.release(&wg.storage.q_empty);
  }

  // Under SiLU: what O of the thread's row and the eighth behind it is multiplied with.
  HSTU_PRIM void find_scale(const Params& p, const Tile& tile, float (&scale)[2]) const {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      scale[half] = p.scale;
      if constexpr (Config::kAttnScale) {
        const int at = tile.first_row + wg.thread_row() + half * 8;
        const i64 row = tile.start + (at < tile.row_count() ? at : 0);
        scale[half] = __uint_as_float(prim::ld_global4(p.attn_scale + row * p.attn_scale_stride));
      }
    }
  }
};

}  // namespace hstu::attn90
