// norm_rows.cuh for outputs that need the row again beside its norm: a team takes its kRowsPerThread rows one after the
// other, the next in flight while one is normed. A row stays as stored and is unpacked once for the statistics and
// once for the results, which leaves registers for more blocks; weight and bias stay in shared memory, for all rows of
// a block.
//
// Config    of norm_rows.cuh, with teams within a warp and kWeights kWeightsShared.
#pragma once
#include "norm/rows/norm_rows.cuh"

namespace hstu::tile {

// Makes `row` depend on `value`, which keeps ptxas from unpacking it once for all uses.
template <class Shape, class Element>
HSTU_PRIM void unpack_anew(RowPacks<Shape, Element>& row, float value) {
  const u32 zero = __float_as_uint(value) & prim::opaque_zero();
#pragma unroll
  for (auto& pack : row) {
#pragma unroll
    for (u32& word : pack.word) word ^= zero;
  }
}

template <class Config>
HSTU_PRIM void norm_rows_in_turn(const RowNormParams& p) {
  using Element = typename Config::Element;
  using Shape = RowShape<Config>;
  static_assert(Shape::kWarps == 1 && !Shape::kLooped, "a team is part of a warp and holds its row");
  extern __shared__ __align__(1024) unsigned char smem[];
  const RowTeam<Shape> team;
  const RowBlock<Shape> rows(blockIdx.x, p.rows);
  RowAffine<Config, Shape> affine(p.weight, p.bias, smem);
  RowPacks<Shape, Element> packs, next;
  const auto load = [&](RowPacks<Shape, Element>& to, int row) {
    load_row<Shape>(to, static_cast<const Element*>(p.x) + rows.matrix_row(row) * p.x_row_stride, team);
  };
  load(packs, team.row);
  affine.start_loads(packs, team, rows);
  affine.share();
#pragma unroll 1
  for (int row = team.row; row < Shape::kRowsPerBlock; row += Shape::kRowsAtOnce) {
    if (row + Shape::kRowsAtOnce < Shape::kRowsPerBlock) load(next, row + Shape::kRowsAtOnce);
    float x[1][Shape::kAccesses][Shape::kVector];
#pragma unroll
    for (int a = 0; a < Shape::kAccesses; ++a) unpack(x[0][a], packs[a]);
    RowMoments moments[1];
    row_moments<Config::kCentred, Shape, Element>(moments, x, team, nullptr, p.eps);
    unpack_anew<Shape, Element>(packs, moments[0].rstd);
#pragma unroll
    for (int a = 0; a < Shape::kAccesses; ++a) {
      float y[Shape::kVector];
      unpack(x[0][a], packs[a]);
      affine.apply_shared(y, x[0][a], moments[0], team, a);
#pragma unroll
      for (int v = 0; v < Shape::kVector; ++v) y[v] = Config::Output::template apply<Element>(x[0][a][v], y[v]);
      pack(packs[a], y);
    }
    Element* to = static_cast<Element*>(p.y) + rows.matrix_row(row) * p.y_row_stride;
    if (rows.has(row)) store_row<Shape>(to, packs, team);
#pragma unroll
    for (int a = 0; a < Shape::kAccesses; ++a) packs[a] = next[a];
  }
}

}  // namespace hstu::tile
