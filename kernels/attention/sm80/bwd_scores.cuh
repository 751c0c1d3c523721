// The products of the gradient of attention, and what scores and their gradients become between them.
//
// silu(x) and its slope come of one tanh: with t = x / 2 and th = tanh t, silu = t + t th =: P and
// e := 2 silu' - 1 = P + th - P th, so 2 silu' dP = dP e + dP. A pair that is masked gets t = -32: th is -1 exactly,
// hence P = 0 and e = -1. A score of 0 would leave half of dP.
#pragma once
#include "attention/attn_bwd.h"
#include "attention/sm80/bwd_shape.cuh"
#include "prim/lanes.cuh"
#include "prim/math.cuh"
#include "prim/mma.cuh"
#include "prim/types.cuh"

namespace hstu::attn_bwd_sm80_detail {

template <int kRowTiles, int kColTiles>
HSTU_PRIM void clear(float (&acc)[kRowTiles][kColTiles][4]) {
#pragma unroll
  for (int m = 0; m < kRowTiles; ++m) {
#pragma unroll
    for (int n = 0; n < kColTiles; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) acc[m][n][i] = 0.0f;
    }
  }
}

// s += the warp's rows of OwnTile times the rows of WalkTile; own and walk: the lane's addresses.
template <class Element, class OwnTile, class WalkTile, int kRowTiles, int kColTiles>
HSTU_PRIM void multiply_rows(float (&s)[kRowTiles][kColTiles][4], const tile::LaneAddress<OwnTile>& own,
                             const tile::LaneAddress<WalkTile>& walk) {
#pragma unroll
  for (int step = 0; step < OwnTile::kCols / 16; ++step) {
    u32 a[kRowTiles][4];
#pragma unroll
    for (int m = 0; m < kRowTiles; ++m) prim::ldmatrix_x4(a[m], own.at(step, m * 16));
#pragma unroll
    for (int n = 0; n < kColTiles / 2; ++n) {
      u32 b[4];
      prim::ldmatrix_x4(b, walk.at(step, n * 16));
#pragma unroll
      for (int m = 0; m < kRowTiles; ++m) {
        prim::mma_m16n8k16<Element>(s[m][n * 2], a[m], b[0], b[1]);
        prim::mma_m16n8k16<Element>(s[m][n * 2 + 1], a[m], b[2], b[3]);
      }
    }
  }
}

// acc += a times WalkTile; walk: the lane's addresses for ldmatrix.trans.
template <class Element, class WalkTile, int kRowTiles, int kSteps, int kColTiles>
HSTU_PRIM void add_product(float (&acc)[kRowTiles][kColTiles][4], const u32 (&a)[kRowTiles][kSteps][4],
                           const tile::LaneAddress<WalkTile>& walk) {
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
#pragma unroll
    for (int n = 0; n < kColTiles / 2; ++n) {
      u32 b[4];
      prim::ldmatrix_x4_trans(b, walk.at(n, step * 16));
#pragma unroll
      for (int m = 0; m < kRowTiles; ++m) {
        prim::mma_m16n8k16<Element>(acc[m][n * 2], a[m][step], b[0], b[1]);
        prim::mma_m16n8k16<Element>(acc[m][n * 2 + 1], a[m][step], b[2], b[3]);
      }
    }
  }
}

// A pair's weight, and its slope: twice silu' dP, or P (dP - delta) under softmax.
struct Weighed {
  float weight, slope;
};
HSTU_PRIM Weighed weigh_silu(float half_alpha, float s, float dp, bool seen) {
  const float t = seen ? s * half_alpha : -32.0f;
  const float th = prim::tanh_approx(t), weight = fmaf(t, th, t);
  return {weight, fmaf(dp, fmaf(-weight, th, weight + th), dp)};
}
// lse: in base 2.
HSTU_PRIM Weighed weigh_softmax(float log2_alpha, float s, float dp, float lse, float delta, bool seen) {
  const float weight = seen ? prim::ex2_approx(fmaf(s, log2_alpha, -lse)) : 0.0f;
  return {weight, weight * (dp - delta)};
}

// Which pairs of a warp's rows and the rows walked over are seen. Everyone is, without a mask.
template <class Config, bool kKeySide>
struct Seen;
// Own rows are query rows: bits of keys.
template <class Config>
struct Seen<Config, false> {
  using T = AttnBwdSm80<Config>;
  enum : int { kWords = (T::kWalk + 31) / 32 };
  u32 bits[T::kRowTiles][2][kWords];

