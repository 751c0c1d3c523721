// RMS norm of whole rows, then rotary position embedding of their heads, sm80: with n = x / sqrt(mean(x^2) + eps) *
// weight and d in the first half of a head, (y[d], y[d + half]) is (n[d], n[d + half]) turned by the row's angle d.
// Bound by memory: each element is read once, held in registers, and written once.
//
//   x row ──► registers, both halves of a head's column in one thread ──► rstd ──► scale, turn ──► y row
//
// Work      a team of kThreadsPerRow threads per row (tile/row_norm.cuh). A thread holds pairs of accesses: kPairVector
//           neighbours of the first half of a head and their partners half a head on, so turning needs no exchange.
//           Rows too long for registers are taken by a whole block and read twice.
// Angles    a row's cosines and sines serve all its heads; where a team's step is a multiple of half a head, a thread
//           needs the same ones for all its accesses and loads them once.
// Memory    x and y may be the same buffer: a team has read a row before it writes it.
// FP8       rows are held turned, but not yet divided by their root mean square, which is linear: the sum of squares
// and
//           the greatest value of a unit (tile/row_quantiser.cuh) then take one exchange and one barrier, behind which
//           an element is multiplied once and rounded once. Of 128 columns under one scale a pair lies in one unit,
//           where heads divide 128, or each half in one of its own, where 128 divides half a head.
// Limits    To FP8, blocks that wait, for their row and then for their slowest warp: 8 x 8192 x 4096 bf16, heads of 64,
//           on an H200 whose copies run at 4166 GB/s, 128 threads a row: 8 blocks of an SM, at 64 registers, 3875; 7
//           3770, 6 3650; and with two exchanges one after the other, at 80 registers, 2750.
// Config    facts: Element, Weight, Angle; kDim (of a row), kHalf (of a head), kPairVector (elements of an aligned
//           access to all tensors; divides kHalf), kVector (2 kPairVector: a pair of accesses counts as one), kGroups
//           1; Fp8 and kScaling of a y in FP8.
//           knobs: kThreads, kThreadsPerRow, kRowsPerThread; kPacked (rows stay as stored until they are turned, for
//           16-bit elements: fewer threads hold a row, each with more loads in flight); kMinBlocks.
// Sources   Su et al. 2021, arXiv:2104.09864, in the form that turns halves (GPT-NeoX); Zhang, Sennrich 2019.
#pragma once
#include "params/rms_norm_rope.h"
#include "tile/row_norm.cuh"
#include "tile/row_quantiser.cuh"

namespace hstu {

namespace rope {

// As stored a thread holds twice as many values.
template <class Config>
using Shape = tile::RowShape<Config, Config::kPacked ? 2 * tile::kMaxValuesPerRow : tile::kMaxValuesPerRow>;

// Where access `access` of a thread begins in a row, and its angles; the partner lies kHalf further on.
template <class Config, class Shape>
struct Columns {
  enum : int { kPerHalf = Config::kHalf / Config::kPairVector };  // accesses to half a head
  enum : bool { kSameAngles = Shape::kThreadsPerRow % kPerHalf == 0 || Shape::kAccesses == 1 };
  int head, angle;

  HSTU_PRIM Columns(const tile::RowTeam<Shape>& team, int access) {
    const int at = access * Shape::kThreadsPerRow + team.lane;
    head = at / kPerHalf * 2 * Config::kHalf;
    angle = at % kPerHalf * Config::kPairVector;
  }
  HSTU_PRIM int first() const { return head + angle; }
};

template <class Config, bool kQuantised = Config::kScaling != tile::kPerTensor>
struct ResultOf {
  using Type = typename Config::Element;
};
template <class Config>
struct ResultOf<Config, true> {
  using Type = typename Config::Fp8;
};

template <class Config>
struct Row {
  using Result = typename ResultOf<Config>::Type;
  const typename Config::Element* x;
  Result* y;
  const typename Config::Angle* cosine;
  const typename Config::Angle* sine;

