// The HSTU output stage before its projection, sm80: out = [u' | attn | act(u) * norm(attn)], the first two segments
// by Config. Bound by memory: attn and u are read once, every segment is written once.
//
//   attn row ──► registers ──► mean, rstd ──► norm * weight + bias ──┐
//      └──────────────────────────────────────► segment attn         ├─► product ──► last segment
//   u row ─────► registers ──► Multiplier ───────────────────────────┘
//                    └───────► Copy ──────────► segment u'           each segment through dropout, if there is any
//
// What runs, and the function or the file behind each line, of this file unless norm/rows/ is named:
//   each team, once, for its kRowsPerThread rows or groups   held_rows()
//     load attn and u; start loads of weight and bias        norm/rows/row_norm.cuh, norm/rows/row_affine.cuh
//     random bits, while loads are under way                 Drawn: drawn(), norm/rows/drop.cuh, norm/rows/philox.cuh
//     segment attn as it came, without dropout               segment()
//     mean, rstd                                             norm/rows/row_norm.cuh: row_moments()
//     normalise, weight and bias                             norm/rows/row_affine.cuh: finish(), apply()
//     act(u) * norm, u', dropout; store all segments         store_access(): copied(), product(), drop()
//     or, to FP8: hold all segments; amax of their units     hold_access(), norm/rows/row_quantiser.cuh
//       scale, round, store                                  store_quantised()
//   rows too long for registers: a block reads attn thrice   long_row()
//
// FP8       all segments of a row are held until the amax of a unit is known (norm/rows/row_quantiser.cuh).
//           A team has the whole unit: a row that is not cut into groups, or 128 columns of a segment of whole 128.
// Work      as in layer_norm_sm80.cuh: a team of threads per row, or per group of a row under group norm; segment s of
//           a row starts at column s * kGroups * kDim of out.
// Config    facts: Element, Weight; kDim (of the row, or of one of its kGroups parts), kVector (elements of an aligned
//           access to attn, u, out, weight and bias), kHasWeight, kHasBias; kGroupNorm (weight and bias have one value
//           per group; otherwise kGroups is 1); kCentred false for RMS norm; Output (norm/rows/norm_output.cuh);
//           kConcatU, kConcatX (which segments there are besides the product); Copy (u to u': Identity or Silu),
//           Multiplier (u to the factor: Identity, Silu or Sigmoid); kDropout (which random bits belong to which
//           element, or none); Fp8 and kScaling of an out in FP8. The host makes these of the operator's flags.
//           knobs: those of layer_norm_sm80.cuh.
// Sources   meta-recsys/generative-recommenders, HSTU output stage; Zhai et al. 2024, arXiv:2402.17152.
#pragma once
#include "norm/norm_mul.h"
#include "norm/rows/drop.cuh"
#include "norm/rows/norm_output.cuh"
#include "norm/rows/row_affine.cuh"
#include "norm/rows/row_quantiser.cuh"

