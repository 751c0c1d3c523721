// The mainloop's software pipeline over key blocks, whatever makes P of S (sm_90 attention kernels): S of the next
// block is issued together with O += P V of this one.
//
// Weights: Silu (scores.cuh) or Softmax (softmax.cuh) has
//   kZeroIsNothing, zero_is_nothing()   keys that are zeros add nothing: always, or for the head at hand
//   masked_score()   the score of a key that a row does not see
//   negates()        scores are to be negated; flip() changes the signs of two
//   update_max(s, rescale)  raises the rows' running maximum to these scores; whether O is to be rescaled, row by row
//   make_p<kMasked>(s)      S -> P in place; kMasked: keys may be masked
#pragma once
#include "attention/sm90/scores.cuh"
#include "attention/sm90/values.cuh"
#include "prim/named_barrier.cuh"

namespace hstu::attn90 {

template <int kCount>
HSTU_PRIM void clear(float (&o)[kCount]) {
#pragma unroll
  for (float& x : o) x = 0.0f;
}
// The thread's rows of O, each by its own factor.
template <int kCount>
HSTU_PRIM void rescale_rows(float (&o)[kCount], const float (&by)[2]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) o[i] *= by[i / 2 % 2];
}

// kKeys keys of the stage at hand, from row `at` of it on, which some of the warpgroup's rows may not see: unless
// all_seen, `mask` has seen_bits() for the thread's `row` and the eighth behind it.
template <int kKeys, class Config, class Tile, class Weights, class Mask>
HSTU_PRIM void masked_chunk(const Warpgroup<Config, Tile>& wg, Weights& weights, float (&o)[Shape<Config>::kColsV / 2],
                            const u32 (&q)[Shape<Config>::kQWords][4], int at, const Mask& mask, int row, int key,
                            bool all_seen) {
  float s[kKeys / 2], rescale[2];
  u32 w[kKeys / 4];
  prim::warpgroup_fence_operand(s);
  prim::wgmma_fence();
  issue_qk<kKeys>(wg, s, q, wg.place.stage, at);
  prim::wgmma_wait<0>();
  prim::warpgroup_fence_operand(s);
  if (!all_seen) apply_mask<kKeys>(s, mask, row, key, weights.masked_score());
  if (weights.update_max(s, rescale)) rescale_rows(o, rescale);
  weights.template make_p<true>(s);
  pack<typename Config::Element>(s, w);
  prim::warpgroup_fence_operand(o);
  prim::wgmma_fence();
  issue_pv<kKeys>(wg, o, w, wg.place.stage, at);
  prim::wgmma_wait<0>();
  prim::warpgroup_fence_operand(o);
}

// Ping-pong (kTurns): warpgroups issue their products one after the other, so that one's softmax runs beside the
// others' products.
template <bool kTurns, class Config, class Tile>
HSTU_PRIM void ping_pong_wait(const Warpgroup<Config, Tile>& wg) {
  if constexpr (kTurns) prim::named_barrier_sync(1 + wg.group, 256);
}
template <bool kTurns, class Config, class Tile>
HSTU_PRIM void ping_pong_arrive(const Warpgroup<Config, Tile>& wg) {
  if constexpr (kTurns) prim::named_barrier_arrive(wg.group + 1 == Config::kConsumers ? 1 : 2 + wg.group, 256);
}
// Once, before all else: lets the first warpgroup pass its first wait.
template <bool kTurns, class Config, class Tile>
HSTU_PRIM void ping_pong_init(const Warpgroup<Config, Tile>& wg) {
  if (kTurns && wg.group + 1 == Config::kConsumers) prim::named_barrier_arrive(1, 256);
}

// Key blocks one after the other, prologue() for the first, step() for each other, then drain(): products of a block
// run beside the weights of the next. make_p(s, rescale) makes P of a block's scores in place, and returns whether O is
// to be rescaled by `rescale`.
template <bool kTurns, class Config, class Tile>
struct BlockPipeline {
  using T = Shape<Config>;
  using Element = typename Config::Element;
  enum : int { kBlockN = T::kBlockN };

  Warpgroup<Config, Tile>& wg;
  float (&o)[T::kColsV / 2];
  const u32 (&q)[T::kQWords][4];
  u32 flip;
  float s[kBlockN / 2];
  u32 w[kBlockN / 4];  // P of the block whose products are still to come

  HSTU_PRIM BlockPipeline(Warpgroup<Config, Tile>& wg, float (&o)[T::kColsV / 2], const u32 (&q)[T::kQWords][4],
                          u32 flip)
      : wg(wg), o(o), q(q), flip(flip) {}

  template <class MakeP>
  HSTU_PRIM void prologue(const MakeP& make_p) {
    float rescale[2];
    wg.k_ring().wait(wg.place);
    init_scores(wg, s, wg.place.stage, flip);
    ping_pong_wait<kTurns>(wg);
    prim::warpgroup_fence_operand(s);
    prim::wgmma_fence();
    issue_qk<kBlockN>(wg, s, q, wg.place.stage, 0);
    ping_pong_arrive<kTurns>(wg);
    prim::wgmma_wait<0>();
    prim::warpgroup_fence_operand(s);
    wg.k_ring().release(wg.place);
    if (make_p(s, rescale)) rescale_rows(o, rescale);
    pack<Element>(s, w);
  }

  template <class MakeP>
  HSTU_PRIM void step(const MakeP& make_p) {
    float rescale[2];
    const auto before = wg.place;
    wg.place.advance();
    wg.k_ring().wait(wg.place);
    init_scores(wg, s, wg.place.stage, flip);
    ping_pong_wait<kTurns>(wg);
    prim::warpgroup_fence_operand(s);
    prim::warpgroup_fence_operand(o);
    prim::wgmma_fence();
    issue_qk<kBlockN>(wg, s, q, wg.place.stage, 0);
    wg.v_ring().wait(before);
    issue_pv<kBlockN>(wg, o, w, before.stage, 0);
    ping_pong_arrive<kTurns>(wg);
    prim::wgmma_wait<1>();
    prim::warpgroup_fence_operand(s);
    wg.k_ring().release(wg.place);
    const bool needs_rescale = make_p(s, rescale);
    prim::wgmma_wait<0>();
    prim::warpgroup_fence_operand(o);
    wg.v_ring().release(before);
    if (needs_rescale) rescale_rows(o, rescale);
    pack<Element>(s, w);
  }

  HSTU_PRIM void drain() {
    wg.v_ring().wait(wg.place);
    prim::warpgroup_fence_operand(o);
    prim::wgmma_fence();
    issue_pv<kBlockN>(wg, o, w, wg.place.stage, 0);
    prim::wgmma_wait<0>();
    prim::warpgroup_fence_operand(o);
    wg.v_ring().release(wg.place);
    wg.place.advance();
  }
};

}  // namespace hstu::attn90
