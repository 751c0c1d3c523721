// What a consumer warpgroup of HSTU attention does with a tile: its key blocks one after the other, and the factors of
// O.
//
// Tile: mask, plan, what its warpgroups see (attn90/seen_blocks.cuh) and where its rows are, HstuTile or DeltaTile.
#pragma once
#include "attn90/blocks.cuh"
#include "attn90/seen_blocks.cuh"
#include "variant/hstu_mask.cuh"

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
  using Element = typename Config::Element;
  using Seen = SeenBlocks<Config>;
  enum : int { kBlockN = T::kBlockN };
  // A warpgroup's part of the upper range is its own 64 rows, of which each sees itself.
  enum : bool { kOwnRows = Config::kHasTargets && !Config::kTargetGroups && kBlockN % 64 == 0 };

  Warpgroup<Config, Tile> wg;

  // Lets go of `count` blocks that the warpgroup's rows see nothing of.
  HSTU_PRIM void pass_over(int count) {
#pragma unroll 1
    for (; count > 0; --count) {
      wg.k_ring().wait(wg.place);
      wg.v_ring().wait(wg.place);
      wg.sync();
      leave_block();
    }
  }
  HSTU_PRIM void leave_block() {
    wg.k_ring().release(wg.place);
    wg.v_ring().release(wg.place);
    wg.place.advance();
  }

  template <class Weights>
  HSTU_PRIM void hide(const Tile& tile, float (&s)[kBlockN / 2], int block) const {
    const int row = tile.position() + wg.thread_row(), key = tile.plan.key_begin(block);
    if constexpr (Weights::kZeroIsNothing)
      apply_mask<kBlockN>(s, tile.mask, row, key, Weights::hidden());
    else
      apply_mask<kBlockN>(s, BlockMask<Config>{tile.mask, tile.plan.end_of(block)}, row, key, Weights::hidden());
  }

  // Scores of the block at hand to weights; kSome: some of the warpgroup's rows do not see all of it. Returns whether
  // what was added up before is to be multiplied with `kept`.
  template <bool kSome, class Weights>
  HSTU_PRIM bool weigh(const Tile& tile, Weights& weights, float (&s)[kBlockN / 2], float (&kept)[2], int block) const {
    if constexpr (kSome) hide<Weights>(tile, s, block);
    const bool moved = weights.meet(s, kept);
    weights.template weigh<kSome>(s);
    return moved;
  }

  // One more block: its scores and the sums of the block before together, whose words of P are w, then its own P.
  template <bool kSome, class Weights>
  HSTU_PRIM void step(const Tile& tile, Weights& weights, float (&o)[T::kColsV / 2], const u32 (&q)[T::kQWords][4],
                      float (&s)[kBlockN / 2], u32 (&w)[kBlockN / 4], int block) {
    float kept[2];
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
    const bool moved = weigh<kSome>(tile, weights, s, kept, block);
    prim::wgmma_wait<0>();
    prim::wgmma_keep(o);
    wg.v_ring().release(before);
    if (moved) scale_rows(o, kept);
    pack<Element>(s, w);
  }

  // The blocks of `seen`, at least one: products of a block run beside the weights of the next.
  template <class Weights>
  HSTU_PRIM void attend_blocks(const Tile& tile, Weights& weights, float (&o)[T::kColsV / 2],
                               const u32 (&q)[T::kQWords][4], const variant::BlockRange& seen) {
    float s[kBlockN / 2], kept[2];
    u32 w[kBlockN / 4];
    wg.k_ring().wait(wg.place);
    prim::wgmma_keep(s);
    prim::wgmma_fence();
    issue_qk<kBlockN>(wg, s, q, wg.place.stage, 0);
    prim::wgmma_wait<0>();
    prim::wgmma_keep(s);
    wg.k_ring().release(wg.place);
    const bool moved = seen.is_full(seen.begin) ? weigh<false>(tile, weights, s, kept, seen.begin)
                                                : weigh<true>(tile, weights, s, kept, seen.begin);
    if (moved) scale_rows(o, kept);
    pack<Element>(s, w);
    int block = seen.begin + 1;
#pragma unroll 1
    while (block < seen.end) {
      const int full_until = seen.is_full(block) ? seen.full_end : block;
#pragma unroll 1
      for (; block < full_until; ++block) step<false>(tile, weights, o, q, s, w, block);
      if (block < seen.end) step<true>(tile, weights, o, q, s, w, block++);
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

  // O of the tile's rows but for a factor.
  template <class Weights>
  HSTU_PRIM void attend(const Params& p, const Tile& tile, Weights& weights, float (&o)[T::kColsV / 2],
                        const u32 (&q)[T::kQWords][4]) {
    int done = 0;  // blocks
#pragma unroll 1
    for (int range = 0; range < Seen::kRanges; ++range) {
      const variant::BlockRange seen = tile.seen.of[wg.group][range];
      pass_over(seen.begin - done);
      done = seen.end;
      if (seen.begin == seen.end) continue;
      wg.place.stage = prim::uniform(wg.place.stage);  // so that descriptors are
      wg.place.parity = prim::uniform(wg.place.parity);
      if (kOwnRows && Weights::kZeroIsNothing && range < Seen::kLower && tile.upper_is_own()) {
        wg.k_ring().wait(wg.place);
        wg.v_ring().wait(wg.place);
        own_rows(wg, p, o, q, wg.place.stage, wg.group * 64 % kBlockN);
        leave_block();
      } else {
        attend_blocks(tile, weights, o, q, seen);
      }
    }
    pass_over(tile.plan.blocks - done);
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
