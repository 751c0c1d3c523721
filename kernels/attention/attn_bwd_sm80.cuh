// Gradients of HSTU attention with the instructions of sm_80 (cp.async, ldmatrix, mma.sync); one launch, no float
// atomics, every bit the same in every run.
//   P = silu(S), dS2 = 2 silu'(S) dP with S = alpha (Q K^T + rab), dP = dO V^T; of softmax heads P = exp(S - lse) and
//   dS = P (dP - O . dO)
//   dV = P^T dO,  dK = dS^T Q,  dQ = dS K,  drab = dS, each with its factor at the end
//
// A block of threads has one place at a time:
//   key place     kOwn keys of a head of k and v: walks the query rows that see them, of all heads that share the head
//   query place   kOwn query rows of a head: walks the keys they see
//   bias place    kOwn query rows and kBlockN keys of a table of rab: adds up over the heads of the table
// So S and dP are computed twice, seven products for five, and nothing is added up between blocks but d_attn_scale.
//
// Key and query places are one algorithm. The block's own rows lie in shared memory, those of the other side come
// through a ring; a warp owns kWarpRows of its rows and shares nothing else:
//   own K, V (or Q, dO)  --ldmatrix--> A     walked Q, dO (or K, V)  --ldmatrix--> B        S, dP in registers
//   P, dS: accumulators are A operands       walked dO, Q (or K)     --ldmatrix.trans--> B  dV, dK (or dQ) in registers
//
// Shared memory   own rows | kStages x (walked rows; out beside softmax heads; statistics of rows) | a word
// Barriers        one __syncthreads a step: the step's copies have landed, and all have left the stage that is filled
// Masks           mask/tile_sight.cuh is asked about each tile, and about sixteen at once first; tiles that are seen
//                 entirely run without mask arithmetic, warps skip tiles of which they see nothing
// d_attn_scale    query places leave the sums of their rows, a head each; the last blocks add them up in order
// Sources         arXiv:2402.17152 (maths); FlashAttention-2 (accumulators as operands)
#pragma once
#include "attention/attn_bwd.h"
#include "attention/bwd/places.cuh"
#include "attention/sm80/bwd_scores.cuh"
#include "attention/sm80/bwd_shape.cuh"
#include "attention/variant/relative_bias.cuh"
#include "prim/cp_async.cuh"
#include "prim/lanes.cuh"
#include "prim/memory.cuh"
#include "prim/types.cuh"

