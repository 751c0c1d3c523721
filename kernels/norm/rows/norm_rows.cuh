// The body of the row norms: layer, RMS, group and swish norm differ by their Config alone. Bound by memory: each
// element is read once, held in registers for the two-pass statistics, and written once.
//
//   x row ──16-byte loads──► registers ──shuffles──► mean, rstd ──► (x - mean) * rstd * weight + bias ──► y row
//
// What runs, and the function or the file behind each line, in norm/rows/ unless it is of this file:
//   each team, once, for its kRowsPerThread rows            norm_held_rows()
//     load the rows; start loads of weight and bias         row_norm.cuh: load_row(); row_affine.cuh: start_loads()
//     mean, then squares about it, in registers             row_norm.cuh: row_moments()
//       of several warps: one exchange                      row_norm.cuh: reduce_warps()
//     both to the gradient's moments, if it asks for them   row_norm.cuh: save_moments()
//     normalise, weight and bias                            row_affine.cuh: finish(), apply()
//     SiLU or swish                                         norm_output.cuh
//     store, or amax of a unit, scale, round to FP8, store  row_norm.cuh: store_row(); row_quantiser.cuh
//   rows too long for registers: a block reads each thrice  norm_long_row(): long_row_moments(), apply_long()
//
// Work      a team of kThreadsPerRow threads per row, kRowsPerThread rows a thread at once (norm/rows/row_norm.cuh).
//           Rows too long for registers are taken by a whole block each and read three times.
// Grid      one block per kRowsPerBlock rows. Small blocks in a plain grid came nearest to a copy: a block's slot is
//           free for the next one as soon as its last warp is done, where a resident grid waits for its slowest.
// Memory    Exchange between the warps of a team, and weight and bias if kWeights asks for it. x and y may be the same
//           buffer: a team has read a row before it writes it, and no other team uses it.
// Config    facts: Element, Weight; kDim (of the row, or of one of its kGroups parts), kVector (elements of an aligned
//           access to x, y, weight and bias), kHasWeight, kHasBias; kGroupNorm (weight and bias have one value per
//           group; otherwise kGroups is 1); kCentred false for RMS norm; Output NormOnly, SiluOfNorm or SwishOfNorm;
//           Fp8 and kScaling of a y in FP8 (norm/rows/row_quantiser.cuh; several rows a thread:
//           norm/rows/norm_fp8_in_turn.cuh); kMoments, of layer norm alone, to leave moments. knobs: kThreads,
//           kThreadsPerRow, kRowsPerThread, kWeights (norm/rows/row_affine.cuh); kMinBlocks: of an SM, for which the
//           compiler must leave registers.
// Sources   Ba et al. 2016, arXiv:1607.06450; joining of partial variances: Chan, Golub, LeVeque 1983.
#pragma once
#include "norm/row_norm.h"
#include "norm/rows/norm_output.cuh"
#include "norm/rows/row_affine.cuh"
#include "norm/rows/row_quantiser.cuh"

namespace hstu::tile {

// The rows of one block, held in registers.
template <class Config, class Shape>
HSTU_PRIM void norm_held_rows(const RowNormParams& p, const RowTeam<Shape>& team, const RowBlock<Shape>& rows,
                              RowAffine<Config, Shape>& affine, RowPartial* exchange,
                              const RowQuantiser<Config, Shape>& quantiser) {
  using Element = typename Config::Element;
  constexpr int kRows = Shape::kRowsPerThread;
  RowPacks<Shape, Element> packs[kRows];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const int row = team.row + r * Shape::kRowsAtOnce;
    const Element* from = static_cast<const Element*>(p.x) + rows.matrix_row(row) * p.x_row_stride;
    load_row<Shape>(packs[r], from + rows.group(row) * Shape::kDim, team);
  }
  affine.start_loads(packs[0], team, rows);

