// A consumer's steps through key blocks, whatever makes P of S (sm_90 attention kernels).
//
// Weights: Silu (scores.cuh) or Softmax (softmax.cuh) has
//   kZeroIsNothing, zero_is_nothing()   keys that are zeros add nothing: always, or for the head at hand
//   hidden()         the score of a key that a row does not see
//   negates()        scores are to be negated; flip() changes the signs of two
//   meet(s, kept)    looks at more scores before they are weighed; whether what was added up so far is to be multiplied
//                    with `kept`, row by row
//   weigh<kSome>(s)  S -> P in place; kSome: keys may be hidden from the rows
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
// The thread's rows of O, multiplied each with its own.
template <int kCount>
HSTU_PRIM void scale_rows(float (&o)[kCount], const float (&by)[2]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) o[i] *= by[i / 2 % 2];
}

// kKeys keys of the stage at hand, from row `at` of it on, which some of the warpgroup's rows may not see: unless
// all_seen, `mask` has seen_bits() for the thread's `row` and the eighth behind it.
template <int kKeys, class Config, class Tile, class Weights, class Mask>
HSTU_PRIM void masked_chunk(const Warpgroup<Config, Tile>& wg, Weights& weights, float (&o)[Shape<Config>::kColsV / 2],
                            const u32 (&q)[Shape<Config>::kQWords][4], int at, const Mask& mask, int row, int key,
                            bool all_seen) {
  float s[kKeys / 2], kept[2];
  u32 w[kKeys / 4];
  prim::wgmma_keep(s);
  prim::wgmma_fence();
  issue_qk<kKeys>(wg, s, q, wg.place.stage, at);
  prim::wgmma_wait<0>();
  prim::wgmma_keep(s);
  if (!all_seen) apply_mask<kKeys>(s, mask, row, key, weights.hidden());
  if (weights.meet(s, kept)) scale_rows(o, kept);
  weights.template weigh<true>(s);
  pack<typename Config::Element>(s, w);
  prim::wgmma_keep(o);
  prim::wgmma_fence();
  issue_pv<kKeys>(wg, o, w, wg.place.stage, at);
  prim::wgmma_wait<0>();
  prim::wgmma_keep(o);
}

// Warpgroups may issue their products in turns, so that one's weights are made beside the others' products.
template <bool kTurns, class Config, class Tile>
HSTU_PRIM void await_turn(const Warpgroup<Config, Tile>& wg) {
  if constexpr (kTurns) prim::named_barrier_sync(1 + wg.group, 256);
}
template <bool kTurns, class Config, class Tile>
HSTU_PRIM void pass_turn(const Warpgroup<Config, Tile>& wg) {
  if constexpr (kTurns) prim::named_barrier_arrive(wg.group + 1 == Config::kConsumers ? 1 : 2 + wg.group, 256);
}
// Once, before all else: the first warpgroup's first turn.
template <bool kTurns, class Config, class Tile>
HSTU_PRIM void open_turns(const Warpgroup<Config, Tile>& wg) {
  if (kTurns && wg.group + 1 == Config::kConsumers) prim::named_barrier_arrive(1, 256);
}

// Key blocks one after the other, the first(), any number of next() and the last(): products of a block run beside the
// weights of the next. weigh(s, kept) makes P of a block's scores in place, and returns whether what was added up
// before is to be multiplied with `kept`.
template <bool kTurns, class Config, class Tile>
struct BlockSteps {
  using T = Shape<Config>;
  using Element = typename Config::Element;
  enum : int { kBlockN = T::kBlockN };

  Warpgroup<Config, Tile>& wg;
  float (&o)[T::kColsV / 2];
  const u32 (&q)[T::kQWords][4];
  u32 flip;
  float s[kBlockN / 2];
  u32 w[kBlockN / 4];  // P of the block whose products are still to come

  HSTU_PRIM BlockSteps(Warpgroup<Config, Tile>& wg, float (&o)[T::kColsV / 2], const u32 (&q)[T::kQWords][4], u32 flip)
      : wg(wg), o(o), q(q), flip(flip) {}

  template <class Weigh>
  HSTU_PRIM void first(const Weigh& weigh) {
    float kept[2];
    wg.k_ring().wait(wg.place);
    begin_scores(wg, s, wg.place.stage, flip);
    await_turn<kTurns>(wg);
    prim::wgmma_keep(s);
    prim::wgmma_fence();
    issue_qk<kBlockN>(wg, s, q, wg.place.stage, 0);
    pass_turn<kTurns>(wg);
    prim::wgmma_wait<0>();
    prim::wgmma_keep(s);
    wg.k_ring().release(wg.place);
    if (weigh(s, kept)) scale_rows(o, kept);
    pack<Element>(s, w);
  }

  template <class Weigh>
  HSTU_PRIM void next(const Weigh& weigh) {
    float kept[2];
    const auto before = wg.place;
    wg.place.advance();
    wg.k_ring().wait(wg.place);
    begin_scores(wg, s, wg.place.stage, flip);
    await_turn<kTurns>(wg);
    prim::wgmma_keep(s);
    prim::wgmma_keep(o);
    prim::wgmma_fence();
    issue_qk<kBlockN>(wg, s, q, wg.place.stage, 0);
    wg.v_ring().wait(before);
    issue_pv<kBlockN>(wg, o, w, before.stage, 0);
    pass_turn<kTurns>(wg);
    prim::wgmma_wait<1>();
    prim::wgmma_keep(s);
    wg.k_ring().release(wg.place);
    const bool moved = weigh(s, kept);
    prim::wgmma_wait<0>();
    prim::wgmma_keep(o);
    wg.v_ring().release(before);
    if (moved) scale_rows(o, kept);
    pack<Element>(s, w);
  }

  HSTU_PRIM void last() {
    wg.v_ring().wait(wg.place);
    prim::wgmma_keep(o);
    prim::wgmma_fence();
    issue_pv<kBlockN>(wg, o, w, wg.place.stage, 0);
    prim::wgmma_wait<0>();
    prim::wgmma_keep(o);
    wg.v_ring().release(wg.place);
    wg.place.advance();
  }
};

}  // namespace hstu::attn90