namespace hstu {

// Facts in Config: those of attn_fwd_sm80.cuh, kRowScale (a scale a row), kHalf (f16), kHasDq, kHasDk, kHasDv, kDrab,
// kHasDattnScale; Mask is HstuMask or IntervalBounds. Knobs: kRowTiles, kWarps, kBlockN, kStages, kApart (dk and dv at
// places of their own, where their accumulators do not fit together), kMinBlocks.
namespace attn_bwd_sm80_detail {

using attn_bwd_detail::Rows, attn_bwd_detail::is_softmax;
template <class Config>
struct Kernel;
template <class Config, bool kKeySide>
using Walk = attn_bwd_detail::Walk<Kernel<Config>, kKeySide>;

// Starts the copies of the tile at `at` to the stage at `stage`, of which `shared` are the bytes.
template <class Config, bool kKeySide>
HSTU_PRIM void copy_stage(const AttnBwdParams& p, const Rows<Config>& rows, const Walk<Config, kKeySide>& at,
                          u32 stage) {
  using T = AttnBwdSm80<Config>;
  const AttnFwdParams& f = p.forward;
  const int begin = at.begin(rows.count()), padding = -begin;
  if constexpr (kKeySide) {
    typename T::WalkQkStream(rows.sequence.q(f, at.head, begin), f.q_row_stride)
        .load(stage, f.q_row_stride, padding, true);
    typename T::WalkVStream(rows.dout(p, at.head, begin), p.dout_row_stride)
        .load(stage + T::kStageV, p.dout_row_stride, padding, true);
    const int row = prim::thread_id(), position = begin + row;
    const bool exists = row < T::kWalk && position >= 0;
    if (is_softmax<Config>(p, at.head)) {
      typename T::WalkVStream(rows.sequence.out(f, at.head, begin), f.out_row_stride)
          .load(stage + T::kStageOut, f.out_row_stride, padding, true);
      if (row < T::kWalk)
        prim::cp_async4_zfill(stage + T::kStageStats + (T::kLse + row) * 4,
                              rows.sequence.lse(f, at.head, exists ? position : 0), exists ? 4 : 0);
    } else if constexpr (Config::kRowScale) {
      if (row < T::kWalk)
        prim::cp_async4_zfill(stage + T::kStageStats + (T::kScale + row) * 4,
                              f.attn_scale + rows.sequence.row + (exists ? position : 0), exists ? 4 : 0);
    }
  } else {
    typename T::WalkQkStream(rows.sequence.k(f, at.head, begin), f.k_row_stride)
        .load(stage, f.k_row_stride, padding, true);
    typename T::WalkVStream(rows.sequence.v(f, at.head, begin), f.v_row_stride)
        .load(stage + T::kStageV, f.v_row_stride, padding, true);
  }
}

// out . dout of the rows walked over, by all threads.
template <class Config>
HSTU_PRIM void find_deltas(u32 stage, float* stats) {
  using T = AttnBwdSm80<Config>;
  using Element = typename Config::Element;
  constexpr int kLanes = T::kThreads / T::kWalk < 32 ? T::kThreads / T::kWalk : 32;
  const int row = threadIdx.x / kLanes, lane = threadIdx.x % kLanes;
  float sum = 0;
  if (row < T::kWalk) {
#pragma unroll 2
    for (int chunk = lane; chunk < T::kColsV / 8; chunk += kLanes) {
      const u32 at = tile::chunk_offset<typename T::WalkV>(row, chunk);
      const prim::Quad a = prim::ld_shared(stage + T::kStageV + at), b = prim::ld_shared(stage + T::kStageOut + at);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        sum += prim::unpack_lo<Element>(a.word[i]) * prim::unpack_lo<Element>(b.word[i]);
        sum += prim::unpack_hi<Element>(a.word[i]) * prim::unpack_hi<Element>(b.word[i]);
      }
    }
  }
  sum = prim::lane_sum<kLanes>(sum);
  if (row < T::kWalk && lane == 0) stats[T::kDelta + row] = sum;
}

// Of a warp's own query rows, the first at position `first`.
template <class Config>
HSTU_PRIM void load_own_queries(const AttnBwdParams& p, const Rows<Config>& rows, int head, int first,
                                OwnQueries<Config>& own) {
  using T = AttnBwdSm80<Config>;
  const int lane = prim::lane_id();
#pragma unroll
  for (int m = 0; m < T::kRowTiles; ++m) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      own.scale[m][half] = own.lse[m][half] = own.delta[m][half] = 0;
      if (!is_softmax<Config>(p, head)) continue;
      const int position = first + m * 16 + half * 8 + lane / 4;
      float sum = 0;
      if (position >= 0) {
        own.lse[m][half] = *rows.sequence.lse(p.forward, head, position) * 1.44269504f;
        const auto* out = rows.sequence.out(p.forward, head, position);
        const auto* dout = rows.dout(p, head, position);
        for (int column = lane % 4; column < Config::kHeadDimV; column += 4)
          sum += prim::to_float(out[column]) * prim::to_float(dout[column]);
      }
      own.delta[m][half] = prim::lane_sum<4>(sum);
    }
  }
}

// What scores begin with.
template <class Config, bool kKeySide, int kRowTiles, int kColTiles>
HSTU_PRIM void init_scores(const AttnBwdParams& p, float (&s)[kRowTiles][kColTiles][4], int seq, int head, int own_row,
                           int walk_row) {
  if constexpr (Config::kBias) {
    const variant::RelativeBias<Config> bias(p.forward, seq, head);
    const int lane = prim::lane_id();
#pragma unroll
    for (int m = 0; m < kRowTiles; ++m) {
#pragma unroll
      for (int n = 0; n < kColTiles; ++n) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int own = own_row + m * 16 + i / 2 * 8 + lane / 4, walk = walk_row + n * 8 + lane % 4 * 2 + i % 2;
          s[m][n][i] = kKeySide ? bias.at(walk, own) : bias.at(own, walk);
        }
      }
    }
  } else {
    clear(s);
  }
}

// The lane's addresses: of own rows as A, of walked rows as B, as they lie and transposed. Stages are added to the
// latter.
template <class Config>
struct Addresses {
  using T = AttnBwdSm80<Config>;
  tile::LaneAddress<typename T::OwnQk> own_qk;
  tile::LaneAddress<typename T::OwnV> own_v;
  tile::LaneAddress<typename T::WalkQk> walk_qk, trans_qk;
  tile::LaneAddress<typename T::WalkV> walk_v, trans_v;

