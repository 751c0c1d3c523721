// The HSTU output stage before its projection, sm80: out = [u' | attn | act(u) * norm(attn)], the first two segments
// by Config. Bound by memory: attn and u are read once, every segment is written once.
//
//   attn row ──► registers ──► mean, rstd ──► norm * weight + bias ──┐
//      └──────────────────────────────────────► segment attn         ├─► product ──► last segment
//   u row ─────► registers ──► Multiplier ───────────────────────────┘
//                    └───────► Copy ──────────► segment u'
//
// Work      as in layer_norm_sm80.cuh: a team of threads per row, or per group of a row under group norm; segment s of
//           a row starts at column s * kGroups * kDim of out.
// Config    facts: Element, Weight; kDim (of the row, or of one of its kGroups parts), kVector (elements of an aligned
//           access to attn, u, out, weight and bias), kHasWeight, kHasBias; kGroupNorm (weight and bias have one value
//           per group; otherwise kGroups is 1); kConcatU, kConcatX (which segments there are besides the product); Copy
//           (u to u': Identity or Silu), Multiplier (u to the factor: Identity, Silu or Sigmoid). The host turns the
//           operator's flags into these.
//           knobs: those of layer_norm_sm80.cuh.
// Sources   meta-recsys/generative-recommenders, HSTU output stage; Zhai et al. 2024, arXiv:2402.17152.
#pragma once
#include "params/norm_mul.h"
#include "tile/row_affine.cuh"
#include "tile/sigmoid.cuh"

namespace hstu {

template <class Config>
constexpr int norm_mul_smem_bytes =
    tile::RowShape<Config>::kExchangeBytes + tile::RowAffine<Config, tile::RowShape<Config>>::kSmemBytes;

namespace norm_mul {

template <class A, class B>
constexpr bool kSame = false;
template <class A>
constexpr bool kSame<A, A> = true;

template <class Config>
struct Segments {
  static constexpr int kAttn = Config::kConcatU ? 1 : 0, kProduct = kAttn + (Config::kConcatX ? 1 : 0);
  static constexpr int kColumns = Config::kGroups * Config::kDim;  // of one segment
};

// Start of group `group` of segment `segment` of a row of out.
template <class Config>
HSTU_PRIM typename Config::Element* segment(const NormMulParams& p, i64 row, int group, int segment) {
  return static_cast<typename Config::Element*>(p.out) + row * p.out_row_stride + segment * Segments<Config>::kColumns +
         group * Config::kDim;
}

// u', as stored.
template <class Config, class Pack>
HSTU_PRIM Pack copied(const Pack& u) {
  if constexpr (kSame<typename Config::Copy, tile::Identity>) return u;
  float value[Config::kVector];
  tile::unpack(value, u);
#pragma unroll
  for (float& v : value) v = Config::Copy::template apply<typename Config::Element>(v);
  Pack out;
  tile::pack(out, value);
  return out;
}

// The product segment's values, from normalised attn and u as stored.
template <class Config, class Pack>
HSTU_PRIM Pack product(const float (&norm)[Config::kVector], const Pack& u) {
  float value[Config::kVector];
  tile::unpack(value, u);
#pragma unroll
  for (int v = 0; v < Config::kVector; ++v)
    value[v] = norm[v] * Config::Multiplier::template apply<typename Config::Element>(value[v]);
  Pack out;
  tile::pack(out, value);
  return out;
}

// The rows of one block, held in registers.
template <class Config, class Shape>
HSTU_PRIM void held_rows(const NormMulParams& p, const tile::RowTeam<Shape>& team, const tile::RowBlock<Shape>& rows,
                         tile::RowAffine<Config, Shape>& affine, tile::RowPartial* exchange) {
  using Element = typename Config::Element;
  constexpr int kRows = Shape::kRowsPerThread;
  tile::RowPacks<Shape, Element> attn[kRows], u[kRows];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const int row = team.row + r * Shape::kRowsAtOnce, column = rows.group(row) * Shape::kDim;
    const Element* attn_row = static_cast<const Element*>(p.attn) + rows.matrix_row(row) * p.attn_row_stride + column;
    const Element* u_row = static_cast<const Element*>(p.u) + rows.matrix_row(row) * p.u_row_stride + column;
    tile::load_row<Shape>(attn[r], attn_row, team);
    tile::load_row<Shape>(u[r], u_row, team);
  }
  affine.join(attn[0], team, rows);
  const u32 zero = prim::opaque_zero();
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
#pragma unroll
    for (int a = 0; a < Shape::kAccesses; ++a) tile::await_both(attn[r][a], u[r][a], zero);
  }