  HSTU_PRIM Row(const RmsNormRopeParams& p, i64 row) {
    const i64 batch = static_cast<i64>(static_cast<u64>(row) / static_cast<u64>(p.length)), at = row - batch * p.length;
    x = static_cast<const typename Config::Element*>(p.x) + batch * p.x_batch_stride + at * p.x_row_stride;
    y = static_cast<Result*>(p.y) + batch * p.y_batch_stride + at * p.y_row_stride;
    cosine = static_cast<const typename Config::Angle*>(p.cosine) + at * p.cosine_row_stride;
    sine = static_cast<const typename Config::Angle*>(p.sine) + at * p.sine_row_stride;
  }
};

template <class Element, int kPair>
struct Pair {
  tile::RowPack<Element, kPair> first, second;

  HSTU_PRIM void load(const Element* from, int half) {
    tile::load(first, from);
    tile::load(second, from + half);
  }
  HSTU_PRIM void clear() {
    tile::clear(first);
    tile::clear(second);
  }
};

template <class Angle, int kPair>
struct Angles {
  tile::RowPack<Angle, kPair> cosine, sine;

  HSTU_PRIM void clear() {
    tile::clear(cosine);
    tile::clear(sine);
  }
};

// Both accesses of a pair as floats: the first half's, then the second's.
template <class Element, int kPair>
HSTU_PRIM void unpack(float (&x)[2 * kPair], const Pair<Element, kPair>& pair) {
  float first[kPair], second[kPair];
  tile::unpack(first, pair.first);
  tile::unpack(second, pair.second);
#pragma unroll
  for (int v = 0; v < kPair; ++v) {
    x[v] = first[v];
    x[kPair + v] = second[v];
  }
}

// Unpacks rows a second time, so that they need no registers as floats in between.
template <class Shape, class Element, int kRows, int kPair>
HSTU_PRIM void unpack_anew(float (&x)[kRows][Shape::kAccesses][2 * kPair],
                           Pair<Element, kPair> (&packs)[kRows][Shape::kAccesses]) {
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
#pragma unroll
    for (int a = 0; a < Shape::kAccesses; ++a) {
#pragma unroll
      for (u32& word : packs[r][a].first.word) word = prim::settled(word);
#pragma unroll
      for (u32& word : packs[r][a].second.word) word = prim::settled(word);
      unpack(x[r][a], packs[r][a]);
    }
  }
}

// Scales by rstd and weight, and turns by the angles.
template <class Config>
HSTU_PRIM void turn(float (&first)[Config::kPairVector], float (&second)[Config::kPairVector],
                    const float (&x)[2 * Config::kPairVector], float rstd,
                    const Pair<typename Config::Weight, Config::kPairVector>& weight,
                    const Angles<typename Config::Angle, Config::kPairVector>& angles) {
  constexpr int kPair = Config::kPairVector;
  float w[2 * kPair], cosine[kPair], sine[kPair];
  unpack(w, weight);
  tile::unpack(cosine, angles.cosine);
  tile::unpack(sine, angles.sine);
#pragma unroll
  for (int v = 0; v < kPair; ++v) {
    const float a = x[v] * rstd * w[v], b = x[kPair + v] * rstd * w[kPair + v];
    first[v] = __fmaf_rn(a, cosine[v], -(b * sine[v]));
    second[v] = __fmaf_rn(b, cosine[v], a * sine[v]);
  }
}

// The same, rounded.
template <class Config>
HSTU_PRIM Pair<typename Config::Element, Config::kPairVector> turned(
    const float (&x)[2 * Config::kPairVector], float rstd,
    const Pair<typename Config::Weight, Config::kPairVector>& weight,
    const Angles<typename Config::Angle, Config::kPairVector>& angles) {
  constexpr int kPair = Config::kPairVector;
  float first[kPair], second[kPair];
  turn<Config>(first, second, x, rstd, weight, angles);
  Pair<typename Config::Element, kPair> out;
  tile::pack(out.first, first);
  tile::pack(out.second, second);
  return out;
}

// Of a row's units of scaling: 128 columns hold both halves of a pair, or one.
template <class Config, class Shape>
using Greatest = tile::RowGreatest<Config, Shape, Config::kHalf % tile::kScaleSpan == 0 ? 2 : 1>;

// Scales by weight, and turns by the angles.
template <class Config>
HSTU_PRIM void turn_unscaled(float (&y)[2 * Config::kPairVector], const float (&x)[2 * Config::kPairVector],
                             const Pair<typename Config::Weight, Config::kPairVector>& weight,
                             const Angles<typename Config::Angle, Config::kPairVector>& angles) {
  constexpr int kPair = Config::kPairVector;
  float w[2 * kPair], cosine[kPair], sine[kPair];
  unpack(w, weight);
  tile::unpack(cosine, angles.cosine);
  tile::unpack(sine, angles.sine);
#pragma unroll
  for (int v = 0; v < kPair; ++v) {
    const float a = x[v] * w[v], b = x[kPair + v] * w[kPair + v];
    y[v] = __fmaf_rn(a, cosine[v], -(b * sine[v]));
    y[kPair + v] = __fmaf_rn(b, cosine[v], a * sine[v]);
  }
}

// Brings together what the warps of a team know of their rows: sums of squares, and where a row has one scale its
// greatest magnitude, which takes the place of a pivot.
template <class Config, class Shape>
HSTU_PRIM void join(float (&rstd)[Shape::kRowsPerThread], Greatest<Config, Shape>& greatest,
                    float (&squares)[Shape::kRowsPerThread], tile::RowPartial* exchange, float eps) {
  constexpr int kRows = Shape::kRowsPerThread, kWarps = Shape::kWarps;
  prim::lane_sums<Shape::kLanes>(squares);
  if constexpr (kWarps > 1) {
    const u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (lane == 0) {
#pragma unroll
      for (int r = 0; r < kRows; ++r)
        exchange[r * Shape::kBlockWarps + warp] = {__uint_as_float(greatest.bits[r][0]), 0.0f, squares[r]};
    }
    __syncthreads();
    const u32 from = warp / kWarps * kWarps + lane % kWarps;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const tile::RowPartial part = exchange[r * Shape::kBlockWarps + from];
      squares[r] = part.squares;
      if constexpr (!Greatest<Config, Shape>::kGrouped)
        greatest.bits[r][0] = prim::lane_max<32>(__float_as_uint(part.pivot));
    }
    prim::lane_sums<kWarps>(squares);
  }
#pragma unroll
  for (int r = 0; r < kRows; ++r) rstd[r] = prim::rsqrt_approx(__fmaf_rn(squares[r], 1.0f / Shape::kDim, eps));
}

