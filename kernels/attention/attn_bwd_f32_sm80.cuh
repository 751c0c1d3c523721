// Gradients of HSTU attention in f32: products by fused multiply-adds, exponentials to full precision. For results that
// 16 bits cannot give, not for speed. The mathematics and the places are attn_bwd_sm80.cuh's.
//
// Four lanes share one of a block's own 32 rows: of scores each has every fourth row of the other side, of sums every
// fourth group of four columns.
//
//   own K, V (or Q, dO) --> smem --+
//   walked Q, dO (or K, V) --> smem --> S, dP --> weights, slopes --> smem (the warp's own rows) --> dV, dK (or dQ)
//
// Shared memory   own rows, of q or k and of dout or v | kBlockN walked rows, likewise | weights, slopes [32] |
//                 log-sum-exps, scales, out . dout of walked query rows | a word; rows padded by four floats
// Barriers        two __syncthreads a step: loaded, read
#pragma once
#include "attention/attn_bwd.h"
#include "attention/bwd/places.cuh"
#include "attention/f32/attn_f32.cuh"
#include "attention/variant/relative_bias.cuh"
#include "prim/lanes.cuh"
#include "prim/types.cuh"

namespace hstu {

// Config: facts as attn_bwd_sm80.cuh has them, Element is float. Knobs: kBlockN, kApart, kMinBlocks.
template <class Config>
struct AttnBwdF32Shape {
  enum : int { kThreads = 128, kOwn = kThreads / 4, kWalk = Config::kBlockN };
  enum : int { kColsQk = (Config::kHeadDimQk + 15) / 16 * 16, kColsV = (Config::kHeadDimV + 15) / 16 * 16 };
  enum : int { kPitchQk = kColsQk + 4, kPitchV = kColsV + 4, kPitchWalk = kWalk + 4 };
  // Offsets of the tiles in floats, then all of them.
  enum : int { kOwnV = kOwn * kPitchQk, kWalkQk = kOwnV + kOwn * kPitchV, kWalkV = kWalkQk + kWalk * kPitchQk };
  enum : int { kWeights = kWalkV + kWalk * kPitchV, kSlopes = kWeights + kOwn * kPitchWalk };
  enum : int { kLse = kSlopes + kOwn * kPitchWalk, kScale = kLse + kWalk, kDelta = kScale + kWalk };
  enum : int { kFloats = kDelta + kWalk };
  enum : int { kOwnPairs = kWalk / 4, kGroupsQk = kColsQk / 16, kGroupsV = kColsV / 16 };
  static_assert(kWalk % 4 == 0 && kWalk <= 32, "a row's bits are one word");
};
template <class Config>
constexpr int attn_bwd_f32_smem_bytes = AttnBwdF32Shape<Config>::kFloats * 4 + 128;

namespace attn_bwd_f32_detail {

using attn_bwd_detail::is_softmax;
using attn_bwd_detail::Rows;
using attn_f32_detail::load_rows;

// What belongs to a query row.
struct Query {
  float lse, scale, delta;
};

// The thread's own row of the block's, and its place among the four that share it.
HSTU_PRIM int own_local() { return static_cast<int>(threadIdx.x) / 4; }
HSTU_PRIM int own_lane() { return static_cast<int>(threadIdx.x) % 4; }

// a . b of the lane's rows of b: lane, lane + 4, ...
template <int kCols, int kPitch, int kPairs>
HSTU_PRIM void multiply_rows(float (&s)[kPairs], const float* a, const float* b) {
#pragma unroll
  for (int n = 0; n < kPairs; ++n) s[n] = 0;
#pragma unroll 2
  for (int d = 0; d < kCols; d += 4) {
    const float4 x = *reinterpret_cast<const float4*>(a + d);
#pragma unroll
    for (int n = 0; n < kPairs; ++n) {
      const float4 y = *reinterpret_cast<const float4*>(b + n * 4 * kPitch + d);
      s[n] += x.x * y.x;
      s[n] += x.y * y.y;
      s[n] += x.z * y.z;
      s[n] += x.w * y.w;
    }
  }
}

// sums += the row's factors times the walked rows, of the lane's columns.
template <int kWalk, int kPitch, int kGroups>
HSTU_PRIM void add_product(float (&sums)[kGroups][4], const float* factors, const float* rows) {
#pragma unroll 4
  for (int n = 0; n < kWalk; ++n) {
    const float factor = factors[n];
#pragma unroll
    for (int g = 0; g < kGroups; ++g) {
      const float4 value = *reinterpret_cast<const float4*>(rows + n * kPitch + g * 16);
      sums[g][0] += factor * value.x;
      sums[g][1] += factor * value.y;
      sums[g][2] += factor * value.z;
      sums[g][3] += factor * value.w;
    }
  }
}

template <int kDim, int kGroups>
HSTU_PRIM void store_row(float* to, const float (&sums)[kGroups][4], int lane, float factor) {
#pragma unroll
  for (int g = 0; g < kGroups; ++g) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int column = g * 16 + lane * 4 + i;
      if (column < kDim) to[column] = sums[g][i] * factor;
    }
  }
}