  HSTU_PRIM explicit Addresses(u32 base)
      : own_qk(base, own_row(), prim::lane_id() / 16),
        own_v(base + T::OwnQk::kBytes, own_row(), prim::lane_id() / 16),
        walk_qk(base + T::kOwnBytes, prim::lane_id() % 8 + prim::lane_id() / 16 * 8, prim::lane_id() / 8 % 2),
        trans_qk(base + T::kOwnBytes, prim::lane_id() % 16, prim::lane_id() / 16),
        walk_v(base + T::kOwnBytes + T::kStageV, prim::lane_id() % 8 + prim::lane_id() / 16 * 8,
               prim::lane_id() / 8 % 2),
        trans_v(base + T::kOwnBytes + T::kStageV, prim::lane_id() % 16, prim::lane_id() / 16) {}

 private:
  HSTU_PRIM static u32 own_row() { return prim::warp_id() * T::kWarpRows + prim::lane_id() % 16; }
};

// acc * factor(m, half) to the tile at `base`, each warp its own rows.
template <class Tile, class Element, int kRowTiles, int kColTiles, class Factor>
HSTU_PRIM void stage_rows(u32 base, const float (&acc)[kRowTiles][kColTiles][4], const Factor& factor) {
  const int lane = prim::lane_id(), first = prim::warp_id() * kRowTiles * 16;
#pragma unroll
  for (int m = 0; m < kRowTiles; ++m) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float by = factor(m, half);
      const int row = first + m * 16 + half * 8 + lane / 4;
#pragma unroll
      for (int n = 0; n < kColTiles; ++n)
        prim::st_shared(base + tile::chunk_offset<Tile>(row, n) + lane % 4 * 4,
                        prim::pack2<Element>(acc[m][n][half * 2] * by, acc[m][n][half * 2 + 1] * by));
    }
  }
}

// One step: the tile walked to is in its stage. kQk: dk or dq is wanted; kV: dv.
template <class Config, bool kKeySide, bool kQk, bool kV>
struct Step {
  using T = AttnBwdSm80<Config>;
  using Element = typename Config::Element;
  enum : int { kColTiles = T::kWalk / 8 };
  float qk[kQk ? T::kRowTiles : 1][kQk ? T::kColsQk / 8 : 1][4];  // dk or dq
  float v[kV ? T::kRowTiles : 1][kV ? T::kColsV / 8 : 1][4];      // dv

  // The warp's own rows from own_row on, the walked ones from walk_row on. softmax: of the head. With a bias, and where
  // there are heads of both kinds, mask arithmetic everywhere costs less than it takes to compile the products twice.
  HSTU_PRIM void take(const AttnBwdParams& p, const Addresses<Config>& at, u32 stage, const float* stats,
                      const Rows<Config>& rows, int head, bool softmax, int own_row, int walk_row, float scale,
                      OwnQueries<Config>& own) {
    const int own_end = own_row + T::kWarpRows, walk_end = walk_row + T::kWalk;
    constexpr bool kAlwaysMasked = Config::kBias || (Config::kSilu && Config::kSoftmax);
    Seen<Config, kKeySide> seen;
    if (!kAlwaysMasked && (kKeySide ? variant::sees_all(rows.mask, walk_row, walk_end, own_row, own_end)
                                    : variant::sees_all(rows.mask, own_row, own_end, walk_row, walk_end))) {
      if constexpr (!kAlwaysMasked)
        run<false>(p, at, stage, stats, rows.seq, head, softmax, own_row, walk_row, scale, seen, own);
    } else if (seen.find(rows.mask, own_row, walk_row)) {
      run<true>(p, at, stage, stats, rows.seq, head, softmax, own_row, walk_row, scale, seen, own);
    }
  }

 private:
  template <bool kMasked>
  HSTU_PRIM void run(const AttnBwdParams& p, const Addresses<Config>& at, u32 stage, const float* stats, int seq,
                     int head, bool softmax, int own_row, int walk_row, float scale, Seen<Config, kKeySide>& seen,
                     OwnQueries<Config>& own) {
    Operands<T::kRowTiles, kColTiles / 2> operands;
    {
      float s[T::kRowTiles][kColTiles][4], dp[T::kRowTiles][kColTiles][4];
      init_scores<Config, kKeySide>(p, s, seq, head, own_row, walk_row);
      multiply_rows<Element>(s, at.own_qk, at.walk_qk.moved(stage));
      clear(dp);
      if constexpr (kQk || !kKeySide) multiply_rows<Element>(dp, at.own_v, at.walk_v.moved(stage));
      if (Config::kSoftmax && softmax) {
        if constexpr (Config::kSoftmax)
          weigh<kKeySide, true, kMasked, Config>(p, s, dp, seen, own, stats, scale, operands);
      } else {
        if constexpr (Config::kSilu)
          weigh<kKeySide, false, kMasked, Config>(p, s, dp, seen, own, stats, scale, operands);
      }
    }
    if constexpr (kV) add_product<Element>(v, operands.weight, at.trans_v.moved(stage));
    if constexpr (kQk) add_product<Element>(qk, operands.slope, at.trans_qk.moved(stage));
  }
};

