// Softmax and log-softmax of rows, sm80. Bound by memory: each element is read once, held in registers, written once.
//
//   x row ──► registers ──► maximum m and sum s of e^(x - m), each warp about its own m ──► one exchange ──► y row
//
// What runs, and the function behind each line, of this file unless another is named:
//   each team, once, for its kRowsPerThread rows            held_rows()
//     load the rows                                         norm/rows/row_norm.cuh: load_row()
//     maximum over the warp; e^(x - m) and their sum        exp_nonpositive()
//       of several warps: one exchange                      reduce_warps()
//     scale, or for log-softmax shift; store                scale_of(), shift_of(), norm/rows/row_norm.cuh: store_row()
//   rows too long for registers: a block, each read twice   long_row()
//     maximum and sum carried along (online), then merged   add(), merged(), reduce_warps()
//
// Work      as in norm/rows/norm_rows.cuh: a team of kThreadsPerRow threads per row. Rows too long for registers are
//           taken by a whole block and read twice: once for m and s, which each thread carries along, once for the
//           results.
// Edges     -inf counts as weight 0. A row of nothing but -inf has sum 0 and becomes NaN, or 0 with kZeroEmpty.
// Config    facts: Element; kDim, kVector (elements of an aligned access), kGroups 1; kLog (log-softmax); kZeroEmpty.
//           knobs: kThreads, kThreadsPerRow, kRowsPerThread; kMinBlocks is 1.
// Sources   joining of sums about different maxima: Milakov, Gimelshein 2018, arXiv:1805.02867.
#pragma once
#include "norm/rows/row_norm.cuh"
#include "norm/softmax.h"

namespace hstu {

template <class Config>
constexpr int softmax_smem_bytes = tile::RowShape<Config>::kExchangeBytes;

namespace softmax {

HSTU_PRIM constexpr float log2e() { return 1.4426950408889634f; }
HSTU_PRIM constexpr float ln2() { return 0.6931471805599453f; }
// The least finite float, so that -inf less it is still -inf.
HSTU_PRIM constexpr float lowest() { return -3.402823466e38f; }

// e^d for d <= 0. For float the rounding of d * log2(e) is put back, as in tile/sigmoid.cuh.
template <class Element>
HSTU_PRIM float exp_nonpositive(float d) {
  const float exponent = log2e() * d;
  if constexpr (sizeof(Element) == 2) return prim::ex2_approx(exponent);
  constexpr float kLog2eRest = 1.9259629911266175e-8f;
  const float rest = d < -100.0f ? 0.0f : __fmaf_rn(kLog2eRest, d, __fmaf_rn(log2e(), d, -exponent));
  const float y = prim::ex2_approx(exponent);
  return __fmaf_rn(y, ln2() * rest, y);
}

// Maximum and sum of a part of a row; `max` is at least lowest().
struct Sum {
  float max, sum;
};

template <class Element>
HSTU_PRIM Sum merged(const Sum& a, const Sum& b) {
  const float new_max = fmaxf(a.max, b.max);
  return {new_max, __fmaf_rn(a.sum, exp_nonpositive<Element>(a.max - new_max),
                             b.sum * exp_nonpositive<Element>(b.max - new_max))};
}

// The shares of a team's warps, joined; in, this warp's share, equal in its lanes.
template <class Element, class Shape, int kRows>
HSTU_PRIM void reduce_warps(Sum (&total)[kRows], tile::RowPartial* exchange) {
  constexpr int kWarps = Shape::kWarps, kStride = Shape::kBlockWarps;
  const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32),
            first = warp & -kWarps;
  if (lane == 0) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) exchange[r * kStride + warp] = {total[r].max, total[r].sum, 0.0f};
  }
  __syncthreads();
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const tile::RowPartial share = exchange[r * kStride + first + (lane & (kWarps - 1))];
    const float new_max = prim::lane_max<kWarps>(share.pivot);
    total[r] = {new_max, prim::lane_sum<kWarps>(share.rest * exp_nonpositive<Element>(share.pivot - new_max))};
  }
}

// Maximum and sum to what results are computed from: y = value * e^(own - max) / sum, where `own` is the maximum
// that the values at hand are about; or, for log-softmax, y = x - (max + log(sum)).
template <class Config>
HSTU_PRIM float scale_of(const Sum& total, float own) {
  using Element = typename Config::Element;
  if (Config::kZeroEmpty && total.sum == 0.0f) return 0.0f;
  return exp_nonpositive<Element>(own - total.max) * prim::rcp_approx(total.sum);
}
template <class Config>
HSTU_PRIM float shift_of(const Sum& total) {
  if (Config::kZeroEmpty && total.sum == 0.0f) return 0.0f;
  return total.sum == 0.0f ? __uint_as_float(0x7fffffffu) : ln2() * prim::lg2_approx(total.sum);
}

// The rows of one block, held in registers.
template <class Config, class Shape>
HSTU_PRIM void held_rows(const SoftmaxParams& p, const tile::RowTeam<Shape>& team, const tile::RowBlock<Shape>& rows,
                         tile::RowPartial* exchange) {
  using Element = typename Config::Element;
  constexpr int kRows = Shape::kRowsPerThread;
  tile::RowPacks<Shape, Element> packs[kRows];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const i64 row = rows.matrix_row(team.row + r * Shape::kRowsAtOnce);
    tile::load_row<Shape>(packs[r], static_cast<const Element*>(p.x) + row * p.x_row_stride, team);
  }

  float x[kRows][Shape::kAccesses][Shape::kVector], own[kRows];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    own[r] = lowest();