namespace hstu {

namespace norm_mul {

template <class A, class B>
constexpr bool kSame = false;
template <class A>
constexpr bool kSame<A, A> = true;

template <class Config>
struct Segments {
  enum : int { kAttn = Config::kConcatU ? 1 : 0, kProduct = kAttn + (Config::kConcatX ? 1 : 0) };
  enum : int { kCount = kProduct + 1 };
  enum : int { kColumns = Config::kGroups * Config::kDim };  // of one segment
  enum : bool { kQuantised = Config::kScaling != tile::kPerTensor };
  enum : int { kWidth = kCount * Config::kVector };  // results of one access, all segments
};

template <class Config, class Shape>
using Amax = tile::RowAmax<Config, Shape, Segments<Config>::kCount, Segments<Config>::kWidth>;

// Dropout streams: which counter, and which of its four words, decides over column c of segment s of row r. D columns
// make a segment, P is the power of two that holds them, S is the number of segments.
enum : int { kNoDropout = 0 };
enum : int { kDropoutCompat = 1 };  // counter 3 P r + D s + c (group norm: D S r + D s + c), word 0
enum : int { kDropoutFast = 2 };    // counter 3 P r + c, word s
enum : int { kDropoutMasks = 3 };   // counter (r / 4) S P + (S - 1 - s) P + c, word r mod 4
enum : int { kDropoutRows = 4 };    // counter P r + D s + c, word 0

template <class Config>
struct Stream {
  enum : i64 { kColumns = Segments<Config>::kColumns, kCount = Segments<Config>::kCount };
  static HSTU_PRIM constexpr i64 power_of_two() {
    i64 power = 1;
    while (power < kColumns) power *= 2;
    return power;
  }
  enum : i64 { kPower = power_of_two() };
  enum : i64 {
    kRow = Config::kDropout == kDropoutRows                           ? kPower
           : Config::kDropout == kDropoutMasks                        ? kCount * kPower
           : Config::kDropout == kDropoutCompat && Config::kGroupNorm ? kCount * kColumns
                                                                      : 3 * kPower
  };
};

// Which elements of one access of every segment drop out, a bit each: element v of segment s is bit s * kVector + v.
template <class Config>
HSTU_PRIM u32 drawn(const DropoutRate& rate, i64 row, int column) {
  constexpr int kCount = Segments<Config>::kCount, kVector = Config::kVector;
  constexpr bool kFast = Config::kDropout == kDropoutFast, kMasks = Config::kDropout == kDropoutMasks;
  const i64 counter = (kMasks ? row / 4 : row) * Stream<Config>::kRow + column;
  u32 bits = 0;
  if constexpr (kFast) {
    u32 mask[kCount];
    tile::draw<kCount, kVector>(mask, static_cast<u64>(counter), rate);
#pragma unroll
    for (int s = 0; s < kCount; ++s) bits |= mask[s] << s * kVector;
  } else {
#pragma unroll 1
    for (int s = 0; s < kCount; ++s) {
      const i64 segment = kMasks ? (kCount - 1 - s) * Stream<Config>::kPower : s * Stream<Config>::kColumns;
      u32 mask[kMasks ? 4 : 1];
      tile::draw<kMasks ? 4 : 1, kVector>(mask, static_cast<u64>(counter + segment), rate);
      if constexpr (kMasks) {
        const u32 even = row & 2 ? mask[2] : mask[0], odd = row & 2 ? mask[3] : mask[1];
        mask[0] = row & 1 ? odd : even;
      }
      bits |= mask[0] << s * kVector;
    }
  }
  return bits;
}

// The same for all accesses of the rows that a thread holds.
template <class Config, class Shape>
class Drawn {
  enum : bool { kDrops = Config::kDropout != kNoDropout };
  enum : int { kEach = Segments<Config>::kCount * Config::kVector };  // bits of an access
  enum : int { kCount = Shape::kRowsPerThread * Shape::kAccesses };
  static_assert(!kDrops || Shape::kLooped || kEach * kCount <= 64, "the bits of all accesses fit into one number");
  u64 bits_ = 0;