// Starts the copies of a block's own rows, from position `own` on. head: of q.
template <class Config, bool kKeySide>
HSTU_PRIM void load_own(const AttnBwdParams& p, const Rows<Config>& rows, int head, int own, u32 base) {
  using T = AttnBwdSm80<Config>;
  const AttnFwdParams& f = p.forward;
  const u32 base_v = base + T::OwnQk::kBytes;
  if constexpr (kKeySide) {
    typename T::OwnQkStream(rows.sequence.k(f, head, own), f.k_row_stride).load(base, f.k_row_stride, -own, true);
    typename T::OwnVStream(rows.sequence.v(f, head, own), f.v_row_stride).load(base_v, f.v_row_stride, -own, true);
  } else {
    typename T::OwnQkStream(rows.sequence.q(f, head, own), f.q_row_stride).load(base, f.q_row_stride, -own, true);
    typename T::OwnVStream(rows.dout(p, head, own), p.dout_row_stride).load(base_v, p.dout_row_stride, -own, true);
  }
}

// dk and dv by way of the own rows' tiles. scale: of silu heads that have one for all rows.
template <class Config, bool kQk, bool kV>
HSTU_PRIM void store_keys(const AttnBwdParams& p, u32 base, const Step<Config, true, kQk, kV>& sums,
                          const Rows<Config>& rows, int head, int own, bool softmax, float scale) {
  using T = AttnBwdSm80<Config>;
  using Element = typename Config::Element;
  const u32 base_v = base + T::OwnQk::kBytes;
  const float of_weights = T::kFactors ? p.weight_down : softmax ? 1.0f : scale;
  const float of_slopes = p.forward.half_alpha *
                          (T::kFactors ? p.weight_down : (softmax ? 2.0f : scale) * (T::kNarrow ? p.slope_up : 1.0f));
  if constexpr (kQk) stage_rows<typename T::OwnQk, Element>(base, sums.qk, [&](int, int) { return of_slopes; });
  if constexpr (kV) stage_rows<typename T::OwnV, Element>(base_v, sums.v, [&](int, int) { return of_weights; });
  __syncthreads();
  if constexpr (kQk)
    tile::store_tile<typename T::OwnQk, Config::kHeadDimQk, T::kThreads, Config::kVectorIo>(
        base, rows.gradient(p.dk, p.dk_row_stride, p.dk_head_stride, head, own), p.dk_row_stride, -own);
  if constexpr (kV)
    tile::store_tile<typename T::OwnV, Config::kHeadDimV, T::kThreads, Config::kVectorIo>(
        base_v, rows.gradient(p.dv, p.dv_row_stride, p.dv_head_stride, head, own), p.dv_row_stride, -own);
}

// dq by way of the own rows' tile, and what the rows add to d_attn_scale.
template <class Config, bool kQk, bool kV>
HSTU_PRIM void store_queries(const AttnBwdParams& p, u32 base, const Step<Config, false, kQk, kV>& sums,
                             const Rows<Config>& rows, int head, int own, int own_row, bool softmax,
                             const OwnQueries<Config>& queries) {
  using T = AttnBwdSm80<Config>;
  const int lane = prim::lane_id();
  const auto position = [&](int m, int half) { return own_row + m * 16 + half * 8 + lane / 4; };
  if constexpr (Config::kHasDattnScale) {
#pragma unroll
    for (int m = 0; m < T::kRowTiles; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const float sum = prim::lane_sum<4>(queries.scale[m][half]);
        if (lane % 4 == 0 && position(m, half) >= 0)
          p.scale_terms[head * p.total + rows.sequence.row + position(m, half)] = sum;
      }
    }
  }
  if constexpr (kQk) {
    stage_rows<typename T::OwnQk, typename Config::Element>(base, sums.qk, [&](int m, int half) {
      const float of_row = softmax ? 2.0f : rows.scale(p, position(m, half) >= 0 ? position(m, half) : 0);
      return p.forward.half_alpha * of_row * (T::kNarrow ? p.slope_up : 1.0f);
    });
    __syncthreads();
    tile::store_tile<typename T::OwnQk, Config::kHeadDimQk, T::kThreads, Config::kVectorIo>(
        base, rows.gradient(p.dq, p.dq_row_stride, p.dq_head_stride, head, own), p.dq_row_stride, -own);
  }
}

