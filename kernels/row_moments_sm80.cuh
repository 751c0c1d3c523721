// Statistics of rows, or of equal parts of them, for kernels that normalise what they read: mean and sum of squared
// deviations (tile/part_moments.cuh). Bound by memory: each element is read once.
//
// Work      as in layer_norm_sm80.cuh: a team of threads per part of a row.
// Config    facts: Element; kDim (of a part), kGroups (parts of a row), kVector.
//           knobs: kThreads, kThreadsPerRow, kRowsPerThread, kMinBlocks (tile/norm_rows.cuh).
#pragma once
#include "params/row_moments.h"
#include "tile/part_moments.cuh"
#include "tile/row_norm.cuh"

namespace hstu {

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    row_moments_sm80(const __grid_constant__ RowMomentsParams p) {
  using Shape = tile::RowShape<Config>;
  using Element = typename Config::Element;
  constexpr int kRows = Shape::kRowsPerThread;
  static_assert(Shape::kWarps == 1 && !Shape::kLooped, "a part is held by a warp at most");
  const tile::RowTeam<Shape> team;
  const tile::RowBlock<Shape> rows(blockIdx.x, p.rows);
  tile::RowPacks<Shape, Element> packs[kRows];
  float mean[kRows] = {}, squares[kRows] = {};
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const int row = team.row + r * Shape::kRowsAtOnce;
    const Element* from = static_cast<const Element*>(p.x) + rows.matrix_row(row) * p.x_row_stride;
    tile::load_row<Shape>(packs[r], from + rows.group(row) * Shape::kDim, team);
  }

  float x[kRows][Shape::kAccesses][Shape::kVector];
#pragma unroll
  for (int r = 0; r < kRows; ++r)
#pragma unroll
    for (int a = 0; a < Shape::kAccesses; ++a) {
      tile::unpack(x[r][a], packs[r][a]);
      mean[r] += tile::sum_of(x[r][a]);
    }
  prim::lane_sums<Shape::kLanes>(mean);
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    mean[r] = tile::divide<Shape::kDim>(mean[r]);
#pragma unroll
    for (int a = 0; a < Shape::kAccesses; ++a)
#pragma unroll
      for (int v = 0; v < Shape::kVector; ++v) {
        const float d = team.holds(a) ? x[r][a][v] - mean[r] : 0.0f;
        squares[r] = __fmaf_rn(d, d, squares[r]);
      }
  }
  prim::lane_sums<Shape::kLanes>(squares);
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const int row = team.row + r * Shape::kRowsAtOnce;
    if (team.lane == 0 && rows.has(row))
      prim::st_global8(p.moments + (rows.matrix_row(row) * Shape::kGroups + rows.group(row)) * 2,
                       prim::Pair{{__float_as_uint(mean[r]), __float_as_uint(squares[r])}});
  }
}

}  // namespace hstu