 public:
  HSTU_PRIM Drawn(const DropoutRate& rate, const tile::RowTeam<Shape>& team, const tile::RowBlock<Shape>& rows) {
    if constexpr (kDrops) {
#pragma unroll 1
      for (int i = 0; i < kCount; ++i) {
        const int row = team.row + i / Shape::kAccesses * Shape::kRowsAtOnce;
        const int column = rows.group(row) * Shape::kDim + team.column(i % Shape::kAccesses);
        bits_ |= static_cast<u64>(drawn<Config>(rate, rows.matrix_row(row), column)) << i * kEach;
      }
    }
  }
  HSTU_PRIM u32 of(int r, int a) const {
    return kDrops ? static_cast<u32>(bits_ >> (r * Shape::kAccesses + a) * kEach) : 0;
  }
};

// Start of group `group` of segment `segment` of a row of out.
template <class Config>
HSTU_PRIM typename Config::Element* segment(const NormMulParams& p, i64 row, int group, int segment) {
  return static_cast<typename Config::Element*>(p.out) + row * p.out_row_stride + segment * Segments<Config>::kColumns +
         group * Config::kDim;
}

template <class Config>
using Pack = tile::RowPack<typename Config::Element, Config::kVector>;

// Segment s of one access through dropout.
template <class Config>
HSTU_PRIM void drop(float (&value)[Config::kVector], u32 mask, int s, const DropoutRate& rate) {
  if constexpr (Config::kDropout != kNoDropout) tile::drop(value, mask >> s * Config::kVector, rate);
}

// u', from u as stored.
template <class Config>
HSTU_PRIM void copied(float (&value)[Config::kVector], const Pack<Config>& u, u32 mask, const DropoutRate& rate) {
  tile::unpack(value, u);
#pragma unroll
  for (float& v : value) v = Config::Copy::template apply<typename Config::Element>(v);
  drop<Config>(value, mask, 0, rate);
}

// The product, from attn (its value and its normalised one) and u as stored.
template <class Config>
HSTU_PRIM void product(float (&value)[Config::kVector], const float (&x)[Config::kVector],
                       const float (&norm)[Config::kVector], const Pack<Config>& u, u32 mask, const DropoutRate& rate) {
  using Element = typename Config::Element;
  tile::unpack(value, u);
#pragma unroll
  for (int v = 0; v < Config::kVector; ++v)
    value[v] =
        Config::Output::template apply<Element>(x[v], norm[v]) * Config::Multiplier::template apply<Element>(value[v]);
  drop<Config>(value, mask, Segments<Config>::kProduct, rate);
}

template <class Config>
HSTU_PRIM Pack<Config> rounded(const float (&value)[Config::kVector]) {
  Pack<Config> out;
  tile::pack(out, value);
  return out;
}

// Writes one access of all segments; of attn only if kAttnToo, since without dropout it may have been written before.
template <class Config, bool kAttnToo>
HSTU_PRIM void store_access(const NormMulParams& p, i64 row, int group, int column, float (&x)[Config::kVector],
                            const float (&norm)[Config::kVector], const Pack<Config>& u, u32 mask) {
  using S = Segments<Config>;
  constexpr bool kAsStored = kSame<typename Config::Copy, tile::Identity> && Config::kDropout == kNoDropout;
  float value[Config::kVector];
  if constexpr (Config::kConcatU && kAsStored) {
    tile::store(segment<Config>(p, row, group, 0) + column, u);
  } else if constexpr (Config::kConcatU) {
    copied<Config>(value, u, mask, p.dropout);
    tile::store(segment<Config>(p, row, group, 0) + column, rounded<Config>(value));
  }
  product<Config>(value, x, norm, u, mask, p.dropout);
  tile::store(segment<Config>(p, row, group, S::kProduct) + column, rounded<Config>(value));
  if constexpr (Config::kConcatX && kAttnToo) {
    drop<Config>(x, mask, S::kAttn, p.dropout);
    tile::store(segment<Config>(p, row, group, S::kAttn) + column, rounded<Config>(x));
  }
}

// One access of all segments side by side, as results in FP8 are held.
template <class Config>
HSTU_PRIM void hold_access(float (&results)[Segments<Config>::kWidth], float (&x)[Config::kVector],
                           const float (&norm)[Config::kVector], const Pack<Config>& u, u32 mask,
                           const DropoutRate& rate) {
  using S = Segments<Config>;
  constexpr int kVector = Config::kVector;
  float copy[kVector], gated[kVector];
  if constexpr (Config::kConcatU) copied<Config>(copy, u, mask, rate);
  product<Config>(gated, x, norm, u, mask, rate);
  if constexpr (Config::kConcatX) drop<Config>(x, mask, S::kAttn, rate);
#pragma unroll
  for (int v = 0; v < kVector; ++v) {
    if constexpr (Config::kConcatU) results[v] = copy[v];
    if constexpr (Config::kConcatX) results[S::kAttn * kVector + v] = x[v];
    results[S::kProduct * kVector + v] = gated[v];
  }
}

// Writes one row in FP8, and its scales.
template <class Config, class Shape>
HSTU_PRIM void store_quantised(const NormMulParams& p, i64 row, int group, const Amax<Config, Shape>& amax,
                               const float (&results)[Shape::kAccesses][Segments<Config>::kWidth], int r,
                               const tile::RowTeam<Shape>& team) {
  using Fp8 = typename Config::Fp8;
  using Units = Amax<Config, Shape>;
  constexpr int kVector = Shape::kVector;
  Fp8* const to = static_cast<Fp8*>(p.out) + row * p.out_row_stride;
  float* const descale = p.descale + row * p.descale_row_stride;
  float multiplier[Units::kUnits];
  amax.template multipliers<Fp8>(multiplier, r);
#pragma unroll
  for (int s = 0; s < Segments<Config>::kCount; ++s) {
    const int first = s * Segments<Config>::kColumns + group * Shape::kDim;
#pragma unroll
    for (int a = 0; a < Shape::kAccesses; ++a) {
      if (!team.holds(a)) continue;
      float value[kVector];
#pragma unroll
      for (int v = 0; v < kVector; ++v) value[v] = results[a][s * kVector + v];
      const int column = first + team.column(a);
      tile::RowPack<Fp8, kVector> q;
      tile::pack_fp8(q, value, multiplier[Units::unit(a, s)]);
      tile::store(to + column, q);
      if ((Units::kGrouped || s == 0) && Units::writes(team, a))
        descale[Units::kGrouped ? column / tile::kScaleSpan * p.descale_column_stride : 0] =
            tile::UnitScale<Fp8>(amax.of(r, a, s)).descale();
    }
  }
}

// The rows of one block, held in registers.
template <class Config, class Shape>
HSTU_PRIM void held_rows(const NormMulParams& p, const tile::RowTeam<Shape>& team, const tile::RowBlock<Shape>& rows,
                         tile::RowAffine<Config, Shape>& affine, tile::RowPartial* exchange,
                         const unsigned char* amax_smem) {
  using Element = typename Config::Element;
  constexpr int kRows = Shape::kRowsPerThread;
  constexpr bool kQuantised = Segments<Config>::kQuantised;
  tile::RowPacks<Shape, Element> attn[kRows], u[kRows];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const int row = team.row + r * Shape::kRowsAtOnce, column = rows.group(row) * Shape::kDim;
    const Element* attn_row = static_cast<const Element*>(p.attn) + rows.matrix_row(row) * p.attn_row_stride + column;
    const Element* u_row = static_cast<const Element*>(p.u) + rows.matrix_row(row) * p.u_row_stride + column;
    tile::load_row<Shape>(attn[r], attn_row, team);
    tile::load_row<Shape>(u[r], u_row, team);
  }
  affine.start_loads(attn[0], team, rows);
  const Drawn<Config, Shape> drawn(p.dropout, team, rows);
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
    // As it came, ahead of the statistics.
    if constexpr (Config::kConcatX && Config::kDropout == kNoDropout && !kQuantised)
      if (rows.has(row))
        tile::store_row<Shape>(segment<Config>(p, rows.matrix_row(row), rows.group(row), Segments<Config>::kAttn),
                               attn[r], team);
#pragma unroll
    for (int a = 0; a < Shape::kAccesses; ++a) tile::unpack(x[r][a], attn[r][a]);
  }
  tile::RowMoments moments[kRows];
  tile::row_moments<Config::kCentred, Shape, Element>(moments, x, team, exchange, p.eps);
  affine.finish(team, moments[0]);