// Of the query at a position that there is; its head's kind is known. lanes: neighbours that add up out . dout.
template <class Config, int kLanes>
HSTU_PRIM Query find_query(const AttnBwdParams& p, const Rows<Config>& rows, int head, int position, bool softmax,
                           int lane) {
  Query query = {0, 0, 0};
  float sum = 0;
  if (position >= 0) {
    if (softmax) {
      query.lse = *rows.sequence.lse(p.forward, head, position);
      const float *out = rows.sequence.out(p.forward, head, position), *dout = rows.dout(p, head, position);
      for (int column = lane; column < Config::kHeadDimV; column += kLanes) sum += out[column] * dout[column];
    } else {
      query.scale = rows.scale(p, position);
    }
  }
  query.delta = prim::lane_sum<kLanes>(sum);
  return query;
}

// P, dS without alpha, and what the pair adds to d_attn_scale.
struct Weighed {
  float weight, slope, of_scale;
};
HSTU_PRIM Weighed weigh(const Query& query, float s, float dp, bool softmax) {
  if (softmax) {
    const float weight = expf(s - query.lse);
    return {weight, weight * (dp - query.delta), 0};
  }
  const float sigmoid = 1.0f / (1.0f + expf(-s)), silu = s * sigmoid;
  return {query.scale * silu, query.scale * (sigmoid * (1.0f + s * (1.0f - sigmoid))) * dp, silu * dp};
}

// The tiles of a step or of the own rows: [rows of q or k | rows of dout or v].
template <class Config, bool kQueries, int kRows>
HSTU_PRIM void load_tiles(const AttnBwdParams& p, const Rows<Config>& rows, int head, int begin, float* qk, float* v) {
  using T = AttnBwdF32Shape<Config>;
  const AttnFwdParams& f = p.forward;
  load_rows<kRows, Config::kHeadDimQk, T::kPitchQk, T::kThreads>(qk, begin, 0, rows.count(), [&](int at) {
    return kQueries ? rows.sequence.q(f, head, at) : rows.sequence.k(f, head, at);
  });
  load_rows<kRows, Config::kHeadDimV, T::kPitchV, T::kThreads>(v, begin, 0, rows.count(), [&](int at) {
    return kQueries ? rows.dout(p, head, at) : rows.sequence.v(f, head, at);
  });
}

// Of the lane's pairs of its own row: which are seen. own, walk: the first rows of the tiles.
template <class Config, bool kKeySide>
HSTU_PRIM u32 seen_pairs(const Rows<Config>& rows, int own, int walk) {
  using T = AttnBwdF32Shape<Config>;
  const int local = own_local(), lane = own_lane();
  u32 seen = 0;
  if constexpr (kKeySide) {
#pragma unroll
    for (int n = 0; n < T::kOwnPairs; ++n) {
      const int query = walk + lane + n * 4;
      if (query >= 0) seen |= (variant::row_bits(rows.mask, query, own) >> local & 1) << n;
    }
  } else if (own + local >= 0) {
    const u32 bits = variant::row_bits(rows.mask, own + local, walk) & ~variant::bits_below(-walk);
#pragma unroll
    for (int n = 0; n < T::kOwnPairs; ++n) seen |= (bits >> (lane + n * 4) & 1) << n;
  }
  return seen;
}

