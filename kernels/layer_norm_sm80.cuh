// Row norms, sm80: layer norm, RMS norm, their SiLU and swish forms, and group norm, by Config. Bound by memory: each
// element is read once, held in registers for the two-pass statistics, and written once.
//
//   x row ──16-byte loads──► registers ──shuffles──► mean, rstd ──► (x - mean) * rstd * weight + bias ──► y row
//
// Work      a team of kThreadsPerRow threads per row, kRowsPerThread rows a thread at once (tile/row_norm.cuh). Rows
//           too long for registers are taken by a whole block each and read three times.
// Grid      one block per kRowsPerBlock rows. Small blocks in a plain grid came nearest to a copy: a block's slot is
//           free for the next one as soon as its last warp is done, where a resident grid waits for its slowest.
// Memory    Exchange between the warps of a team, and weight and bias if kWeights asks for it. x and y may be the same
//           buffer: a team has read a row before it writes it, and no other team uses it.
// Config    facts: Element, Weight; kDim (of the row, or of one of its kGroups parts), kVector (elements of an aligned
//           access to x, y, weight and bias), kHasWeight, kHasBias; kGroupNorm (weight and bias have one value per
//           group; otherwise kGroups is 1); kCentred false for RMS norm; Output NormOnly, SiluOfNorm or SwishOfNorm.
//           knobs: kThreads, kThreadsPerRow, kRowsPerThread, kWeights (tile/row_affine.cuh); kMinBlocks is 1.
// Sources   Ba et al. 2016, arXiv:1607.06450; joining of partial variances: Chan, Golub, LeVeque 1983.
#pragma once
#include "params/layer_norm.h"
#include "tile/row_affine.cuh"
#include "tile/sigmoid.cuh"

namespace hstu {

// What is written, from the raw value and its normalised one.
struct NormOnly {
  template <class Element>
  static HSTU_PRIM float apply(float, float norm) {
    return norm;
  }
};
struct SiluOfNorm {
  template <class Element>
  static HSTU_PRIM float apply(float, float norm) {
    return norm * tile::sigmoid<Element>(norm);
  }
};
struct SwishOfNorm {
  template <class Element>
  static HSTU_PRIM float apply(float x, float norm) {
    return x * tile::sigmoid<Element>(norm);
  }
};

template <class Config>
constexpr int layer_norm_smem_bytes =
    tile::RowShape<Config>::kExchangeBytes + tile::RowAffine<Config, tile::RowShape<Config>>::kSmemBytes;

namespace layer_norm {

// The rows of one block, held in registers.
template <class Config, class Shape>
HSTU_PRIM void held_rows(const LayerNormParams& p, const tile::RowTeam<Shape>& team, const tile::RowBlock<Shape>& rows,
                         tile::RowAffine<Config, Shape>& affine, tile::RowPartial* exchange) {
  using Element = typename Config::Element;
  constexpr int kRows = Shape::kRowsPerThread;
  tile::RowPacks<Shape, Element> packs[kRows];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const int row = team.row + r * Shape::kRowsAtOnce;
    const Element* from = static_cast<const Element*>(p.x) + rows.matrix_row(row) * p.x_row_stride;
    tile::load_row<Shape>(packs[r], from + rows.group(row) * Shape::kDim, team);
  }
  affine.join(packs[0], team, rows);

  float x[kRows][Shape::kAccesses][Shape::kVector];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
#pragma unroll
    for (int a = 0; a < Shape::kAccesses; ++a) tile::unpack(x[r][a], packs[r][a]);
  }
  tile::RowMoments moments[kRows];
  tile::row_moments<Config::kCentred, Shape, Element>(moments, x, team, exchange, p.eps);
  affine.finish(team, moments[0]);

#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const int row = team.row + r * Shape::kRowsAtOnce;
#pragma unroll
    for (int a = 0; a < Shape::kAccesses; ++a) {
      float y[Shape::kVector];
      affine.apply(y, x[r][a], moments[r], r, a);
#pragma unroll
      for (int v = 0; v < Shape::kVector; ++v) y[v] = Config::Output::template apply<Element>(x[r][a][v], y[v]);
      tile::pack(packs[r][a], y);
    }
    Element* to = static_cast<Element*>(p.y) + rows.matrix_row(row) * p.y_row_stride;
    if (rows.has(row)) tile::store_row<Shape>(to + rows.group(row) * Shape::kDim, packs[r], team);
  }
}

// One row by the whole block, read from memory three times.
template <class Config, class Shape>
HSTU_PRIM void long_row(const LayerNormParams& p, const tile::RowTeam<Shape>& team, const tile::RowBlock<Shape>& rows,
                        const tile::RowAffine<Config, Shape>& affine, tile::RowPartial* exchange) {
  using Element = typename Config::Element;
  const int group = rows.group(0);
  const Element* from = static_cast<const Element*>(p.x) + rows.matrix_row(0) * p.x_row_stride + group * Shape::kDim;
  Element* to = static_cast<Element*>(p.y) + rows.matrix_row(0) * p.y_row_stride + group * Shape::kDim;
  const tile::RowMoments moments = tile::long_row_moments<Config::kCentred, Shape>(from, team, exchange, p.eps);
#pragma unroll 4
  for (int a = 0; a < Shape::kAccesses; ++a) {
    if (!team.holds(a)) continue;
    tile::RowPack<Element, Shape::kVector> pack;
    float x[Shape::kVector], y[Shape::kVector];
    tile::load(pack, from + team.column(a));
    tile::unpack(x, pack);
    affine.apply_long(y, x, moments, team.column(a), group);
#pragma unroll
    for (int v = 0; v < Shape::kVector; ++v) y[v] = Config::Output::template apply<Element>(x[v], y[v]);
    tile::pack(pack, y);
    tile::store(to + team.column(a), pack);
  }
}

}  // namespace layer_norm

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    layer_norm_sm80(const __grid_constant__ LayerNormParams p) {
  using Shape = tile::RowShape<Config>;
  extern __shared__ __align__(1024) unsigned char smem[];
  tile::RowPartial* exchange = reinterpret_cast<tile::RowPartial*>(smem);
  const tile::RowTeam<Shape> team;
  const tile::RowBlock<Shape> rows(blockIdx.x, p.rows);
  tile::RowAffine<Config, Shape> affine(p.weight, p.bias, smem + Shape::kExchangeBytes);
  if constexpr (Shape::kLooped)
    layer_norm::long_row<Config>(p, team, rows, affine, exchange);
  else
    layer_norm::held_rows<Config>(p, team, rows, affine, exchange);
}

}  // namespace hstu
