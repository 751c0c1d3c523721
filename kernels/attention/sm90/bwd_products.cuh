// The products of attn_bwd_sm90, and what scores become between them (sm80/bwd_scores.cuh has the mathematics). A
// warpgroup has 64 own rows: keys, whose columns are query rows, or query rows.
#pragma once
#include "attention/sm90/bwd_places.cuh"
#include "prim/lanes.cuh"
#include "prim/math.cuh"
#include "prim/wgmma.cuh"

namespace hstu::attn_bwd90 {

template <int kCount>
HSTU_PRIM void clear(float (&x)[kCount]) {
#pragma unroll
  for (float& value : x) value = 0.0f;
}

template <class T, int kCount>
HSTU_PRIM void copy(T (&to)[kCount], const T (&from)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) to[i] = from[i];
}

// What a walk sums up, and the rows of a tile that it takes in a step: query rows have registers for all.
template <class Config, bool kKeySide, bool kDqk, bool kDv>
struct WalkSide {
  using T = Shape<Config>;
  enum : bool { kIsKeys = kKeySide, kQk = kDqk, kV = kDv, kFactors = kKeySide && T::kFactors };
  enum : int { kParts = kKeySide ? Config::kKeyParts : 1, kStep = T::kWalk / kParts };
  enum : int { kSumsQk = kQk ? T::kColsQk / 2 : 1, kSumsV = kV ? T::kColsV / 2 : 1 };
  static_assert(kParts <= 2 && kStep % 16 == 0);
};

// s = own rows . kStep rows of a stage, both k-major; one group of products.
template <class Element, int kSteps, int kOwn, int kWalk, int kStep>
HSTU_PRIM void issue_scores(float (&s)[kStep / 2], u32 own, u32 walk) {
  const u64 a = prim::smem_descriptor(own, 16, 1024, prim::kSwizzle128);
  const u64 b = prim::smem_descriptor(walk, 16, 1024, prim::kSwizzle128);
#pragma unroll
  for (int step = 0; step < kSteps; ++step)
    prim::Wgmma<kStep>::template ss<Element, Element>(
        s, prim::advance_descriptor(a, step / 4 * kOwn * 128 + step % 4 * 32),
        prim::advance_descriptor(b, step / 4 * kWalk * 128 + step % 4 * 32), step > 0);
  prim::wgmma_commit();
}
// sums += factors times kStep rows of a stage; one group of products.
template <class Element, int kCols, int kWalk, int kStep>
HSTU_PRIM void issue_sums(float (&sums)[kCols / 2], const u32 (&w)[kStep / 4], u32 walk) {
  const u64 b = prim::smem_descriptor(walk, kWalk * 128, 1024, prim::kSwizzle128);
#pragma unroll
  for (int step = 0; step < kStep / 16; ++step)
    prim::Wgmma<kCols>::template rs<Element, Element, 1>(sums, w[step * 4], w[step * 4 + 1], w[step * 4 + 2],
                                                         w[step * 4 + 3], prim::advance_descriptor(b, step * 2048), 1);
  prim::wgmma_commit();
}

// s -> t, the argument of tanh: half of the scaled score, or where nobody sees the pair what leaves neither weight nor
// slope.
enum : int { kNothing = -32 };
template <int kCount>
HSTU_PRIM void scale_scores(float (&s)[kCount], float half_alpha) {
#pragma unroll
  for (float& x : s) x *= half_alpha;
}
// The same under the mask of a tile that not all see. own: the warp's first row; walk: the tile's.
template <bool kKeySide, int kWalk, class Mask>
HSTU_PRIM void mask_scores(float (&s)[kWalk / 2], float half_alpha, const Mask& mask, int own, int walk) {
  const int lane = prim::lane_id();
  if constexpr (kKeySide) {
    // Each lane asks what query rows see of the warp's 16 keys: of one, or in the word's upper half of another, too.
    u32 mine = variant::row_bits(mask, walk + lane, own) & 0xffffu;
    if constexpr (kWalk > 32) mine |= variant::row_bits(mask, walk + 32 + lane, own) << 16;
#pragma unroll
    for (int n = 0; n < kWalk / 8; ++n) {
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const u32 seen = __shfl_sync(prim::kFullWarp, mine, n % 4 * 8 + lane % 4 * 2 + e) >> (n / 4 * 16 + lane / 4);
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          float& x = s[n * 4 + half * 2 + e];
          x = seen >> (half * 8) & 1 ? x * half_alpha : float{kNothing};
        }
      }
    }
  } else {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
      for (int word = 0; word < (kWalk + 31) / 32; ++word) {
        const u32 seen = variant::row_bits(mask, own + half * 8 + lane / 4, walk + word * 32) >> (lane % 4 * 2);
#pragma unroll
        for (int n = word * 4; n < word * 4 + 4 && n < kWalk / 8; ++n) {
#pragma unroll
          for (int e = 0; e < 2; ++e) {
            float& x = s[n * 4 + half * 2 + e];
            x = seen >> (n % 4 * 8 + e) & 1 ? x * half_alpha : float{kNothing};
          }
        }
      }
    }
  }
}

// t -> e = 2 silu' - 1 in place, and the weights as words of the next product's operand, each times its column's
// factor.
template <class Element, bool kWeights, bool kFactors, int kCount>
HSTU_PRIM void find_weights(float (&t)[kCount], u32 (&words)[kCount / 2], const float (&factor)[kCount / 2]) {
#pragma unroll
  for (int i = 0; i < kCount / 2; ++i) {
    float weight[2];
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      float& x = t[2 * i + e];
      const float th = prim::tanh_approx(x);
      weight[e] = fmaf(x, th, x);
      x = fmaf(-weight[e], th, weight[e] + th);
      if constexpr (kFactors) weight[e] *= factor[i / 2 * 2 + e];
    }
    if constexpr (kWeights) words[i] = prim::pack2<Element>(weight[0], weight[1]);
  }
}
// Twice the slopes times dP, each times its column's factor, as words of the next product's operand.
template <class Element, bool kFactors, int kCount>
HSTU_PRIM void find_slopes(const float (&e)[kCount], const float (&dp)[kCount], u32 (&words)[kCount / 2],
                           const float (&factor)[kCount / 2], float down) {
#pragma unroll
  for (int i = 0; i < kCount / 2; ++i) {
    float slope[2];
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      slope[k] = fmaf(dp[2 * i + k], e[2 * i + k], dp[2 * i + k]);
      slope[k] *= kFactors ? factor[i / 2 * 2 + k] : down;
    }
    words[i] = prim::pack2<Element>(slope[0], slope[1]);
  }
}

}  // namespace hstu::attn_bwd90