// The rows of one block to FP8.
template <class Config, class Shape>
HSTU_PRIM void quantised_rows(const RmsNormRopeParams& p, const tile::RowTeam<Shape>& team,
                              const tile::RowBlock<Shape>& rows, tile::RowPartial* exchange) {
  using Fp8 = typename Config::Fp8;
  using Element = typename Config::Element;
  using Weight = typename Config::Weight;
  using Angle = typename Config::Angle;
  using At = Columns<Config, Shape>;
  using Units = Greatest<Config, Shape>;
  constexpr int kRows = Shape::kRowsPerThread, kPair = Config::kPairVector, kAccesses = Shape::kAccesses;
  constexpr bool kApart = Config::kHalf % tile::kScaleSpan == 0;
  static_assert(!Units::kGrouped || kApart || tile::kScaleSpan % (2 * Config::kHalf) == 0,
                "heads divide 128, or 128 divides their halves");
  Pair<Element, kPair> packs[kRows][kAccesses];
  Pair<Weight, kPair> weights[kAccesses];
  Angles<Angle, kPair> angles[kRows][At::kSameAngles ? 1 : kAccesses];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const Row<Config> row(p, rows.matrix_row(team.row + r * Shape::kRowsAtOnce));
#pragma unroll
    for (int a = 0; a < kAccesses; ++a) {
      if (team.holds(a))
        packs[r][a].load(row.x + At(team, a).first(), Config::kHalf);
      else
        packs[r][a].clear();
    }
#pragma unroll
    for (int a = 0; a < kAccesses; ++a) {
      if (At::kSameAngles ? a == 0 : team.holds(a)) {
        tile::load(angles[r][a].cosine, row.cosine + At(team, a).angle);
        tile::load(angles[r][a].sine, row.sine + At(team, a).angle);
      } else if (!At::kSameAngles) {
        angles[r][a].clear();
      }
    }
  }
