// Row norms, sm80: layer norm, RMS norm, their SiLU and swish forms, and group norm, by Config. Bound by memory: each
// element is read once, held in registers for the two-pass statistics, and written once.
//
//   x row ──16-byte loads──► registers ──shuffles──► mean, rstd ──► (x - mean) * rstd * weight + bias ──► y row
//
// Work      a team of kThreadsPerRow threads per row, kRowsPerThread rows a thread at once (tile/row_norm.cuh); rows too
//           long for registers are taken by a whole block each and read three times.
// Grid      one block per kRowsPerBlock rows, or kPersistent: any number of blocks, each striding over the rows with
//           weight and bias kept in registers.
// Memory    RowExchange only if a team has several warps. x and y may be the same buffer: a team has read a row before
//           it writes it, and no other team touches it.
// Config    facts: Element, Weight; kDim (of the row, or of one of its kGroups parts), kVector (elements of an aligned
//           access: x, y, and weight where it has dim elements), kHasWeight, kHasBias; kCentred false for RMS norm;
//           Output NormOnly, SiluOfNorm or SwishOfNorm. Under kGroups > 1 weight and bias hold one value per group.
//           knobs: kThreads, kThreadsPerRow, kRowsPerThread, kMinBlocks (blocks per SM the registers must allow),
//           kPersistent, kWeightsFirst (load weight and bias together with x, not when they are needed: shorter if
//           latency counts, more registers), kStreamStores (y is not kept in L2 for a reader).
// Sources   Ba et al. 2016, arXiv:1607.06450; joining of partial variances: Chan, Golub, LeVeque 1983.
#pragma once
#include "params.h"
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
constexpr int layer_norm_smem_bytes = tile::kRowSmemBytes<tile::RowShape<Config>>;

namespace layer_norm {

// The rows of one block, held in registers.
template <class Config, class Shape, class Affine>
HSTU_PRIM void held_rows(const LayerNormParams& p, i64 block, const tile::RowTeam<Shape>& team, Affine& affine,
                         tile::RowPartial* exchange) {
  using Element = typename Config::Element;
  using Weight = typename Config::Weight;
  constexpr int kRows = Shape::kRowsPerThread;
  constexpr tile::Reuse kOutput = Config::kStreamStores ? tile::Reuse::kOnce : tile::Reuse::kMany;
  const Weight *weight = static_cast<const Weight*>(p.weight), *bias = static_cast<const Weight*>(p.bias);
  const tile::RowBlock<Shape> rows(block, p.rows);

  tile::RowPacks<Shape, Element> packs[kRows];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const int row = team.row + r * Shape::kRowsAtOnce;
    const Element* from = static_cast<const Element*>(p.x) + rows.matrix_row(row) * p.x_row_stride;
    tile::load_row<tile::Reuse::kOnce, Shape>(packs[r], from + rows.group(row) * Shape::kDim, team, rows.has(row));
  }
  affine.load_groups(weight, bias, team, rows);
  if constexpr (Config::kWeightsFirst && !Config::kPersistent) {
    affine.load_columns(weight, bias, team);
    affine.join_columns(packs[0], prim::opaque_zero());
  }

  float x[kRows][Shape::kAccesses][Shape::kVector];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
#pragma unroll
    for (int a = 0; a < Shape::kAccesses; ++a) tile::unpack(x[r][a], packs[r][a]);
  }
  tile::RowMoments moments[kRows];
  tile::row_moments<Config::kCentred, Shape, Element>(moments, x, team, exchange, p.eps);
  if constexpr (!Config::kWeightsFirst && !Config::kPersistent) affine.load_columns(weight, bias, team);

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
    tile::store_row<kOutput, Shape>(to + rows.group(row) * Shape::kDim, packs[r], team, rows.has(row));
  }
}

// One row by the whole block, read from memory three times.
template <class Config, class Shape>
HSTU_PRIM void long_row(const LayerNormParams& p, i64 block, const tile::RowTeam<Shape>& team,
                        tile::RowPartial* exchange) {
  using Element = typename Config::Element;
  using Weight = typename Config::Weight;
  const tile::RowBlock<Shape> rows(block, p.rows);
  const int first = rows.group(0) * Shape::kDim;
  const Element* from = static_cast<const Element*>(p.x) + rows.matrix_row(0) * p.x_row_stride + first;
  Element* to = static_cast<Element*>(p.y) + rows.matrix_row(0) * p.y_row_stride + first;
  const tile::RowMoments moments = tile::long_row_moments<Config::kCentred, Shape>(from, team, exchange, p.eps);
#pragma unroll 4
  for (int a = 0; a < Shape::kAccesses; ++a) {
    if (!team.holds(a)) continue;
    tile::RowPack<Element, Shape::kVector> pack;
    float x[Shape::kVector], y[Shape::kVector];
    tile::load<tile::Reuse::kOnce>(pack, from + team.column(a));
    tile::unpack(x, pack);
    tile::normalise_long<Config, Shape>(y, x, moments, static_cast<const Weight*>(p.weight),
                                        static_cast<const Weight*>(p.bias), team.column(a), rows.group(0));
#pragma unroll
    for (int v = 0; v < Shape::kVector; ++v) y[v] = Config::Output::template apply<Element>(x[v], y[v]);
    tile::pack(pack, y);
    tile::store<tile::Reuse::kMany>(to + team.column(a), pack);
  }
}

}  // namespace layer_norm

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    layer_norm_sm80(const __grid_constant__ LayerNormParams p) {
  using Shape = tile::RowShape<Config>;
  using Weight = typename Config::Weight;
  extern __shared__ __align__(1024) unsigned char smem[];
  tile::RowPartial* exchange = reinterpret_cast<tile::RowPartial*>(smem);
  const tile::RowTeam<Shape> team;

  tile::RowAffine<Config, Shape> affine;
  if constexpr (Config::kPersistent && !Shape::kLooped)
    affine.load_columns(static_cast<const Weight*>(p.weight), static_cast<const Weight*>(p.bias), team);

  i64 block = blockIdx.x;
  do {
    if constexpr (Shape::kLooped)
      layer_norm::long_row<Config>(p, block, team, exchange);
    else
      layer_norm::held_rows<Config>(p, block, team, affine, exchange);
    exchange = reinterpret_cast<tile::RowPartial*>(smem) + (exchange == reinterpret_cast<tile::RowPartial*>(smem) ? tile::kRowExchange<Shape> : 0);
  } while (Config::kPersistent && (block += gridDim.x) < tile::row_blocks<Shape>(p.rows));
}

}  // namespace hstu