  // Rows from own_row on, keys from walk_row on. Whether there is any pair.
  HSTU_PRIM bool find(const typename Config::Mask& mask, int own_row, int walk_row) {
    const int lane = prim::lane_id();
    u32 any = 0;
#pragma unroll
    for (int m = 0; m < T::kRowTiles; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
#pragma unroll
        for (int word = 0; word < kWords; ++word) {
          u32 seen = variant::row_bits(mask, own_row + m * 16 + half * 8 + lane / 4, walk_row + word * 32);
          if constexpr (T::kWalk < 32) seen &= (1u << T::kWalk) - 1;
          any |= seen;
          bits[m][half][word] = seen >> (lane % 4 * 2);
        }
      }
    }
    return __any_sync(prim::kFullWarp, any != 0);
  }
  HSTU_PRIM void column(int) {}
  HSTU_PRIM bool at(int m, int half, int n, int e) const { return bits[m][half][n * 8 / 32] >> (n * 8 % 32 + e) & 1; }
};
// Own rows are keys: each lane finds what a query row sees of them, for all that have it as a column.
template <class Config>
struct Seen<Config, true> {
  using T = AttnBwdSm80<Config>;
  enum : int { kWords = (T::kWalk + 31) / 32 };
  u32 of_lane[kWords], of_column[2];

  HSTU_PRIM bool find(const typename Config::Mask& mask, int own_row, int walk_row) {
    const int lane = prim::lane_id();
    u32 any = 0;
#pragma unroll
    for (int word = 0; word < kWords; ++word) {
      of_lane[word] =
          T::kWalk >= 32 || lane < T::kWalk ? variant::row_bits(mask, walk_row + word * 32 + lane, own_row) : 0;
      if constexpr (T::kWarpRows < 32) of_lane[word] &= (1u << T::kWarpRows) - 1;
      any |= of_lane[word];
    }
    return __any_sync(prim::kFullWarp, any != 0);
  }
  // Before at() of column tile n.
  HSTU_PRIM void column(int n) {
    const int lane = prim::lane_id();
#pragma unroll
    for (int e = 0; e < 2; ++e)
      of_column[e] = __shfl_sync(prim::kFullWarp, of_lane[n * 8 / 32], n * 8 % 32 + lane % 4 * 2 + e) >> (lane / 4);
  }
  HSTU_PRIM bool at(int m, int half, int, int e) const { return of_column[e] >> (m * 16 + half * 8) & 1; }
};

// What belongs to the query rows that are a warp's own: of softmax heads log-sum-exp in base 2 and out . dout; sums of
// d_attn_scale.
template <class Config>
struct OwnQueries {
  using T = AttnBwdSm80<Config>;
  float lse[T::kRowTiles][2], delta[T::kRowTiles][2];
  float scale[T::kRowTiles][2];
};

template <int kRowTiles, int kSteps>
struct Operands {
  u32 weight[kRowTiles][kSteps][4], slope[kRowTiles][kSteps][4];
};

// s and dp to weights and slopes as operands of the next products. stats: of the rows walked over, where those are
// queries.
template <bool kKeySide, bool kSoftmax, bool kMasked, class Config, int kColTiles>
HSTU_PRIM void weigh(const AttnBwdParams& p, const float (&s)[AttnBwdSm80<Config>::kRowTiles][kColTiles][4],
                     const float (&dp)[AttnBwdSm80<Config>::kRowTiles][kColTiles][4], Seen<Config, kKeySide>& seen,
                     OwnQueries<Config>& own, const float* stats, float scale,
                     Operands<AttnBwdSm80<Config>::kRowTiles, kColTiles / 2>& to) {
  using T = AttnBwdSm80<Config>;
  using Element = typename Config::Element;
  const int lane = prim::lane_id();
#pragma unroll
  for (int n = 0; n < kColTiles; ++n) {
    float lse[2], delta[2], factor[2];
    if constexpr (kKeySide) {
      const float* column = stats + n * 8 + lane % 4 * 2;
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        if constexpr (kSoftmax) lse[e] = column[T::kLse + e] * 1.44269504f, delta[e] = column[T::kDelta + e];
        factor[e] = kSoftmax ? p.weight_up : (Config::kRowScale ? column[T::kScale + e] : scale) * p.weight_up;
      }
    }
    if constexpr (kMasked) seen.column(n);
#pragma unroll
    for (int m = 0; m < T::kRowTiles; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float weight[2], slope[2];
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          const bool is_seen = !kMasked || seen.at(m, half, n, e);
          const float score = s[m][n][half * 2 + e], gradient = dp[m][n][half * 2 + e];
          Weighed pair;
          if constexpr (kSoftmax)
            pair = weigh_softmax(p.forward.log2_alpha, score, gradient, kKeySide ? lse[e] : own.lse[m][half],
                                 kKeySide ? delta[e] : own.delta[m][half], is_seen);
          else
            pair = weigh_silu(p.forward.half_alpha, score, gradient, is_seen);
          if constexpr (!kKeySide && !kSoftmax && Config::kHasDattnScale) own.scale[m][half] += pair.weight * gradient;
          weight[e] = pair.weight, slope[e] = pair.slope;
          if constexpr (kKeySide && T::kFactors) {
            weight[e] *= factor[e];
            slope[e] *= kSoftmax ? 2 * factor[e] : factor[e];
          } else if constexpr (T::kNarrow) {
            slope[e] *= p.slope_down;
          }
        }
        const int i = n % 2 * 2 + half;
        to.weight[m][n / 2][i] = prim::pack2<Element>(weight[0], weight[1]);
        to.slope[m][n / 2][i] = prim::pack2<Element>(slope[0], slope[1]);
      }
    }
  }
}

}  // namespace hstu::attn_bwd_sm80_detail