#pragma unroll
  for (int a = 0; a < kAccesses; ++a) {
    weights[a].clear();
    if (team.holds(a)) weights[a].load(static_cast<const Weight*>(p.weight) + At(team, a).first(), Config::kHalf);
  }
  const u32 zero = prim::opaque_zero();  // one wait for all
#pragma unroll
  for (int a = 0; a < kAccesses; ++a) {
    tile::await_both(packs[0][a].first, weights[a].first, zero);
    tile::await_both(packs[0][a].first, weights[a].second, zero);
  }
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    tile::await_both(packs[r][0].first, angles[r][0].cosine, zero);
    tile::await_both(packs[r][0].first, angles[r][0].sine, zero);
  }

  float y[kRows][kAccesses][2 * kPair], squares[kRows] = {};
#pragma unroll
  for (int a = 0; a < kAccesses; ++a) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      float x[2 * kPair];
      unpack(x, packs[r][a]);
#pragma unroll
      for (int v = 0; v < 2 * kPair; ++v) squares[r] = __fmaf_rn(x[v], x[v], squares[r]);
      turn_unscaled<Config>(y[r][a], x, weights[a], angles[r][At::kSameAngles ? 0 : a]);
    }
  }
  Units greatest(typename Units::OfWarp{}, y, team);
  float rstd[kRows];
  join<Config, Shape>(rstd, greatest, squares, exchange, p.eps);

#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const int at = team.row + r * Shape::kRowsAtOnce;
    if (!rows.has(at)) continue;
    const i64 row = rows.matrix_row(at);
    Fp8* const to = Row<Config>(p, row).y;
    float* const descale = p.descale + row * p.descale_row_stride;
#pragma unroll
    for (int a = 0; a < kAccesses; ++a) {
      if (!team.holds(a)) continue;
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int column = At(team, a).first() + half * Config::kHalf;
        const float unit = __uint_as_float(greatest.of(r, a, kApart ? half : 0)) * rstd[r];
        const tile::UnitScale<Fp8> scale(__float_as_uint(unit));
        float value[kPair];
#pragma unroll
        for (int v = 0; v < kPair; ++v) value[v] = y[r][a][half * kPair + v];
        tile::RowPack<Fp8, kPair> q;
        tile::pack_fp8(q, value, rstd[r] * scale.multiplier());
        tile::store(to + column, q);
        if (Units::writes(team, a) && (half == 0 || (Units::kGrouped && kApart)))
          descale[Units::kGrouped ? column / tile::kScaleSpan * p.descale_column_stride : 0] = scale.descale();
      }
    }
  }
}

// The rows of one block, held in registers.
template <class Config, class Shape>
HSTU_PRIM void held_rows(const RmsNormRopeParams& p, const tile::RowTeam<Shape>& team,
                         const tile::RowBlock<Shape>& rows, tile::RowPartial* exchange) {
  using Element = typename Config::Element;
  using At = Columns<Config, Shape>;
  constexpr int kRows = Shape::kRowsPerThread, kPair = Config::kPairVector, kAccesses = Shape::kAccesses;
  Pair<Element, kPair> packs[kRows][kAccesses];
  Angles<typename Config::Angle, kPair> angles[kRows][At::kSameAngles ? 1 : kAccesses];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const Row<Config> row(p, rows.matrix_row(team.row + r * Shape::kRowsAtOnce));
#pragma unroll
    for (int a = 0; a < kAccesses; ++a) {
      if (team.holds(a))
        packs[r][a].load(row.x + At(team, a).first(), Config::kHalf);
      else
        packs[r][a].clear();
      if (At::kSameAngles ? a == 0 : team.holds(a)) {
        tile::load(angles[r][a].cosine, row.cosine + At(team, a).angle);
        tile::load(angles[r][a].sine, row.sine + At(team, a).angle);
      }
    }
  }

  float x[kRows][kAccesses][2 * kPair];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
