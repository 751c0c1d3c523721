// Online softmax of a consumer thread's two rows: P = 2^(scale (s - row_max)), summed beside it.
//
// row_max may lag behind the maximum score: while no score of a warp's rows is kRescaleThreshold powers of two above
// it, P stays below 2^kRescaleThreshold, and neither O nor row_sum is rescaled.
#pragma once
#include "attention/sm90/scores.cuh"
#include "prim/lanes.cuh"
#include "prim/math.cuh"

namespace hstu::attn90 {

HSTU_PRIM float infinity() { return __uint_as_float(0x7f800000u); }

struct Softmax {
  enum : bool { kZeroIsNothing = false };
  enum : int { kRescaleThreshold = 8 };

  float scale;              // log2(e) times the logit scale, positive
  float rescale_threshold;  // kRescaleThreshold powers of two as a difference of scores
  bool negated;  // of a negative logit scale the scores are to be, so that the maximum has the largest weight
  float row_max[2], row_sum[2];

  HSTU_PRIM explicit Softmax(float log2_scale)
      : scale(fabsf(log2_scale)),
        rescale_threshold(fminf(kRescaleThreshold / fabsf(log2_scale), 1e30f)),
        negated(log2_scale < 0) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      row_max[half] = -infinity();
      row_sum[half] = 0.0f;
    }
  }

  HSTU_PRIM static float masked_score() { return -infinity(); }
  HSTU_PRIM static constexpr bool zero_is_nothing() { return kZeroIsNothing; }
  HSTU_PRIM bool negates() const { return negated; }
  HSTU_PRIM u32 flip() const { return negated ? 0x80008000u : 0; }

  // Raises row_max to these scores where they pass the threshold, and row_sum with it. Returns whether O is to be
  // multiplied with `rescale`.
  template <int kCount>
  HSTU_PRIM bool update_max(const float (&s)[kCount], float (&rescale)[2]) {
    float part_max[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) part_max[i] = s[i];
#pragma unroll
    for (int i = 4; i < kCount; ++i) part_max[i % 4] = fmaxf(part_max[i % 4], s[i]);
    float block_max[2] = {fmaxf(part_max[0], part_max[1]), fmaxf(part_max[2], part_max[3])};
    prim::lane_maxima<4>(block_max);
    const bool moves = block_max[0] > row_max[0] + rescale_threshold || block_max[1] > row_max[1] + rescale_threshold;
    if (!__any_sync(prim::kFullWarp, moves)) return false;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float new_max = fmaxf(block_max[half], row_max[half]);
      // A row that has seen nothing yet has nothing to rescale.
      rescale[half] = new_max == -infinity() ? 0.0f : prim::ex2_approx((row_max[half] - new_max) * scale);
      row_max[half] = new_max;
      row_sum[half] *= rescale[half];
    }
    return true;
  }

  // S -> P in place. kMasked: keys may be masked, and rows may have seen none yet.
  template <bool kMasked, int kCount>
  HSTU_PRIM void make_p(float (&s)[kCount]) {
    float base[2], part[4] = {0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll
    for (int half = 0; half < 2; ++half)
      base[half] = kMasked && row_max[half] == -infinity() ? 0.0f : row_max[half] * scale;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      s[i] = prim::ex2_approx(s[i] * scale - base[i / 2 % 2]);
      part[i % 4] += s[i];
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) row_sum[half] += part[half * 2] + part[half * 2 + 1];
  }

  // What the rows of O are multiplied with at the end, and their log-sum-exp. Rows without keys are zeros.
  HSTU_PRIM void finish(float (&factor)[2], float (&lse)[2]) const {
    constexpr float kLn2 = 0.693147180559945f;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float total = prim::lane_sum<4>(row_sum[half]);
      factor[half] = total > 0 ? 1.0f / total : 0.0f;
      lse[half] = total > 0 ? (row_max[half] * scale + prim::lg2_approx(total)) * kLn2 : -infinity();
    }
  }
};

// Either of them, as the head at hand has it: one copy of all steps, for a compiler takes twice as long for two.
template <class Params, bool kBias>
struct SomeSoftmax {
  enum : bool { kZeroIsNothing = false };  // not always
  Silu<Params, kBias> silu;
  Softmax softmax;
  bool is_softmax;

  HSTU_PRIM SomeSoftmax(const Params& p, bool is_softmax)
      : silu{p}, softmax(p.log2_alpha), is_softmax(prim::uniform(is_softmax)) {}

  HSTU_PRIM float masked_score() const { return is_softmax ? Softmax::masked_score() : silu.masked_score(); }
  HSTU_PRIM bool zero_is_nothing() const { return !is_softmax && silu.zero_is_nothing(); }
  HSTU_PRIM bool negates() const { return is_softmax && softmax.negates(); }
  HSTU_PRIM u32 flip() const { return is_softmax ? softmax.flip() : 0; }
  template <int kCount>
  HSTU_PRIM bool update_max(const float (&s)[kCount], float (&rescale)[2]) {
    return is_softmax && softmax.update_max(s, rescale);
  }
  template <bool kMasked, int kCount>
  HSTU_PRIM void make_p(float (&s)[kCount]) {
    if (is_softmax)
      softmax.template make_p<kMasked>(s);
    else
      silu.template make_p<kMasked>(s);
  }
};

}  // namespace hstu::attn90