// A key or query place: the own rows from position `own` on, of `head` of k and v or of q.
template <class Config, bool kKeySide, bool kQk, bool kV>
HSTU_PRIM void run_rows(const AttnBwdParams& p, unsigned char* smem, const Addresses<Config>& at, Rows<Config>& rows,
                        int head, int own) {
  using T = AttnBwdSm80<Config>;
  constexpr int kHeads = kKeySide ? variant::heads_per_kv<Config>(0) : 1, kStages = Config::kStages;
  const AttnFwdParams& f = p.forward;
  const u32 base = prim::smem_addr(smem);
  const int count = rows.count(), first_head = kKeySide ? head * kHeads : head, last_head = first_head + kHeads;
  const int own_row = own + static_cast<int>(prim::warp_id()) * T::kWarpRows;

  load_own<Config, kKeySide>(p, rows, first_head, own, base);
  Walk<Config, kKeySide> now{first_head, 0};
  now.settle(rows.mask, count, own, last_head);
  Walk<Config, kKeySide> ahead = now;
  const auto copy_next = [&](int stage) {
    if (ahead.head < last_head) {
      copy_stage<Config, kKeySide>(p, rows, ahead, base + T::kOwnBytes + stage * T::kStageBytes);
      ++ahead.tile;
      ahead.settle(rows.mask, count, own, last_head);
    }
    prim::cp_async_commit();
  };
#pragma unroll
  for (int stage = 0; stage + 1 < kStages; ++stage) copy_next(stage);

  OwnQueries<Config> queries;
  if constexpr (!kKeySide) load_own_queries<Config>(p, rows, head, own_row, queries);
  const float scale = Config::kRowScale ? 0.0f : rows.scale(p, 0);
  Step<Config, kKeySide, kQk, kV> sums;
  clear(sums.qk), clear(sums.v);
  int stage = 0, filled = kStages - 1;
#pragma unroll 1
  for (; now.head < last_head; ++now.tile, now.settle(rows.mask, count, own, last_head)) {
    prim::cp_async_wait<kStages - 2>();
    __syncthreads();
    copy_next(filled);
    const u32 moved = stage * T::kStageBytes;
    float* stats = reinterpret_cast<float*>(smem + T::kOwnBytes + moved + T::kStageStats);
    const bool softmax = is_softmax<Config>(p, now.head);
    if constexpr (kHeads > 1) variant::move_mask(rows.mask, f, now.head, rows.sequence.row);
    if (kKeySide && softmax) {
      find_deltas<Config>(base + T::kOwnBytes + moved, stats);
      __syncthreads();
    }
    const int walk_row = now.begin(count);
    sums.take(p, at, moved, stats, rows, now.head, softmax, own_row, walk_row, scale, queries);
    stage = stage + 1 == kStages ? 0 : stage + 1;
    filled = filled + 1 == kStages ? 0 : filled + 1;
  }
  prim::cp_async_wait<0>();
  __syncthreads();  // of places that walked over nothing, too

  const bool softmax = is_softmax<Config>(p, last_head - 1);
  if constexpr (kKeySide)
    store_keys(p, base, sums, rows, head, own, softmax, scale);
  else
    store_queries(p, base, sums, rows, head, own, own_row, softmax, queries);
  __syncthreads();  // before the tiles are written again
}

