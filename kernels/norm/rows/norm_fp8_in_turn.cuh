// norm_rows.cuh to FP8 with several rows a thread: a team takes them one after the other, the next in flight while one
// is normed and quantised. Bound by instructions as much as by memory, so that what addresses, loads of weights and the
// block's beginning cost is shared by all rows: on an H200 whose copies run at 4140 GB/s, layer_norm of bf16 524288 x
// 512 to e4m3 runs at 4085 GB/s with four rows in turn, and at 3550 with one row at a time, 360 instructions instead of
// 260.
//
// What runs, and the file behind each line, in norm/rows/:
//   load a team's first row; weight and bias                row_norm.cuh: load_row(); row_affine.cuh
//   for each of its kRowsPerThread rows                     norm_fp8_in_turn.cuh
//     start the loads of the next                           row_norm.cuh: load_row()
//     mean, rstd; normalise, weight and bias, SiLU          row_norm.cuh, row_affine.cuh, norm_output.cuh
//     amax of a unit, scale, round to FP8, store            row_quantiser.cuh: run_row()
//
// Config    of norm_rows.cuh, with teams within a warp.
#pragma once
#include "norm/rows/norm_rows.cuh"
#include "norm/rows/thread_prefetch.cuh"

namespace hstu::tile {

template <class Config>
HSTU_PRIM void norm_rows_to_fp8_in_turn(const RowNormParams& p) {
  using Element = typename Config::Element;
  using Shape = RowShape<OneRow<Config>>;
  constexpr int kRowSteps = Config::kRowsPerThread;
  static_assert(Shape::kWarps == 1 && !Shape::kLooped, "a team is part of a warp and holds its row");
  extern __shared__ __align__(1024) unsigned char smem[];
  const RowTeam<Shape> team;
  const RowQuantiser<Config, Shape> quantiser(p, smem);
  RowAffine<Config, Shape> affine(p.weight, p.bias, smem);
  RowPacks<Shape, Element> packs, next;
  const i64 first = static_cast<i64>(blockIdx.x) * Shape::kRowsAtOnce * kRowSteps;
  const u32 count = static_cast<u32>(min(p.rows - first, i64{Shape::kRowsAtOnce * kRowSteps}));
  // Behind the last row it is taken again, and not written.
  const Element* const from = static_cast<const Element*>(p.x) + first * p.x_row_stride;
  const auto load = [&](RowPacks<Shape, Element>& to, u32 row) {
    load_row<Shape>(to, from + min(row, count - 1) * p.x_row_stride, team);
  };
  load(packs, team.row);
  affine.start_loads(packs, team, RowBlock<Shape>(blockIdx.x, p.rows));
  if constexpr (Config::kWeights == kWeightsShared) affine.share();
#pragma unroll 1
  for (int step = 0; step < kRowSteps; ++step) {
    const u32 row = step * Shape::kRowsAtOnce + team.row;
    if (step + 1 < kRowSteps) load(next, row + Shape::kRowsAtOnce);
    float x[1][Shape::kAccesses][Shape::kVector];
#pragma unroll
    for (int a = 0; a < Shape::kAccesses; ++a) unpack(x[0][a], packs[a]);
    RowMoments moments[1];
    row_moments<Config::kCentred, Shape, Element>(moments, x, team, nullptr, p.eps);
    if constexpr (saves_moments<Config>(0)) {
      if (team.lane == 0 && row < count) save_moments(p, first + row, moments[0]);
    }
    if constexpr (Config::kWeights == kWeightsLate) affine.finish(team, moments[0]);
#pragma unroll
    for (int a = 0; a < Shape::kAccesses; ++a) {
      float y[Shape::kVector];
      if constexpr (Config::kWeights == kWeightsShared)
        affine.apply_shared(y, x[0][a], moments[0], team, a);
      else
        affine.apply(y, x[0][a], moments[0], 0, a);
#pragma unroll
      for (int v = 0; v < Shape::kVector; ++v) x[0][a][v] = Config::Output::template apply<Element>(x[0][a][v], y[v]);
    }
    quantiser.run_row(x, team, first + row, row < count);
#pragma unroll
    for (int a = 0; a < Shape::kAccesses; ++a) packs[a] = next[a];
  }
}

// The whole kernel of a norm whose results may be in FP8.
template <class Config>
HSTU_PRIM void norm_rows_or_in_turn(const RowNormParams& p) {
  if constexpr (Config::kScaling != kPerTensor && RowShape<Config>::kWarps == 1 && Config::kRowsPerThread > 1)
    norm_rows_to_fp8_in_turn<Config>(p);
  else
    norm_rows<Config>(p);
}

}  // namespace hstu::tile