#pragma unroll
    for (int a = 0; a < Shape::kAccesses; ++a) {
      tile::unpack(x[r][a], packs[r][a]);
#pragma unroll
      for (int v = 0; v < Shape::kVector; ++v) {
        if (!team.holds(a)) x[r][a][v] = -__uint_as_float(0x7f800000u);
        own[r] = fmaxf(own[r], x[r][a][v]);
      }
    }
  }
  prim::lane_maxima<Shape::kLanes>(own);

  float sum[kRows] = {};
  Sum total[kRows];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
#pragma unroll
    for (int a = 0; a < Shape::kAccesses; ++a) {
#pragma unroll
      for (int v = 0; v < Shape::kVector; ++v) {
        const float e = exp_nonpositive<Element>(x[r][a][v] - own[r]);
        sum[r] += e;
        if constexpr (!Config::kLog) x[r][a][v] = e;
      }
    }
  }
  prim::lane_sums<Shape::kLanes>(sum);
#pragma unroll
  for (int r = 0; r < kRows; ++r) total[r] = {own[r], sum[r]};
  if constexpr (Shape::kWarps > 1) reduce_warps<Element, Shape>(total, exchange);

#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const int row = team.row + r * Shape::kRowsAtOnce;
    const float scale = Config::kLog ? shift_of<Config>(total[r]) : scale_of<Config>(total[r], own[r]);
#pragma unroll
    for (int a = 0; a < Shape::kAccesses; ++a) {
#pragma unroll
      for (int v = 0; v < Shape::kVector; ++v)
        x[r][a][v] = Config::kLog ? x[r][a][v] - total[r].max - scale : x[r][a][v] * scale;
      tile::pack(packs[r][a], x[r][a]);
    }
    Element* to = static_cast<Element*>(p.y) + rows.matrix_row(row) * p.y_row_stride;
    if (rows.has(row)) tile::store_row<Shape>(to, packs[r], team);
  }
}

// Adds one access to a thread's share of a row.
template <class Element, int kCount>
HSTU_PRIM void add(Sum& share, const float (&x)[kCount]) {
  float new_max = share.max;
#pragma unroll
  for (int v = 0; v < kCount; ++v) new_max = fmaxf(new_max, x[v]);
  share.sum *= exp_nonpositive<Element>(share.max - new_max);
  share.max = new_max;
#pragma unroll
  for (int v = 0; v < kCount; ++v) share.sum += exp_nonpositive<Element>(x[v] - new_max);
}

// One row by the whole block, read twice.
template <class Config, class Shape>
HSTU_PRIM void long_row(const SoftmaxParams& p, const tile::RowTeam<Shape>& team, i64 row, tile::RowPartial* exchange) {
  using Element = typename Config::Element;
  const Element* from = static_cast<const Element*>(p.x) + row * p.x_row_stride;
  Element* to = static_cast<Element*>(p.y) + row * p.y_row_stride;
  tile::RowPack<Element, Shape::kVector> pack;
  float x[Shape::kVector];
  Sum total[1] = {{lowest(), 0.0f}};
#pragma unroll 4
  for (int a = 0; a < Shape::kAccesses; ++a) {
    if (!team.holds(a)) continue;
    tile::load(pack, from + team.column(a));
    tile::unpack(x, pack);
    add<Element>(total[0], x);
  }
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2)
    total[0] = merged<Element>(total[0], {__shfl_xor_sync(prim::kFullWarp, total[0].max, offset),
                                          __shfl_xor_sync(prim::kFullWarp, total[0].sum, offset)});
  reduce_warps<Element, Shape>(total, exchange);
  const float scale = Config::kLog ? shift_of<Config>(total[0]) : scale_of<Config>(total[0], total[0].max);
#pragma unroll 4
  for (int a = 0; a < Shape::kAccesses; ++a) {
    if (!team.holds(a)) continue;
    tile::load(pack, from + team.column(a));
    tile::unpack(x, pack);
#pragma unroll
    for (int v = 0; v < Shape::kVector; ++v) {
      const float d = x[v] - total[0].max;
      x[v] = Config::kLog ? d - scale : exp_nonpositive<Element>(d) * scale;
    }
    tile::pack(pack, x);
    tile::store(to + team.column(a), pack);
  }
}

}  // namespace softmax

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    softmax_sm80(const __grid_constant__ SoftmaxParams p) {
  using Shape = tile::RowShape<Config>;
  extern __shared__ __align__(1024) unsigned char smem[];
  tile::RowPartial* exchange = reinterpret_cast<tile::RowPartial*>(smem);
  const tile::RowTeam<Shape> team;
  const tile::RowBlock<Shape> rows(blockIdx.x, p.rows);
  if constexpr (Shape::kLooped)
    softmax::long_row<Config>(p, team, rows.matrix_row(0), exchange);
  else
    softmax::held_rows<Config>(p, team, rows, exchange);
}

}  // namespace hstu
