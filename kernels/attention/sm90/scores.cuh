// Scores of the sm_90 attention kernels: S = Q K^T, maybe on top of a relative bias, the mask, and P = silu(S) as words
// of the next product's operand.
#pragma once
#include "attention/sm90/warpgroup.cuh"
#include "attention/variant/relative_bias.cuh"
#include "prim/math.cuh"
#include "prim/wgmma.cuh"

namespace hstu::attn90 {

// What S of a stage's keys is added to: their bias, with its signs changed by `flip`, a word of two of them.
template <class Config, class Tile>
HSTU_PRIM void init_scores(const Warpgroup<Config, Tile>& wg, float (&s)[Config::kBlockN / 2], u32 stage, u32 flip) {
  using T = Shape<Config>;
  using Element = typename Config::Element;
  if constexpr (Config::kBias) {
    const u32 bias = wg.bias_rows(stage);
#pragma unroll
    for (int step = 0; step < T::kBlockN / 16; ++step) {
      u32 w[4];  // as ldmatrix has them, in the places of the accumulators
      prim::ldmatrix_x4(w, wg.template fragment<T::kBlockM>(bias, step));
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        s[step * 8 + i * 2] = prim::unpack_lo<Element>(w[i] ^ flip);
        s[step * 8 + i * 2 + 1] = prim::unpack_hi<Element>(w[i] ^ flip);
      }
    }
  }
}

// The same from a bias that does not come with the stage: of keys from `key` on and the thread's rows, `row` and the
// eighth behind it.
template <class Config, int kCount>
HSTU_PRIM void init_scores(const variant::RelativeBias<Config>& bias, float (&s)[kCount], int row, int key) {
  const int first = key + static_cast<int>(prim::lane_id()) % 4 * 2;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const auto of_row = bias.row(row + half * 8, first);
#pragma unroll
    for (int i = half * 2; i < kCount; i += 4) {
      s[i] = of_row.at(i / 4 * 8);
      s[i + 1] = of_row.at(i / 4 * 8 + 1);
    }
  }
}

// S = Q K^T for kKeys keys from `row` of the stage on, added to what init_scores() left; one group of products.
template <int kKeys, class Config, class Tile>
HSTU_PRIM void issue_qk(const Warpgroup<Config, Tile>& wg, float (&s)[kKeys / 2],
                        const u32 (&q)[Shape<Config>::kQWords][4], u32 stage, int row) {
  using T = Shape<Config>;
  using Element = typename Config::Element;
  const u64 k = prim::smem_descriptor(wg.k_rows(stage, row), 16, 1024, prim::kSwizzle128);
  const u64 a = prim::smem_descriptor(wg.q_rows(), 16, 1024, prim::kSwizzle128);
#pragma unroll
  for (int step = 0; step < T::kStepsQk; ++step) {
    const u64 b = prim::advance_descriptor(k, step / 4 * T::kBlockN * 128 + step % 4 * 32);
    if (step < T::kQSteps) {
      const u32(&w)[4] = q[step < T::kQSteps ? step : 0];
      prim::Wgmma<kKeys>::template rs<Element, Element>(s, w[0], w[1], w[2], w[3], b, Config::kBias || step > 0);
    } else {
      prim::Wgmma<kKeys>::template ss<Element, Element>(
          s, prim::advance_descriptor(a, step / 4 * T::kBlockM * 128 + step % 4 * 32), b, Config::kBias || step > 0);
    }
  }
  prim::wgmma_commit();
}

// S -> P in place, Params has half_alpha: silu(x) = t tanh(t) + t with t = x / 2.
template <class Params, int kCount>
HSTU_PRIM void silu_in_place(const Params& p, float (&s)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    const float t = s[i] * p.half_alpha;
    s[i] = t * prim::tanh_approx(t) + t;
  }
}
// kBias: keys that are zeros have scores all the same.
template <class Params, bool kBias>
struct Silu {
  enum : bool { kZeroIsNothing = !kBias };
  const Params& p;

  HSTU_PRIM static float masked_score() { return 0.0f; }
  HSTU_PRIM static constexpr bool zero_is_nothing() { return kZeroIsNothing; }
  HSTU_PRIM static constexpr bool negates() { return false; }
  HSTU_PRIM static constexpr u32 flip() { return 0; }
  template <int kCount>
  HSTU_PRIM static bool update_max(const float (&)[kCount], float (&)[2]) {
    return false;
  }
  template <bool kMasked, int kCount>
  HSTU_PRIM void make_p(float (&s)[kCount]) const {
    silu_in_place(p, s);
  }
};
template <class Element, int kCount>
HSTU_PRIM void pack(const float (&s)[kCount], u32 (&w)[kCount / 2]) {
#pragma unroll
  for (int i = 0; i < kCount / 2; ++i) w[i] = prim::pack2<Element>(s[2 * i], s[2 * i + 1]);
}

// Which of kKeys keys from `key` on the thread's rows see, `row` and the eighth behind it, in words of 32.
template <int kKeys, class Mask, bool kShared>
struct SeenWords {
  const Mask& mask;
  int row, key;

  HSTU_PRIM u32 of(int half, int word) const { return mask.seen_bits(row + half * 8, key + word * 32); }
};
// The same where looking is long: each of the four lanes that share the rows looks for some of the words.
template <int kKeys, class Mask>
struct SeenWords<kKeys, Mask, true> {
  u32 own[(kKeys + 63) / 64];

  HSTU_PRIM SeenWords(const Mask& mask, int row, int key) {
    const int lane = prim::lane_id();
#pragma unroll
    for (int i = 0; i < (kKeys + 63) / 64; ++i)
      own[i] = mask.seen_bits(row + lane / 2 % 2 * 8, key + (i * 2 + lane % 2) * 32);
  }
  HSTU_PRIM u32 of(int half, int word) const {
    return __shfl_sync(prim::kFullWarp, own[word / 2], half * 2 + word % 2, 4);
  }
};

// `masked_score` for the keys from `key` on that the thread's rows, `row` and the eighth behind it, do not see.
// kShared: by all lanes.
template <int kKeys, bool kShared = false, class Mask>
HSTU_PRIM void apply_mask(float (&s)[kKeys / 2], const Mask& mask, int row, int key, float masked_score = 0.0f) {
  const int lane = prim::lane_id();
  const SeenWords<kKeys, Mask, kShared> words{mask, row, key};
#pragma unroll
  for (int half = 0; half < 2; ++half) {
#pragma unroll
    for (int word = 0; word < (kKeys + 31) / 32; ++word) {
      const u32 seen = words.of(half, word) >> (lane % 4 * 2);
#pragma unroll
      for (int n = word * 4; n < (word + 1) * 4 && n < kKeys / 8; ++n) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          float& x = s[n * 4 + half * 2 + e];
          x = seen & (1u << (n % 4 * 8 + e)) ? x : masked_score;
        }
      }
    }
  }
}

}  // namespace hstu::attn90