  float x[kRows][Shape::kAccesses][Shape::kVector];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const int row = team.row + r * Shape::kRowsAtOnce;
    if (Config::kConcatX && rows.has(row))
      tile::store_row<Shape>(segment<Config>(p, rows.matrix_row(row), rows.group(row), Segments<Config>::kAttn),
                             attn[r], team);
#pragma unroll
    for (int a = 0; a < Shape::kAccesses; ++a) tile::unpack(x[r][a], attn[r][a]);
  }
  tile::RowMoments moments[kRows];
  tile::row_moments<true, Shape, Element>(moments, x, team, exchange, p.eps);
  affine.finish(team, moments[0]);

#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const int row = team.row + r * Shape::kRowsAtOnce, group = rows.group(row);
    tile::RowPacks<Shape, Element> out;
    if constexpr (Config::kConcatU) {
#pragma unroll
      for (int a = 0; a < Shape::kAccesses; ++a) out[a] = copied<Config>(u[r][a]);
      if (rows.has(row)) tile::store_row<Shape>(segment<Config>(p, rows.matrix_row(row), group, 0), out, team);
    }
#pragma unroll
    for (int a = 0; a < Shape::kAccesses; ++a) {
      float norm[Shape::kVector];
      affine.apply(norm, x[r][a], moments[r], r, a);
      out[a] = product<Config>(norm, u[r][a]);
    }
    if (rows.has(row))
      tile::store_row<Shape>(segment<Config>(p, rows.matrix_row(row), group, Segments<Config>::kProduct), out, team);
  }
}

// One row by the whole block, attn read from memory three times.
template <class Config, class Shape>
HSTU_PRIM void long_row(const NormMulParams& p, const tile::RowTeam<Shape>& team, const tile::RowBlock<Shape>& rows,
                        const tile::RowAffine<Config, Shape>& affine, tile::RowPartial* exchange) {
  using Element = typename Config::Element;
  using Pack = tile::RowPack<Element, Shape::kVector>;
  const i64 row = rows.matrix_row(0);
  const int group = rows.group(0);
  const Element* attn_row = static_cast<const Element*>(p.attn) + row * p.attn_row_stride + group * Shape::kDim;
  const Element* u_row = static_cast<const Element*>(p.u) + row * p.u_row_stride + group * Shape::kDim;
  const tile::RowMoments moments = tile::long_row_moments<true, Shape>(attn_row, team, exchange, p.eps);
#pragma unroll 2
  for (int a = 0; a < Shape::kAccesses; ++a) {
    if (!team.holds(a)) continue;
    const int column = team.column(a);
    Pack attn, u;
    float x[Shape::kVector], norm[Shape::kVector];
    tile::load(attn, attn_row + column);
    tile::load(u, u_row + column);
    tile::unpack(x, attn);
    affine.apply_long(norm, x, moments, column, group);
    if constexpr (Config::kConcatU) tile::store(segment<Config>(p, row, group, 0) + column, copied<Config>(u));
    if constexpr (Config::kConcatX) tile::store(segment<Config>(p, row, group, Segments<Config>::kAttn) + column, attn);
    tile::store(segment<Config>(p, row, group, Segments<Config>::kProduct) + column, product<Config>(norm, u));
  }
}

}  // namespace norm_mul

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    norm_mul_sm80(const __grid_constant__ NormMulParams p) {
  using Shape = tile::RowShape<Config>;
  extern __shared__ __align__(1024) unsigned char smem[];
  tile::RowPartial* exchange = reinterpret_cast<tile::RowPartial*>(smem);
  const tile::RowTeam<Shape> team;
  const tile::RowBlock<Shape> rows(blockIdx.x, p.rows);
  tile::RowAffine<Config, Shape> affine(p.weight, p.bias, smem + Shape::kExchangeBytes);
  if constexpr (Shape::kLooped)
    norm_mul::long_row<Config>(p, team, rows, affine, exchange);
  else
    norm_mul::held_rows<Config>(p, team, rows, affine, exchange);
}

}  // namespace hstu
