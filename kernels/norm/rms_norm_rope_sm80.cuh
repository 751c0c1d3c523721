// RMS norm of whole rows, then rotary position embedding of their heads, sm80: with n = x / sqrt(mean(x^2) + eps) *
// weight and d in the first half of a head, (y[d], y[d + half]) is (n[d], n[d + half]) rotated by the row's angle d.
// Bound by memory: each element is read once, held in registers, and written once.
//
//   x row ──► registers, both halves of a head's column in one thread ──► rstd ──► scale, rotate ──► y row
//
// What runs, and the function or the file behind each line, of this file unless norm/rows/ is named:
//   each team, once, for its kRowsPerThread rows           held_rows()
//     load the rows in pairs of accesses, and their angles Pair, Columns
//     1 / root mean square                                 norm/rows/row_norm.cuh: row_moments()
//     times weight, rotate, round, store                   rotated()
//   to FP8: each team, for one of its rows after the other quantised_rows()
//     start the next row's copies to shared memory         RowPrefetch, norm/rows/thread_prefetch.cuh
//     sum of squares; times weight, rotate                 rotate_unscaled()
//     join squares and amax over the team                  reduce()
//     scale, round, store                                  store_quantised(), norm/rows/row_quantiser.cuh
//   rows too long for registers: a block reads each twice  long_row()
//
// Work      a team of kThreadsPerRow threads per row (norm/rows/row_norm.cuh). A thread holds pairs of accesses:
//           kPairVector neighbours of the first half of a head and their partners half a head on, so rotating needs no
//           exchange. Rows too long for registers are taken by a whole block and read twice. To FP8, several rows a
//           thread are taken one after the other, the next in flight to shared memory (norm/rows/thread_prefetch.cuh).
// Angles    a row's cosines and sines serve all its heads; where a team's step is a multiple of half a head, a thread
//           needs the same ones for all its accesses and loads them once.
// Memory    x and y may be the same buffer: a team has read a row before it writes it.
// FP8       rows are held rotated, but not yet divided by their root mean square, which is linear: the sum of squares
//           and the amax of a unit (norm/rows/row_quantiser.cuh) then take one exchange and one barrier,
//           behind which an element is multiplied once and rounded once. Of 128 columns under one scale a pair lies in
//           one unit, where heads divide 128, or each half in one of its own, where 128 divides half a head.
// Limits    To FP8, blocks that wait, for their row and then for their slowest warp, and the instructions that find
//           rows and load weights: 8 x 8192 x 4096 bf16, heads of 64, on an H200 whose copies run at 4140 GB/s, 128
//           threads a row: four rows in turn, 7 blocks of an SM at 72 registers, 4086; two 4073, eight 3957; 6 blocks
//           4035; weights held in registers, 5 blocks, 3940; one row a block, 8 blocks at 64 registers, 3830; and with
//           two exchanges one after the other, at 80 registers, 2750.
// Config    facts: Element, Weight, Angle; kDim (of a row), kHalf (of a head), kPairVector (elements of an aligned
//           access to all tensors; divides kHalf), kVector (2 kPairVector: a pair of accesses counts as one), kGroups
//           1; Fp8 and kScaling of a y in FP8.
//           knobs: kThreads, kThreadsPerRow, kRowsPerThread; kPacked (rows stay as stored until they are rotated, for
//           16-bit elements: fewer threads hold a row, each with more loads in flight); kMinBlocks.
// Sources   Su et al. 2021, arXiv:2104.09864, in the form that rotates halves (rotate_half, GPT-NeoX); Zhang, Sennrich
// 2019.
#pragma once
#include "norm/rms_norm_rope.h"
#include "norm/rows/row_norm.cuh"
#include "norm/rows/row_quantiser.cuh"
#include "norm/rows/thread_prefetch.cuh"

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

// A row's number in its batch element.
struct Position {
  i64 batch, at;

  HSTU_PRIM Position(const RmsNormRopeParams& p, i64 row)
      : batch(static_cast<i64>(static_cast<u64>(row) / static_cast<u64>(p.length))), at(row - batch * p.length) {}
  HSTU_PRIM void advance(const RmsNormRopeParams& p, i64 rows) {
    for (at += rows; at >= p.length; at -= p.length) ++batch;
  }
};

template <class Config>
struct Row {
  using Result = typename ResultOf<Config>::Type;
  const typename Config::Element* x;
  Result* y;
  const typename Config::Angle* cosine;
  const typename Config::Angle* sine;