  float x[kRows][Shape::kAccesses][Shape::kVector];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
#pragma unroll
    for (int a = 0; a < Shape::kAccesses; ++a) unpack(x[r][a], packs[r][a]);
  }
  RowMoments moments[kRows];
  row_moments<Config::kCentred, Shape, Element>(moments, x, team, exchange, p.eps);
  if constexpr (saves_moments<Config>(0)) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const int row = team.row + r * Shape::kRowsAtOnce;
      if (team.lane == 0 && rows.has(row)) save_moments(p, rows.matrix_row(row), moments[r]);
    }
  }
  affine.finish(team, moments[0]);

#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const int row = team.row + r * Shape::kRowsAtOnce;
#pragma unroll
    for (int a = 0; a < Shape::kAccesses; ++a) {
      float y[Shape::kVector];
      affine.apply(y, x[r][a], moments[r], r, a);
#pragma unroll
      for (int v = 0; v < Shape::kVector; ++v) {
        y[v] = Config::Output::template apply<Element>(x[r][a][v], y[v]);
        if constexpr ((RowQuantiser<Config, Shape>::kOn)) x[r][a][v] = y[v];
      }
      if constexpr (!(RowQuantiser<Config, Shape>::kOn)) pack(packs[r][a], y);
    }
    if constexpr ((RowQuantiser<Config, Shape>::kOn)) continue;
    Element* to = static_cast<Element*>(p.y) + rows.matrix_row(row) * p.y_row_stride;
    if (rows.has(row)) store_row<Shape>(to + rows.group(row) * Shape::kDim, packs[r], team);
  }
  if constexpr ((RowQuantiser<Config, Shape>::kOn)) quantiser.run(x, team, rows);
}

// One row by the whole block, read from memory three times.
template <class Config, class Shape>
HSTU_PRIM void norm_long_row(const RowNormParams& p, const RowTeam<Shape>& team, const RowBlock<Shape>& rows,
                             const RowAffine<Config, Shape>& affine, RowPartial* exchange) {
  using Element = typename Config::Element;
  const int group = rows.group(0);
  const Element* from = static_cast<const Element*>(p.x) + rows.matrix_row(0) * p.x_row_stride + group * Shape::kDim;
  Element* to = static_cast<Element*>(p.y) + rows.matrix_row(0) * p.y_row_stride + group * Shape::kDim;
  const RowMoments moments = long_row_moments<Config::kCentred, Shape>(from, team, exchange, p.eps);
  if constexpr (saves_moments<Config>(0)) {
    if (team.lane == 0) save_moments(p, rows.matrix_row(0), moments);
  }
#pragma unroll 4
  for (int a = 0; a < Shape::kAccesses; ++a) {
    if (!team.holds(a)) continue;
    RowPack<Element, Shape::kVector> values;
    float x[Shape::kVector], y[Shape::kVector];
    load(values, from + team.column(a));
    unpack(x, values);
    affine.apply_long(y, x, moments, team.column(a), group);
#pragma unroll
    for (int v = 0; v < Shape::kVector; ++v) y[v] = Config::Output::template apply<Element>(x[v], y[v]);
    pack(values, y);
    store(to + team.column(a), values);
  }
}

template <class Config>
constexpr int norm_rows_smem_bytes =
    RowShape<Config>::kExchangeBytes + RowAffine<Config, RowShape<Config>>::kSmemBytes +
    RowQuantiser<Config, RowShape<Config>>::kSmemBytes;

template <class Config>
HSTU_PRIM void norm_rows(const RowNormParams& p) {
  using Shape = RowShape<Config>;
  extern __shared__ __align__(1024) unsigned char smem[];
  RowPartial* exchange = reinterpret_cast<RowPartial*>(smem);
  const RowTeam<Shape> team;
  const RowBlock<Shape> rows(blockIdx.x, p.rows);
  RowAffine<Config, Shape> affine(p.weight, p.bias, smem + Shape::kExchangeBytes);
  if constexpr (Shape::kLooped)
    norm_long_row<Config>(p, team, rows, affine, exchange);
  else
    norm_held_rows<Config>(
        p, team, rows, affine, exchange,
        RowQuantiser<Config, Shape>(p, smem + Shape::kExchangeBytes + RowAffine<Config, Shape>::kSmemBytes));
}

}  // namespace hstu::tile
