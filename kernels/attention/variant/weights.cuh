// From scores to weights in attention. A warp carries one of these through the key blocks of its rows:
//   update_max(p, s, o)  raises the rows' running maximum to more scores (after the mask) and rescales O with it;
//   before
//                        any of their weights is asked for
//   weight(p, m, h, s)   the weight of one score of row 8 h + lane / 4 of row tile m; f32, rounded by the caller
//   finish(...)          what O of that row is multiplied with at the end
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
  HSTU_PRIM static float masked_score(const AttnFwdParams&) { return 0.0f; }

  template <int kRowTiles, int kTiles, int kOutTiles>
  HSTU_PRIM void update_max(const AttnFwdParams&, float (&)[kRowTiles][kTiles][4], float (&)[kRowTiles][kOutTiles][4]) {
  }

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

// Online softmax: exp(alpha s - row_max) in base 2, with a running maximum and sum a row, of scores times alpha
// log2(e).
template <class Config>
struct SoftmaxWeights {
  enum : int { kRowTiles = AttnFwdSm80<Config>::kRowTiles };
  enum : bool { kZeroIsNothing = false };
  // Minus infinity once it is scaled.
  HSTU_PRIM static float masked_score(const AttnFwdParams& p) { return p.log2_alpha < 0 ? infinity() : -infinity(); }

  float row_max[kRowTiles][2];
  float row_sum[kRowTiles][2];  // of the lane's own weights

  HSTU_PRIM SoftmaxWeights() {
#pragma unroll
    for (int m = 0; m < kRowTiles; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        // Finite, so that a row that sees nothing yet subtracts a number.
        row_max[m][half] = -3.0e38f;
        row_sum[m][half] = 0.0f;
      }
    }
  }

  template <int kTiles, int kOutTiles>
  HSTU_PRIM void update_max(const AttnFwdParams& p, float (&s)[kRowTiles][kTiles][4],
                            float (&o)[kRowTiles][kOutTiles][4]) {
#pragma unroll
    for (int m = 0; m < kRowTiles; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float new_max = row_max[m][half];
#pragma unroll
        for (int n = 0; n < kTiles; ++n) {
#pragma unroll
          for (int e = 0; e < 2; ++e) new_max = fmaxf(new_max, s[m][n][half * 2 + e] *= p.log2_alpha);
        }
        new_max = prim::lane_max<4>(new_max);
        const float rescale = prim::ex2_approx(row_max[m][half] - new_max);
        row_max[m][half] = new_max;
        row_sum[m][half] *= rescale;
#pragma unroll
        for (int n = 0; n < kOutTiles; ++n) {
          o[m][n][half * 2] *= rescale;
          o[m][n][half * 2 + 1] *= rescale;
        }
      }
    }
  }

  HSTU_PRIM float weight(const AttnFwdParams&, int m, int half, float s) {
    const float weight = prim::ex2_approx(s - row_max[m][half]);
    row_sum[m][half] += weight;
    return weight;
  }

  HSTU_PRIM float finish(const AttnFwdParams& p, const typename Config::Sequences& sequence, int head, int m, int half,
                         int position, bool exists) const {
    constexpr float kLn2 = 0.693147180559945f;
    const float total = prim::lane_sum<4>(row_sum[m][half]);
    if constexpr (Config::kLse) {
      const float lse = total > 0 ? (row_max[m][half] + prim::lg2_approx(total)) * kLn2 : -infinity();
      if (exists && prim::lane_id() % 4 == 0) *sequence.lse(p, head, position) = lse;
    }
    return total > 0 ? 1.0f / total : 0.0f;  // a row without keys gives zeros
  }

 private:
  HSTU_PRIM static float infinity() { return __uint_as_float(0x7f800000u); }
};

}  // namespace hstu::variant