// Rows of drab from `own` on and keys from `key` on, of a table. Those outside the sequence are zeros.
template <class Config>
HSTU_PRIM void run_bias(const AttnBwdParams& p, unsigned char* smem, const Addresses<Config>& at, Rows<Config>& rows,
                        int table, int own, int key) {
  using T = AttnBwdSm80<Config>;
  using Element = typename Config::Element;
  constexpr int kColTiles = T::kWalk / 8;
  const AttnFwdParams& f = p.forward;
  const u32 base = prim::smem_addr(smem);
  const int count = rows.count(), lane = prim::lane_id();
  const int own_row = own + static_cast<int>(prim::warp_id()) * T::kWarpRows;
  const int first_head = p.bias_tables == 1 ? 0 : table, last_head = p.bias_tables == 1 ? f.num_heads : table + 1;
  float sums[T::kRowTiles][kColTiles][4];
  clear(sums);
  const bool inside = own < count && key < count;  // then the whole tile ends in the sequence
#pragma unroll 1
  for (int head = first_head; inside && head < last_head; ++head) {
    variant::move_mask(rows.mask, f, head, rows.sequence.row);
    if (!variant::sees_some(rows.mask, own, own + T::kOwn, key, key + T::kWalk)) continue;
    load_own<Config, false>(p, rows, head, own, base);
    typename T::WalkQkStream(rows.sequence.k(f, head, key), f.k_row_stride)
        .load(base + T::kOwnBytes, f.k_row_stride, -key, true);
    typename T::WalkVStream(rows.sequence.v(f, head, key), f.v_row_stride)
        .load(base + T::kOwnBytes + T::kStageV, f.v_row_stride, -key, true);
    prim::cp_async_commit();
    OwnQueries<Config> queries;
    load_own_queries<Config>(p, rows, head, own_row, queries);
    prim::cp_async_wait<0>();
    __syncthreads();
    Seen<Config, false> seen;
    if (seen.find(rows.mask, own_row, key)) {
      float s[T::kRowTiles][kColTiles][4], dp[T::kRowTiles][kColTiles][4];
      init_scores<Config, false>(p, s, rows.seq, head, own_row, key);
      multiply_rows<Element>(s, at.own_qk, at.walk_qk);
      clear(dp);
      multiply_rows<Element>(dp, at.own_v, at.walk_v);
      const bool softmax = is_softmax<Config>(p, head);
#pragma unroll
      for (int m = 0; m < T::kRowTiles; ++m) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const int position = own_row + m * 16 + half * 8 + lane / 4;
          const float factor = f.half_alpha * (softmax ? 2.0f : rows.scale(p, position >= 0 ? position : 0));
#pragma unroll
          for (int n = 0; n < kColTiles; ++n) {
#pragma unroll
            for (int e = 0; e < 2; ++e) {
              const int i = half * 2 + e;
              const bool is_seen = seen.at(m, half, n, e);
              const Weighed pair = Config::kSoftmax && softmax
                                       ? weigh_softmax(f.log2_alpha, s[m][n][i], dp[m][n][i], queries.lse[m][half],
                                                       queries.delta[m][half], is_seen)
                                       : weigh_silu(f.half_alpha, s[m][n][i], dp[m][n][i], is_seen);
              sums[m][n][i] += pair.slope * factor;
            }
          }
        }
      }
    }
    __syncthreads();  // before the tiles are written again
  }
#pragma unroll
  for (int m = 0; m < T::kRowTiles; ++m) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const attn_bwd_detail::BiasRow<Config> row(p, rows.seq, table, own_row + m * 16 + half * 8 + lane / 4);
#pragma unroll
      for (int n = 0; n < kColTiles; ++n) {
#pragma unroll
        for (int e = 0; e < 2; ++e) row.write(key + n * 8 + lane % 4 * 2 + e, sums[m][n][half * 2 + e]);
      }
    }
  }
}

// As bwd/places.cuh wants it.
template <class Config_>
struct Kernel {
  using Config = Config_;
  using Shape = AttnBwdSm80<Config>;
  unsigned char* const smem;
  const Addresses<Config> at;

  HSTU_PRIM explicit Kernel(unsigned char* smem) : smem(smem), at(prim::smem_addr(smem)) {}
  template <bool kKeySide, bool kQk, bool kV>
  HSTU_PRIM void rows(const AttnBwdParams& p, Rows<Config>& rows, int head, int own) const {
    run_rows<Config, kKeySide, kQk, kV>(p, smem, at, rows, head, own);
  }
  HSTU_PRIM void bias(const AttnBwdParams& p, Rows<Config>& rows, int table, int own, int key) const {
    run_bias<Config>(p, smem, at, rows, table, own, key);
  }
};

}  // namespace attn_bwd_sm80_detail

template <class Config>
__global__ void __launch_bounds__(AttnBwdSm80<Config>::kThreads, Config::kMinBlocks)
    attn_bwd_sm80(const __grid_constant__ AttnBwdParams p) {
  extern __shared__ __align__(1024) unsigned char smem[];
  attn_bwd_sm80_detail::Kernel<Config> kernel(smem);
  attn_bwd_detail::run(p, kernel, smem + AttnBwdSm80<Config>::kWordAt);
}

}  // namespace hstu
