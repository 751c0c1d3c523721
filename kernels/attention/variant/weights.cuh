// From scores to weights in attention. A warp carries one of these through the key blocks of its rows:
//   meet(p, s, o)      looks at the scores of more keys (after the mask) before any of their weights is asked for
//   weight(p, m, h, s) the weight of one score of row 8 h + lane / 4 of row tile m; f32, rounded by the caller
//   finish(...)        what O of that row is multiplied with at the end
#pragma once
#include "attention/attn_fwd.h"
#include "attention/sm80/attn_tiles.cuh"
#include "prim/lanes.cuh"
#include "prim/math.cuh"
#include "prim/memory.cuh"

namespace hstu::variant {

// silu(alpha s): every weight by itself, so nothing is carried.
template <class Config>
struct SiluWeights {
  enum : bool { kZeroIsNothing = true };  // silu(0) = 0: keys that are zeros add nothing
  HSTU_PRIM static float hidden_score(const AttnFwdParams&) { return 0.0f; }

  template <int kRowTiles, int kTiles, int kOutTiles>
  HSTU_PRIM void meet(const AttnFwdParams&, float (&)[kRowTiles][kTiles][4], float (&)[kRowTiles][kOutTiles][4]) {}

  // silu(x) = t tanh(t) + t with t = x / 2
  HSTU_PRIM float weight(const AttnFwdParams& p, int, int, float s) const {
    const float t = s * p.half_alpha;
    return t * prim::tanh_approx(t) + t;
  }

  HSTU_PRIM float finish(const AttnFwdParams& p, const typename Config::Sequences& sequence, int, int, int,
                         int position, bool exists) const {
    if constexpr (Config::kAttnScale) {
      const i64 row = sequence.query_row(exists ? position : sequence.first_query());
      return __uint_as_float(prim::ld_global4(p.attn_scale + row * p.attn_scale_stride));
    }
    return p.scale;
  }
};

// exp(alpha s - maximum), in base 2 with a running maximum and sum a row; both are of scores times alpha log2(e).
template <class Config>
struct SoftmaxWeights {
  enum : int { kRowTiles = AttnFwdSm80<Config>::kRowTiles };
  enum : bool { kZeroIsNothing = false };
  // Minus infinity once it is scaled.
  HSTU_PRIM static float hidden_score(const AttnFwdParams& p) { return p.log2_alpha < 0 ? infinity() : -infinity(); }

  float maximum[kRowTiles][2];
  float sum[kRowTiles][2];  // of the lane's own weights

  HSTU_PRIM SoftmaxWeights() {
#pragma unroll
    for (int m = 0; m < kRowTiles; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        // Finite, so that a row that sees nothing yet subtracts a number.
        maximum[m][half] = -3.0e38f;
        sum[m][half] = 0.0f;
      }
    }
  }

  template <int kTiles, int kOutTiles>
  HSTU_PRIM void meet(const AttnFwdParams& p, float (&s)[kRowTiles][kTiles][4], float (&o)[kRowTiles][kOutTiles][4]) {
#pragma unroll
    for (int m = 0; m < kRowTiles; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float most = maximum[m][half];
#pragma unroll
        for (int n = 0; n < kTiles; ++n) {
#pragma unroll
          for (int e = 0; e < 2; ++e) most = fmaxf(most, s[m][n][half * 2 + e] *= p.log2_alpha);
        }
        most = prim::lane_max<4>(most);
        const float kept = prim::ex2_approx(maximum[m][half] - most);
        maximum[m][half] = most;
        sum[m][half] *= kept;
#pragma unroll
        for (int n = 0; n < kOutTiles; ++n) {
          o[m][n][half * 2] *= kept;
          o[m][n][half * 2 + 1] *= kept;
        }
      }
    }
  }

  HSTU_PRIM float weight(const AttnFwdParams&, int m, int half, float s) {
    const float weight = prim::ex2_approx(s - maximum[m][half]);
    sum[m][half] += weight;
    return weight;
  }

  HSTU_PRIM float finish(const AttnFwdParams& p, const typename Config::Sequences& sequence, int head, int m, int half,
                         int position, bool exists) const {
    constexpr float kLn2 = 0.693147180559945f;
    const float total = prim::lane_sum<4>(sum[m][half]);
    if constexpr (Config::kLse) {
      const float lse = total > 0 ? (maximum[m][half] + prim::lg2_approx(total)) * kLn2 : -infinity();
      if (exists && prim::lane_id() % 4 == 0) *sequence.lse(p, head, position) = lse;
    }
    return total > 0 ? 1.0f / total : 0.0f;  // a row without keys gives zeros
  }

 private:
  HSTU_PRIM static float infinity() { return __uint_as_float(0x7f800000u); }
};

}  // namespace hstu::variant