#pragma unroll
    for (int a = 0; a < kAccesses; ++a) unpack(x[r][a], packs[r][a]);
  }
  tile::RowMoments moments[kRows];
  tile::row_moments<false, Shape, Element>(moments, x, team, exchange, p.eps);
  if constexpr (Config::kPacked) unpack_anew<Shape>(x, packs);

#pragma unroll
  for (int a = 0; a < kAccesses; ++a) {
    if (!team.holds(a)) continue;
    const int column = At(team, a).first();
    Pair<typename Config::Weight, kPair> weight;
    weight.load(static_cast<const typename Config::Weight*>(p.weight) + column, Config::kHalf);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const int row = team.row + r * Shape::kRowsAtOnce;
      if (!rows.has(row)) continue;
      const auto out = turned<Config>(x[r][a], moments[r].rstd, weight, angles[r][At::kSameAngles ? 0 : a]);
      Element* to = Row<Config>(p, rows.matrix_row(row)).y + column;
      tile::store(to, out.first);
      tile::store(to + Config::kHalf, out.second);
    }
  }
}

// One row by the whole block, read twice.
template <class Config, class Shape>
HSTU_PRIM void long_row(const RmsNormRopeParams& p, const tile::RowTeam<Shape>& team, const Row<Config>& row,
                        tile::RowPartial* exchange) {
  constexpr int kPair = Config::kPairVector;
  Pair<typename Config::Element, kPair> pack;
  float x[2 * kPair];
  tile::RowPartial mine[1] = {};
#pragma unroll 4
  for (int a = 0; a < Shape::kAccesses; ++a) {
    if (!team.holds(a)) continue;
    pack.load(row.x + Columns<Config, Shape>(team, a).first(), Config::kHalf);
    unpack(x, pack);
#pragma unroll
    for (int v = 0; v < 2 * kPair; ++v) mine[0].add(x[v]);
  }
  mine[0].rest = 0.0f;
  mine[0].squares = prim::lane_sum(mine[0].squares);
  tile::RowMoments moments[1];
  tile::join_warps<false, Shape>(moments, mine, exchange, static_cast<int>(threadIdx.x / 32), p.eps);
#pragma unroll 2
  for (int a = 0; a < Shape::kAccesses; ++a) {
    if (!team.holds(a)) continue;
    const Columns<Config, Shape> at(team, a);
    Pair<typename Config::Weight, kPair> weight;
    Angles<typename Config::Angle, kPair> angles;
    pack.load(row.x + at.first(), Config::kHalf);
    weight.load(static_cast<const typename Config::Weight*>(p.weight) + at.first(), Config::kHalf);
    tile::load(angles.cosine, row.cosine + at.angle);
    tile::load(angles.sine, row.sine + at.angle);
    unpack(x, pack);
    const auto out = turned<Config>(x, moments[0].rstd, weight, angles);
    tile::store(row.y + at.first(), out.first);
    tile::store(row.y + at.first() + Config::kHalf, out.second);
  }
}

}  // namespace rope

template <class Config>
constexpr int rms_norm_rope_smem_bytes = rope::Shape<Config>::kExchangeBytes;

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    rms_norm_rope_sm80(const __grid_constant__ RmsNormRopeParams p) {
  using Shape = rope::Shape<Config>;
  static_assert(Config::kVector == 2 * Config::kPairVector && Config::kHalf % Config::kPairVector == 0,
                "an access lies within half a head");
  extern __shared__ __align__(1024) unsigned char smem[];
  tile::RowPartial* exchange = reinterpret_cast<tile::RowPartial*>(smem);
  const tile::RowTeam<Shape> team;
  const tile::RowBlock<Shape> rows(blockIdx.x, p.rows);
  if constexpr (Shape::kLooped)
    rope::long_row<Config>(p, team, rope::Row<Config>(p, rows.matrix_row(0)), exchange);
  else if constexpr (rope::Greatest<Config, Shape>::kOn)
    rope::quantised_rows<Config>(p, team, rows, exchange);
  else
    rope::held_rows<Config>(p, team, rows, exchange);
}

}  // namespace hstu