  HSTU_PRIM Row(const RmsNormRopeParams& p, const Position& row) {
    x = static_cast<const typename Config::Element*>(p.x) + row.batch * p.x_batch_stride + row.at * p.x_row_stride;
    y = static_cast<Result*>(p.y) + row.batch * p.y_batch_stride + row.at * p.y_row_stride;
    cosine = static_cast<const typename Config::Angle*>(p.cosine) + row.at * p.cosine_row_stride;
    sine = static_cast<const typename Config::Angle*>(p.sine) + row.at * p.sine_row_stride;
  }
  HSTU_PRIM Row(const RmsNormRopeParams& p, i64 row) : Row(p, Position(p, row)) {}
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
      for (u32& word : packs[r][a].first.word) word = prim::opaque(word);
#pragma unroll
      for (u32& word : packs[r][a].second.word) word = prim::opaque(word);
      unpack(x[r][a], packs[r][a]);
    }
  }
}

// Scales by rstd and weight, and rotates by the angles.
template <class Config>
HSTU_PRIM void rotate(float (&first)[Config::kPairVector], float (&second)[Config::kPairVector],
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
HSTU_PRIM Pair<typename Config::Element, Config::kPairVector> rotated(
    const float (&x)[2 * Config::kPairVector], float rstd,
    const Pair<typename Config::Weight, Config::kPairVector>& weight,
    const Angles<typename Config::Angle, Config::kPairVector>& angles) {
  constexpr int kPair = Config::kPairVector;
  float first[kPair], second[kPair];
  rotate<Config>(first, second, x, rstd, weight, angles);
  Pair<typename Config::Element, kPair> out;
  tile::pack(out.first, first);
  tile::pack(out.second, second);
  return out;
}

// Of a row's units of scaling: 128 columns hold both halves of a pair, or one.
template <class Config, class Shape>
using Amax = tile::RowAmax<Config, Shape, Config::kHalf % tile::kScaleSpan == 0 ? 2 : 1>;

// Scales by weight, and rotates by the angles.
template <class Config>
HSTU_PRIM void rotate_unscaled(float (&y)[2 * Config::kPairVector], const float (&x)[2 * Config::kPairVector],
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

// Rows to FP8 are taken one after the other.
template <class Config>
using OneRowShape = Shape<tile::OneRow<Config>>;

// What a thread reads of a row.
template <class Config, class Shape>
struct RowParts {
  using At = Columns<Config, Shape>;
  enum : int { kPair = Config::kPairVector, kAccesses = Shape::kAccesses };
  enum : int { kAngles = At::kSameAngles ? 1 : kAccesses };
  Pair<typename Config::Element, kPair> x[kAccesses];
  Angles<typename Config::Angle, kPair> angles[kAngles];

  HSTU_PRIM void load(const Row<Config>& row, const tile::RowTeam<Shape>& team) {
#pragma unroll
    for (int a = 0; a < kAccesses; ++a) {
      if (team.holds(a))
        x[a].load(row.x + At(team, a).first(), Config::kHalf);
      else
        x[a].clear();
    }
#pragma unroll
    for (int a = 0; a < kAngles; ++a) {
      if (At::kSameAngles || team.holds(a)) {
        tile::load(angles[a].cosine, row.cosine + At(team, a).angle);
        tile::load(angles[a].sine, row.sine + At(team, a).angle);
      } else {
        angles[a].clear();
      }
    }
  }
};

// The next row in flight to shared memory.
template <class Config>
class RowPrefetch {
  using Shape = OneRowShape<Config>;
  using Parts = RowParts<Config, Shape>;
  using At = Columns<Config, Shape>;
  enum : int { kPair = Config::kPairVector, kAngles = 2 * Parts::kAccesses };  // the first piece of them
  using Own = tile::ThreadPrefetch<kAngles + 2 * Parts::kAngles, Config::kThreads>;
  const Own own_;

 public:
  enum : bool {
    kOn = Config::kRowsPerThread > 1 && kPair * sizeof(typename Config::Element) == 16 &&
          kPair * sizeof(typename Config::Angle) == 16
  };
  enum : int { kSmemBytes = kOn ? int{Own::kSmemBytes} : 0 };

  HSTU_PRIM explicit RowPrefetch(const unsigned char* smem) : own_(smem) {}

  HSTU_PRIM void start(const Row<Config>& row, const tile::RowTeam<Shape>& team, const Parts& consumed) const {
    u32 words = 0;
#pragma unroll
    for (int a = 0; a < Parts::kAngles; ++a)
      words ^= consumed.angles[a].cosine.word[0] ^ consumed.angles[a].sine.word[0];
#pragma unroll
    for (int a = 0; a < Parts::kAccesses; ++a) words ^= consumed.x[a].first.word[0] ^ consumed.x[a].second.word[0];
#pragma unroll
    for (int a = 0; a < Parts::kAccesses; ++a) {
      const auto* from = row.x + At(team, a).first();
      own_.start(2 * a, from, team.holds(a), words);
      own_.start(2 * a + 1, from + Config::kHalf, team.holds(a), words);
    }
#pragma unroll
    for (int a = 0; a < Parts::kAngles; ++a) {
      const bool reads = At::kSameAngles || team.holds(a);
      own_.start(kAngles + 2 * a, row.cosine + At(team, a).angle, reads, words);
      own_.start(kAngles + 2 * a + 1, row.sine + At(team, a).angle, reads, words);
    }
    own_.commit();
  }
  HSTU_PRIM void read(Parts& parts) const {
    own_.wait();
#pragma unroll
    for (int a = 0; a < Parts::kAccesses; ++a) {
      own_.read(parts.x[a].first, 2 * a);
      own_.read(parts.x[a].second, 2 * a + 1);
    }
#pragma unroll
    for (int a = 0; a < Parts::kAngles; ++a) {
      own_.read(parts.angles[a].cosine, kAngles + 2 * a);
      own_.read(parts.angles[a].sine, kAngles + 2 * a + 1);
    }
  }
};

// Brings together what the warps of a team know of their row: sum of squares, and where a row has one scale its
// amax, which takes the place of a pivot.
template <class Config, class Shape>
HSTU_PRIM float reduce(Amax<Config, Shape>& amax, float squares, tile::RowPartial* exchange, float eps) {
  constexpr int kWarps = Shape::kWarps;
  squares = prim::lane_sum<Shape::kLanes>(squares);
  if constexpr (kWarps > 1) {
    const u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (lane == 0) exchange[warp] = {__uint_as_float(amax.bits[0][0]), 0.0f, squares};
    __syncthreads();
    const tile::RowPartial part = exchange[warp / kWarps * kWarps + lane % kWarps];
    if constexpr (!Amax<Config, Shape>::kGrouped) amax.bits[0][0] = prim::lane_max<32>(__float_as_uint(part.pivot));
    squares = prim::lane_sum<kWarps>(part.squares);
  }
  return prim::rsqrt_approx(__fmaf_rn(squares, 1.0f / Shape::kDim, eps));
}

template <class Config, class Shape>
HSTU_PRIM void load_weights(Pair<typename Config::Weight, Config::kPairVector> (&weights)[Shape::kAccesses],
                            const RmsNormRopeParams& p, const tile::RowTeam<Shape>& team) {
#pragma unroll
  for (int a = 0; a < Shape::kAccesses; ++a) {
    weights[a].clear();
    if (team.holds(a))
      weights[a].load(static_cast<const typename Config::Weight*>(p.weight) + Columns<Config, Shape>(team, a).first(),
                      Config::kHalf);
  }
}

// Writes a rotated row and its scales.
template <class Config, class Shape>
HSTU_PRIM void store_quantised(typename Config::Fp8* to, float* descale, i64 descale_column_stride,
                               const float (&y)[Shape::kAccesses][2 * Config::kPairVector], float rstd,
                               const Amax<Config, Shape>& amax, const tile::RowTeam<Shape>& team) {
  using Fp8 = typename Config::Fp8;
  using Units = Amax<Config, Shape>;
  constexpr int kPair = Config::kPairVector;
  constexpr bool kApart = Config::kHalf % tile::kScaleSpan == 0;
#pragma unroll
  for (int a = 0; a < Shape::kAccesses; ++a) {
    if (!team.holds(a)) continue;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int column = Columns<Config, Shape>(team, a).first() + half * Config::kHalf;
      const float unit = __uint_as_float(amax.of(0, a, kApart ? half : 0)) * rstd;
      const tile::UnitScale<Fp8> scale(__float_as_uint(unit));
      float value[kPair];
#pragma unroll
      for (int v = 0; v < kPair; ++v) value[v] = y[a][half * kPair + v];
      tile::RowPack<Fp8, kPair> q;
      tile::pack_fp8(q, value, rstd * scale.multiplier());
      tile::store(to + column, q);
      if (Units::writes(team, a) && (half == 0 || (Units::kGrouped && kApart)))
        descale[Units::kGrouped ? column / tile::kScaleSpan * descale_column_stride : 0] = scale.descale();
    }
  }
}

// The rows of one block to FP8, in turn.
template <class Config>
HSTU_PRIM void quantised_rows(const RmsNormRopeParams& p, tile::RowPartial* exchange,
                              const unsigned char* prefetch_smem) {
  using Shape = OneRowShape<Config>;
  using Parts = RowParts<Config, Shape>;
  using Units = Amax<Config, Shape>;
  using Prefetch = RowPrefetch<Config>;
  constexpr int kRowSteps = Config::kRowsPerThread, kPair = Config::kPairVector, kAccesses = Shape::kAccesses;
  static_assert(
      !Units::kGrouped || Config::kHalf % tile::kScaleSpan == 0 || tile::kScaleSpan % (2 * Config::kHalf) == 0,
      "heads divide 128, or 128 divides their halves");
  const tile::RowTeam<Shape> team;
  const Prefetch prefetch(prefetch_smem);
  const i64 last = p.rows - 1;
  i64 row = static_cast<i64>(blockIdx.x) * (Shape::kRowsAtOnce * kRowSteps) + team.row;
  Position position(p, min(row, last));  // behind the last row it is taken again, and not written
  Parts parts;
  parts.load(Row<Config>(p, position), team);
#pragma unroll 1
  for (int step = 0;;) {
    auto* const to = Row<Config>(p, position).y;
    const bool writes = row <= last, more = step + 1 < kRowSteps;
    row += Shape::kRowsAtOnce;
    if (more && row <= last) position.advance(p, Shape::kRowsAtOnce);
    if constexpr (Prefetch::kOn)
      if (more) prefetch.start(Row<Config>(p, position), team, parts);
    Pair<typename Config::Weight, kPair> weights[kAccesses];
    load_weights<Config>(weights, p, team);
    const u32 zero = prim::opaque_zero();  // one wait for all
#pragma unroll
    for (int a = 0; a < kAccesses; ++a) {
      tile::await_both(parts.x[0].first, weights[a].first, zero);
      tile::await_both(parts.x[0].first, weights[a].second, zero);
    }
    tile::await_both(parts.x[0].first, parts.angles[0].cosine, zero);
    tile::await_both(parts.x[0].first, parts.angles[0].sine, zero);

    float y[1][kAccesses][2 * kPair], squares = 0.0f;
#pragma unroll
    for (int a = 0; a < kAccesses; ++a) {
      float x[2 * kPair];
      unpack(x, parts.x[a]);
#pragma unroll
      for (int v = 0; v < 2 * kPair; ++v) squares = __fmaf_rn(x[v], x[v], squares);
      rotate_unscaled<Config>(y[0][a], x, weights[a], parts.angles[Parts::kAngles == 1 ? 0 : a]);
    }
    Units amax(typename Units::OfWarp{}, y, team);
    const float rstd =
        reduce<Config, Shape>(amax, squares, exchange + step % 2 * (kRowSteps > 1 ? Shape::kBlockWarps : 0), p.eps);
    float* const descale = p.descale + (row - Shape::kRowsAtOnce) * p.descale_row_stride;
    if (writes) store_quantised<Config, Shape>(to, descale, p.descale_column_stride, y[0], rstd, amax, team);
    if (++step == kRowSteps) break;
    if constexpr (Prefetch::kOn)
      prefetch.read(parts);
    else
      parts.load(Row<Config>(p, position), team);
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
      const auto out = rotated<Config>(x[r][a], moments[r].rstd, weight, angles[r][At::kSameAngles ? 0 : a]);
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
  tile::reduce_warps<false, Shape>(moments, mine, exchange, static_cast<int>(threadIdx.x / 32), p.eps);
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
    const auto out = rotated<Config>(x, moments[0].rstd, weight, angles);
    tile::store(row.y + at.first(), out.first);
    tile::store(row.y + at.first() + Config::kHalf, out.second);
  }
}

}  // namespace rope

template <class Config>
constexpr int rms_norm_rope_smem_bytes = rope::Shape<Config>::kExchangeBytes +
                                         (Config::kScaling != tile::kPerTensor ? rope::RowPrefetch<Config>::kSmemBytes
                                                                               : 0);

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
  else if constexpr (rope::Amax<Config, Shape>::kOn)
    rope::quantised_rows<Config>(p, exchange, smem + Shape::kExchangeBytes);
  else
    rope::held_rows<Config>(p, team, rows, exchange);
}

}  // namespace hstu