// Scores and dP of the lane's pairs.
template <class Config, bool kKeySide>
HSTU_PRIM void find_scores(const AttnBwdParams& p, const float* smem, int seq, int head, int own, int walk,
                           float (&s)[AttnBwdF32Shape<Config>::kOwnPairs],
                           float (&dp)[AttnBwdF32Shape<Config>::kOwnPairs]) {
  using T = AttnBwdF32Shape<Config>;
  const int local = own_local(), lane = own_lane();
  multiply_rows<T::kColsQk, T::kPitchQk>(s, smem + local * T::kPitchQk, smem + T::kWalkQk + lane * T::kPitchQk);
  multiply_rows<T::kColsV, T::kPitchV>(dp, smem + T::kOwnV + local * T::kPitchV, smem + T::kWalkV + lane * T::kPitchV);
  const float alpha = 2.0f * p.forward.half_alpha;
#pragma unroll
  for (int n = 0; n < T::kOwnPairs; ++n) {
    if constexpr (Config::kBias) {
      const variant::RelativeBias<Config> bias(p.forward, seq, head);
      const int other = walk + lane + n * 4;
      s[n] += kKeySide ? bias.at(other, own + local) : bias.at(own + local, other);
    }
    s[n] *= alpha;
  }
}

template <class Config>
struct Kernel;

// A key or query place: the own rows from position `own` on, of `head` of k and v or of q.
template <class Config, bool kKeySide, bool kQk, bool kV>
HSTU_PRIM void run_rows(const AttnBwdParams& p, float* smem, Rows<Config>& rows, int head, int own) {
  using T = AttnBwdF32Shape<Config>;
  constexpr int kHeads = kKeySide ? variant::heads_per_kv<Config>(0) : 1, kLanes = T::kThreads / T::kWalk;
  const int first_head = kKeySide ? head * kHeads : head, last_head = first_head + kHeads, count = rows.count();
  const int local = own_local(), lane = own_lane(), position = own + local;
  float qk[kQk ? T::kGroupsQk : 1][4] = {}, v[kV ? T::kGroupsV : 1][4] = {};
  float of_scale = 0;
  load_tiles<Config, !kKeySide, T::kOwn>(p, rows, first_head, own, smem, smem + T::kOwnV);
  Query query = {0, 0, 0};
  if constexpr (!kKeySide) query = find_query<Config, 4>(p, rows, head, position, is_softmax<Config>(p, head), lane);

  attn_bwd_detail::Walk<Kernel<Config>, kKeySide> now{first_head, 0};
  for (now.settle(rows.mask, count, own, last_head); now.head < last_head;
       ++now.tile, now.settle(rows.mask, count, own, last_head)) {
    const int walk = now.begin(count);
    const bool softmax = is_softmax<Config>(p, now.head);
    load_tiles<Config, kKeySide, T::kWalk>(p, rows, now.head, walk, smem + T::kWalkQk, smem + T::kWalkV);
    if constexpr (kKeySide) {
      if constexpr (kHeads > 1) variant::move_mask(rows.mask, p.forward, now.head, rows.sequence.row);
      const int row = threadIdx.x / kLanes, part = threadIdx.x % kLanes;
      const Query of_row = find_query<Config, kLanes>(p, rows, now.head, walk + row, softmax, part);
      if (part == 0)
        smem[T::kLse + row] = of_row.lse, smem[T::kScale + row] = of_row.scale, smem[T::kDelta + row] = of_row.delta;
    }
    __syncthreads();
    const u32 seen = seen_pairs<Config, kKeySide>(rows, own, walk);
    if (__any_sync(prim::kFullWarp, seen != 0)) {
      float s[T::kOwnPairs], dp[T::kOwnPairs];
      find_scores<Config, kKeySide>(p, smem, rows.seq, now.head, own, walk, s, dp);
#pragma unroll
      for (int n = 0; n < T::kOwnPairs; ++n) {
        const int at = lane + n * 4;
        if constexpr (kKeySide) query = {smem[T::kLse + at], smem[T::kScale + at], smem[T::kDelta + at]};
        Weighed pair = {0, 0, 0};
        if (seen >> n & 1) pair = weigh(query, s[n], dp[n], softmax);
        of_scale += pair.of_scale;
        smem[T::kWeights + local * T::kPitchWalk + at] = pair.weight;
        smem[T::kSlopes + local * T::kPitchWalk + at] = pair.slope;
      }
      __syncwarp();
      if constexpr (kQk)
        add_product<T::kWalk, T::kPitchQk>(qk, smem + T::kSlopes + local * T::kPitchWalk, smem + T::kWalkQk + lane * 4);
      if constexpr (kV)
        add_product<T::kWalk, T::kPitchV>(v, smem + T::kWeights + local * T::kPitchWalk, smem + T::kWalkV + lane * 4);
    }
    __syncthreads();  // before the tiles are written again
  }

  of_scale = prim::lane_sum<4>(of_scale);
  __syncthreads();  // of places that walked over nothing, too
  if (position < 0) return;
  const float alpha = 2.0f * p.forward.half_alpha;
  if constexpr (kKeySide) {
    if constexpr (kQk)
      store_row<Config::kHeadDimQk>(rows.gradient(p.dk, p.dk_row_stride, p.dk_head_stride, head, position), qk, lane,
                                    alpha);
    if constexpr (kV)
      store_row<Config::kHeadDimV>(rows.gradient(p.dv, p.dv_row_stride, p.dv_head_stride, head, position), v, lane, 1);
  } else {
    if constexpr (Config::kHasDattnScale) {
      if (lane == 0) p.scale_terms[head * p.total + rows.sequence.row + position] = of_scale;
    }
    if constexpr (kQk)
      store_row<Config::kHeadDimQk>(rows.gradient(p.dq, p.dq_row_stride, p.dq_head_stride, head, position), qk, lane,
                                    alpha);
  }
}

