// The running softmax of a consumer thread's two rows: P = 2^(scale (s - reference)), summed beside it.
//
// The reference need not be the greatest score, only near it: as long as no score of a warp's rows is kSlack powers of
// two above theirs, P stays below 2^kSlack, and nothing that was added up before has to be scaled.
#pragma once
#include "attention/sm90/scores.cuh"
#include "prim/lanes.cuh"
#include "prim/math.cuh"

namespace hstu::attn90 {

HSTU_PRIM float infinity() { return __uint_as_float(0x7f800000u); }

struct Softmax {
  enum : bool { kZeroIsNothing = false };
  enum : int { kSlack = 8 };

  float scale, slack;  // log2(e) times the logit scale, positive; kSlack powers of two as a difference of scores
  bool negated;        // of a negative logit scale the scores are to be, so that the greatest has the greatest weight
  float reference[2], sum[2];

  HSTU_PRIM explicit Softmax(float log2_scale)
      : scale(fabsf(log2_scale)), slack(fminf(kSlack / fabsf(log2_scale), 1e30f)), negated(log2_scale < 0) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      reference[half] = -infinity();
      sum[half] = 0.0f;
    }
  }

  HSTU_PRIM static float hidden() { return -infinity(); }
  HSTU_PRIM static constexpr bool zero_is_nothing() { return kZeroIsNothing; }
  HSTU_PRIM bool negates() const { return negated; }
  HSTU_PRIM u32 flip() const { return negated ? 0x80008000u : 0; }

  // Looks at more scores. Returns whether what was added up with the weights before must be multiplied with `kept`.
  template <int kCount>
  HSTU_PRIM bool meet(const float (&s)[kCount], float (&kept)[2]) {
    float most[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) most[i] = s[i];
#pragma unroll
    for (int i = 4; i < kCount; ++i) most[i % 4] = fmaxf(most[i % 4], s[i]);
    float top[2] = {fmaxf(most[0], most[1]), fmaxf(most[2], most[3])};
    prim::lane_maxima<4>(top);
    const bool moves = top[0] > reference[0] + slack || top[1] > reference[1] + slack;
    if (!__any_sync(prim::kFullWarp, moves)) return false;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float to = fmaxf(top[half], reference[half]);
      // A row that has seen nothing yet keeps nothing.
      kept[half] = to == -infinity() ? 0.0f : prim::ex2_approx((reference[half] - to) * scale);
      reference[half] = to;
      sum[half] *= kept[half];
    }
    return true;
  }

  // S -> P in place. kSome: keys may be hidden from rows, which may have seen nothing yet.
  template <bool kSome, int kCount>
  HSTU_PRIM void weigh(float (&s)[kCount]) {
    float base[2], part[4] = {0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll
    for (int half = 0; half < 2; ++half)
      base[half] = kSome && reference[half] == -infinity() ? 0.0f : reference[half] * scale;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      s[i] = prim::ex2_approx(s[i] * scale - base[i / 2 % 2]);
      part[i % 4] += s[i];
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) sum[half] += part[half * 2] + part[half * 2 + 1];
  }

  // What the rows of O are multiplied with at the end, and their log-sum-exp. Rows without keys are zeros.
  HSTU_PRIM void finish(float (&factor)[2], float (&lse)[2]) const {
    constexpr float kLn2 = 0.693147180559945f;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float total = prim::lane_sum<4>(sum[half]);
      factor[half] = total > 0 ? 1.0f / total : 0.0f;
      lse[half] = total > 0 ? (reference[half] * scale + prim::lg2_approx(total)) * kLn2 : -infinity();
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

  HSTU_PRIM float hidden() const { return is_softmax ? Softmax::hidden() : silu.hidden(); }
  HSTU_PRIM bool zero_is_nothing() const { return !is_softmax && silu.zero_is_nothing(); }
  HSTU_PRIM bool negates() const { return is_softmax && softmax.negates(); }
  HSTU_PRIM u32 flip() const { return is_softmax ? softmax.flip() : 0; }
  template <int kCount>
  HSTU_PRIM bool meet(const float (&s)[kCount], float (&kept)[2]) {
    return is_softmax && softmax.meet(s, kept);
  }
  template <bool kSome, int kCount>
  HSTU_PRIM void weigh(float (&s)[kCount]) {
    if (is_softmax)
      softmax.template weigh<kSome>(s);
    else
      silu.template weigh<kSome>(s);
  }
};

}  // namespace hstu::attn90
