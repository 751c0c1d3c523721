// The mainloop of a consumer warpgroup of HSTU attention: a tile's key blocks one after the other, and the factors of
// O.
//
// Tile: mask, plan, what its warpgroups see (attention/sm90/seen_blocks.cuh) and where its rows are: HstuTile,
// IntervalTile or DeltaTile.
#pragma once
#include "attention/mask/hstu_mask.cuh"
#include "attention/sm90/block_pipeline.cuh"
#include "attention/sm90/seen_blocks.cuh"

namespace hstu::attn90 {

// The mask of a block that ends before key `end`.
template <class Mask>
struct BlockMask {
  const Mask& mask;
  int end;

  HSTU_PRIM u32 seen_bits(int i, int key) const { return mask.seen_bits(i, key) & variant::bits_below(end - key); }
};

template <class Config, class Tile, class Params>
struct HstuMainloop {
  using T = Shape<Config>;
  using Element = typename Config::Element;
  using Mask = decltype(Tile::mask);
  using Seen = typename Tile::Seen;
  enum : int { kBlockN = T::kBlockN };
  // Groups want a division for each row. SiLU alone, with less to do beside its products, is 0.3 % slower so.
  enum : bool { kShared = Config::kTargetGroups && Config::kSoftmax };
  // A warpgroup's part of the upper range is its own 64 rows, of which each sees itself.
  enum : bool { kOwnRows = Config::kHasTargets && !Config::kTargetGroups && kBlockN % 64 == 0 };
  enum : bool { kLoose = has_loose_bias<Tile>(0) != 0 };

  Warpgroup<Config, Tile> wg;

  // Releases `count` blocks that the warpgroup's rows see nothing of.
  HSTU_PRIM void skip_blocks(int count) {
#pragma unroll 1
    for (; count > 0; --count) {
      wg.k_ring().wait(wg.place);
      wg.v_ring().wait(wg.place);
      wg.sync();
      release_block();
    }
  }
  HSTU_PRIM void release_block() {
    wg.k_ring().release(wg.place);
    wg.v_ring().release(wg.place);
    wg.place.advance();
  }

  template <class Weights>
  HSTU_PRIM void mask_scores(const Tile& tile, const Weights& weights, float (&s)[kBlockN / 2], int block) const {
    const int row = tile.position() + wg.thread_row(), key = tile.plan.key_begin(block);
    if constexpr (Weights::kZeroIsNothing)
      apply_mask<kBlockN, kShared>(s, tile.mask, row, key, weights.masked_score());
    else
      apply_mask<kBlockN, kShared>(s, BlockMask<Mask>{tile.mask, tile.plan.end_of(block)}, row, key,
                                   weights.masked_score());
  }

  // Makes P of a block's scores; kMasked: some of the warpgroup's rows do not see all of it.
  template <bool kMasked, class Weights>
  HSTU_PRIM auto p_maker(const Tile& tile, Weights& weights, int block) const {
    return [this, &tile, &weights, block](float(&s)[kBlockN / 2], float(&rescale)[2]) {
      if constexpr (kMasked) mask_scores(tile, weights, s, block);
      const bool needs_rescale = weights.update_max(s, rescale);
      weights.template make_p<kMasked>(s);
      return needs_rescale;
    };
  }

  // The blocks of `seen`, at least one.
  template <class Weights>
  HSTU_PRIM void attend_blocks(const Tile& tile, Weights& weights, float (&o)[T::kColsV / 2],
                               const u32 (&q)[T::kQWords][4], const variant::BlockRange& seen) {
    BlockPipeline<false, Config, Tile> pipeline(wg, o, q, weights.flip());
    pipeline.prologue([&](float(&s)[kBlockN / 2], float(&rescale)[2]) {
      if (!seen.is_full(seen.begin)) mask_scores(tile, weights, s, seen.begin);
      const bool needs_rescale = weights.update_max(s, rescale);
      weights.template make_p<true>(s);
      return needs_rescale;
    });
    int block = seen.begin + 1;
#pragma unroll 1
    while (block < seen.end) {
      const int full_until = seen.is_full(block) ? seen.full_end : block;
#pragma unroll 1
      for (; block < full_until; ++block) pipeline.step(p_maker<false>(tile, weights, block));
      if (block < seen.end) {
        pipeline.step(p_maker<true>(tile, weights, block));
        ++block;
      }
    }
    pipeline.drain();
  }

  // The same of blocks whose bias does not come with them. They are few, so one step after the other will do.
  template <class Weights>
  HSTU_PRIM void attend_loose(const Params& p, const Tile& tile, Weights& weights, float (&o)[T::kColsV / 2],
                              const u32 (&q)[T::kQWords][4], const variant::BlockRange& seen) {
    const variant::RelativeBias<Config> bias(p, tile.seq, tile.head);
#pragma unroll 1
    for (int block = seen.begin; block < seen.end; ++block) {
      float s[kBlockN / 2], rescale[2];
      u32 w[kBlockN / 4];
      init_scores(bias, s, tile.position() + wg.thread_row(), tile.plan.key_begin(block));
      wg.k_ring().wait(wg.place);
      prim::warpgroup_fence_operand(s);
      prim::wgmma_fence();
      issue_qk<kBlockN>(wg, s, q, wg.place.stage, 0);
      prim::wgmma_wait<0>();
      prim::warpgroup_fence_operand(s);
      p_maker<true>(tile, weights, block)(s, rescale);
      pack<Element>(s, w);
      wg.v_ring().wait(wg.place);
      prim::warpgroup_fence_operand(o);
      prim::wgmma_fence();
      issue_pv<kBlockN>(wg, o, w, wg.place.stage, 0);
      prim::wgmma_wait<0>();
      prim::warpgroup_fence_operand(o);
      release_block();
    }
  }

  // O of the tile's rows but for a factor.
  template <class Weights>
  HSTU_PRIM void attend(const Params& p, const Tile& tile, Weights& weights, float (&o)[T::kColsV / 2],
                        const u32 (&q)[T::kQWords][4]) {
    int done = 0;  // blocks
#pragma unroll 1
    for (int range = 0; range < Seen::kRanges; ++range) {
      const variant::BlockRange seen = tile.seen.of[wg.group][range];
      skip_blocks(seen.begin - done);
      done = seen.end;
      if (seen.begin == seen.end) continue;
      wg.place.stage = prim::uniform(wg.place.stage);  // so that descriptors are
      wg.place.parity = prim::uniform(wg.place.parity);
      if (kLoose && range < Seen::kLower) {
        if constexpr (kLoose) attend_loose(p, tile, weights, o, q, seen);
      } else if (kOwnRows && weights.zero_is_nothing() && range < Seen::kLower && tile.upper_is_own()) {
        wg.k_ring().wait(wg.place);
        wg.v_ring().wait(wg.place);
        own_rows(wg, p, o, q, wg.place.stage, wg.group * 64 % kBlockN);
        release_block();
      } else {
        attend_blocks(tile, weights, o, q, seen);
      }
    }
    skip_blocks(tile.plan.blocks - done);
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