// Rows of drab from `own` on and keys from `key` on, of a table. Those outside the sequence are zeros.
template <class Config>
HSTU_PRIM void run_bias(const AttnBwdParams& p, float* smem, Rows<Config>& rows, int table, int own, int key) {
  using T = AttnBwdF32Shape<Config>;
  const int first_head = p.bias_tables == 1 ? 0 : table;
  const int last_head = p.bias_tables == 1 ? p.forward.num_heads : table + 1;
  const int local = own_local(), lane = own_lane(), position = own + local;
  float sums[T::kOwnPairs] = {};
  const bool inside = own < rows.count() && key < rows.count();  // then the whole tile ends in the sequence
#pragma unroll 1
  for (int head = first_head; inside && head < last_head; ++head) {
    variant::move_mask(rows.mask, p.forward, head, rows.sequence.row);
    if (!variant::sees_some(rows.mask, own, own + T::kOwn, key, key + T::kWalk)) continue;
    load_tiles<Config, true, T::kOwn>(p, rows, head, own, smem, smem + T::kOwnV);
    load_tiles<Config, false, T::kWalk>(p, rows, head, key, smem + T::kWalkQk, smem + T::kWalkV);
    const bool softmax = is_softmax<Config>(p, head);
    const Query query = find_query<Config, 4>(p, rows, head, position, softmax, lane);
    __syncthreads();
    const u32 seen = seen_pairs<Config, false>(rows, own, key);
    float s[T::kOwnPairs], dp[T::kOwnPairs];
    find_scores<Config, false>(p, smem, rows.seq, head, own, key, s, dp);
#pragma unroll
    for (int n = 0; n < T::kOwnPairs; ++n)
      if (seen >> n & 1) sums[n] += 2.0f * p.forward.half_alpha * weigh(query, s[n], dp[n], softmax).slope;
    __syncthreads();  // before the tiles are written again
  }
  const attn_bwd_detail::BiasRow<Config> row(p, rows.seq, table, position);
#pragma unroll
  for (int n = 0; n < T::kOwnPairs; ++n) row.write(key + lane + n * 4, sums[n]);
}

// As bwd/places.cuh wants it.
template <class Config_>
struct Kernel {
  using Config = Config_;
  using Shape = AttnBwdF32Shape<Config>;
  float* const smem;

  template <bool kKeySide, bool kQk, bool kV>
  HSTU_PRIM void rows(const AttnBwdParams& p, Rows<Config>& rows, int head, int own) const {
    run_rows<Config, kKeySide, kQk, kV>(p, smem, rows, head, own);
  }
  HSTU_PRIM void bias(const AttnBwdParams& p, Rows<Config>& rows, int table, int own, int key) const {
    run_bias<Config>(p, smem, rows, table, own, key);
  }
};

}  // namespace attn_bwd_f32_detail

template <class Config>
__global__ void __launch_bounds__(AttnBwdF32Shape<Config>::kThreads, Config::kMinBlocks)
    attn_bwd_f32_sm80(const __grid_constant__ AttnBwdParams p) {
  extern __shared__ __align__(1024) unsigned char smem[];
  attn_bwd_f32_detail::Kernel<Config> kernel{reinterpret_cast<float*>(smem)};
  attn_bwd_detail::run(p, kernel, smem + AttnBwdF32Shape<Config>::kFloats * 4);
}

}  // namespace hstu