  [[maybe_unused]] float results[kQuantised ? kRows : 1][Shape::kAccesses][Segments<Config>::kWidth];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const int row = team.row + r * Shape::kRowsAtOnce, group = rows.group(row);
    if (!kQuantised && !rows.has(row)) continue;
#pragma unroll
    for (int a = 0; a < Shape::kAccesses; ++a) {
      if (!kQuantised && !team.holds(a)) continue;
      float norm[Shape::kVector];
      affine.apply(norm, x[r][a], moments[r], r, a);
      if constexpr (kQuantised)
        hold_access<Config>(results[r][a], x[r][a], norm, u[r][a], drawn.of(r, a), p.dropout);
      else
        store_access<Config, Config::kDropout != kNoDropout>(p, rows.matrix_row(row), group, team.column(a), x[r][a],
                                                             norm, u[r][a], drawn.of(r, a));
    }
  }
  if constexpr (kQuantised) {
    const Amax<Config, Shape> amax(results, team, prim::smem_addr(amax_smem));
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const int row = team.row + r * Shape::kRowsAtOnce;
      if (rows.has(row))
        store_quantised<Config, Shape>(p, rows.matrix_row(row), rows.group(row), amax, results[r], r, team);
    }
  }
}

// One row by the whole block, attn read from memory three times.
template <class Config, class Shape>
HSTU_PRIM void long_row(const NormMulParams& p, const tile::RowTeam<Shape>& team, const tile::RowBlock<Shape>& rows,
                        const tile::RowAffine<Config, Shape>& affine, tile::RowPartial* exchange) {
  using Element = typename Config::Element;
  const i64 row = rows.matrix_row(0);
  const int group = rows.group(0);
  const Element* attn_row = static_cast<const Element*>(p.attn) + row * p.attn_row_stride + group * Shape::kDim;
  const Element* u_row = static_cast<const Element*>(p.u) + row * p.u_row_stride + group * Shape::kDim;
  const tile::RowMoments moments = tile::long_row_moments<Config::kCentred, Shape>(attn_row, team, exchange, p.eps);
#pragma unroll 2
  for (int a = 0; a < Shape::kAccesses; ++a) {
    if (!team.holds(a)) continue;
    const int column = team.column(a);
    Pack<Config> attn, u;
    float x[Shape::kVector], norm[Shape::kVector];
    tile::load(attn, attn_row + column);
    tile::load(u, u_row + column);
    tile::unpack(x, attn);
    affine.apply_long(norm, x, moments, column, group);
    u32 mask = 0;
    if constexpr (Config::kDropout != kNoDropout) mask = drawn<Config>(p.dropout, row, group * Shape::kDim + column);
    store_access<Config, true>(p, row, group, column, x, norm, u, mask);
  }
}

}  // namespace norm_mul

template <class Config>
constexpr int norm_mul_smem_bytes =
    tile::RowShape<Config>::kExchangeBytes + tile::RowAffine<Config, tile::RowShape<Config>>::kSmemBytes +
    norm_mul::Amax<Config, tile::RowShape<Config>>::kSmemBytes;

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
    norm_mul::held_rows<Config>(p, team, rows, affine, exchange,
                                smem + Shape::kExchangeBytes + tile::RowAffine<Config, Shape>::kSmemBytes);
}

}  // namespace hstu
