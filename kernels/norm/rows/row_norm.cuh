// Rows held in registers by a team of threads, and their statistics: what layer_norm and norm_mul share.
//
// A "row" is the set of elements under one mean: a matrix row, or one of its kGroups equal parts under group norm. A
// team of kThreadsPerRow threads (part of a warp, a warp, or several warps of a block) holds a row; thread t of the
// team holds kVector neighbouring elements at t * kVector + a * kThreadsPerRow * kVector for a in [0, kAccesses), so
// each access of a team is one contiguous stretch. A thread does this for kRowsPerThread rows at once, loads first.
//
//   block   kRowsPerBlock rows: rows (at, at + kRowsAtOnce, ...) belong to one team
//   sums    lane shuffles inside a warp; one exchange through shared memory if a team has several warps
//
// Statistics are two-pass from registers in f32 with the biased variance. Rows too long for registers (kLooped) are
// taken by a whole block that reads them three times, the second and third time mostly from L2.
#pragma once
#include "norm/row_norm.h"
#include "prim/lanes.cuh"
#include "prim/math.cuh"
#include "prim/memory.cuh"
#include "tile/row_pack.cuh"

namespace hstu::tile {

enum : int { kMaxValuesPerRow = 32 };  // values of one row that a thread may hold; longer rows are looped over

// One warp's share of a row's statistics: sums about a pivot of its own.
struct alignas(16) RowPartial {
  float pivot, rest, squares;

  HSTU_PRIM void add(float x) {
    const float d = x - pivot;
    rest += d;
    squares = __fmaf_rn(d, d, squares);
  }
};

template <class Config, int kMaxValues = kMaxValuesPerRow>
struct RowShape {
  enum : int { kDim = Config::kDim, kVector = Config::kVector, kGroups = Config::kGroups };
  enum : int { kThreads = Config::kThreads, kThreadsPerRow = Config::kThreadsPerRow };
  static_assert(kDim % kVector == 0, "an access must not cross the end of a row");
  static_assert((kThreadsPerRow & (kThreadsPerRow - 1)) == 0 && kThreads % kThreadsPerRow == 0 && kThreads % 32 == 0,
                "a block is made of whole warps and of whole teams");

  enum : int { kStep = kThreadsPerRow * kVector };        // elements of one access of the team
  enum : int { kAccesses = (kDim + kStep - 1) / kStep };  // of each thread to one row
  enum : bool { kFull = kDim % kStep == 0 };              // no thread idles in the last access
  enum : bool { kLooped = kAccesses * kVector > kMaxValues };
  enum : int { kLanes = kThreadsPerRow < 32 ? kThreadsPerRow : 32 };  // of one warp that share a row
  enum : int { kWarps = kThreadsPerRow / kLanes };                    // that share a row
  enum : int { kBlockWarps = kThreads / 32 };
  enum : int { kRowsAtOnce = kThreads / kThreadsPerRow };
  enum : int { kRowsPerThread = Config::kRowsPerThread };
  enum : int { kRowsPerBlock = kRowsAtOnce * kRowsPerThread };
  static_assert(!kLooped || (kRowsPerBlock == 1), "a row too long for registers takes a whole block");

  // RowPartials that the warps of a team exchange.
  enum : int {
    kExchangeBytes = kWarps > 1 || kLooped ? static_cast<int>(sizeof(RowPartial)) * (kRowsPerThread * kBlockWarps) : 0
  };
};

// Normalised value of x: ((x - pivot) - rest) * rstd. pivot + rest is the mean; rest keeps what f32 rounding of the
// mean would lose, so that a constant row gives exactly 0, and is 0 by construction for 16-bit rows.
// squares: of deviations from that mean, summed; of it is rstd.
struct RowMoments {
  float pivot, rest, rstd, squares;
};

// Whether a norm leaves its statistics to its gradient; a Config that says nothing does not.
template <class Config>
HSTU_PRIM constexpr auto saves_moments(int) -> decltype(Config::kMoments + 0) {
  return Config::kMoments;
}
template <class Config>
HSTU_PRIM constexpr int saves_moments(long) {
  return 0;
}

// The parameters of such a norm.
template <class Config, bool kSaves = saves_moments<Config>(0)>
struct EitherNormParams {
  using Type = RowNormParams;
};
template <class Config>
struct EitherNormParams<Config, true> {
  using Type = SavingNormParams;
};
template <class Config>
using NormParams = typename EitherNormParams<Config>::Type;

// What the row was normalised by, as the gradient reads it: the mean rounded once, and its squares, which cancellation
// may have left just below 0. A NaN stays one.
HSTU_PRIM void save_moments(const RowNormParams& p, i64 row, const RowMoments& m) {
  const float squares = m.squares < 0.0f ? 0.0f : m.squares;
  prim::st_global8(static_cast<const SavingNormParams&>(p).moments + 2 * row,
                   {__float_as_uint(m.pivot + m.rest), __float_as_uint(squares)});
}

// s / n with one rounding for any n, from a constant reciprocal; exact if the quotient is.
template <int n>
HSTU_PRIM float divide(float s) {
  constexpr float kInverse = 1.0f / n;
  const float q = s * kInverse;
  return (n & (n - 1)) == 0 ? q : __fmaf_rn(__fmaf_rn(-q, n, s), kInverse, q);
}

// Where this thread stands in its team, and the rows of a block.
template <class Shape>
struct RowTeam {
  int lane = static_cast<int>(threadIdx.x % Shape::kThreadsPerRow);
  int row = static_cast<int>(threadIdx.x / Shape::kThreadsPerRow);  // of the rows taken at once

  HSTU_PRIM int column(int access) const { return (access * Shape::kThreadsPerRow + lane) * Shape::kVector; }
  HSTU_PRIM bool holds(int access) const { return Shape::kFull || column(access) < Shape::kDim; }
  // A column that a thread may read whether it holds the access or not; cheaper than to leave the read out.
  HSTU_PRIM int read_column(int access) const {
    const bool all_hold = (access + 1) * Shape::kStep <= Shape::kDim;
    return all_hold ? column(access) : min(column(access), Shape::kDim - Shape::kVector);
  }
};

// Rows of one block, counted over groups: row r of the count is group r % kGroups of matrix row r / kGroups. A block
// behind the last full one takes that row again where it has none, so that loads need no predicate; it stores none.
template <class Shape>
struct RowBlock {
  i64 first;        // matrix row and
  int first_group;  // group of the block's first row
  int count;        // rows the block has, at least 1

  HSTU_PRIM RowBlock(i64 block, i64 matrix_rows) {
    const i64 at = block * Shape::kRowsPerBlock;
    first = at / Shape::kGroups;
    first_group = static_cast<int>(at % Shape::kGroups);
    const i64 left = matrix_rows * Shape::kGroups - at;
    count = static_cast<int>(left < Shape::kRowsPerBlock ? left : Shape::kRowsPerBlock);
  }
  HSTU_PRIM bool has(int row) const { return row < count; }
  HSTU_PRIM i64 matrix_row(int row) const { return first + (first_group + min(row, count - 1)) / Shape::kGroups; }
  HSTU_PRIM int group(int row) const { return (first_group + min(row, count - 1)) % Shape::kGroups; }
};

// The registers that hold a thread's part of its rows, as stored.
template <class Shape, class Element>
using RowPacks = RowPack<Element, Shape::kVector>[Shape::kAccesses];

// Loads this thread's part of the row at `from`; what lies beyond the row becomes 0.
template <class Shape, class Element>
HSTU_PRIM void load_row(RowPacks<Shape, Element>& packs, const Element* from, const RowTeam<Shape>& team) {
  const Element* mine = prim::opaque(from + team.column(0));
#pragma unroll
  for (int a = 0; a < Shape::kAccesses; ++a) {
    if (team.holds(a))
      load(packs[a], mine + a * Shape::kStep);
    else
      clear(packs[a]);
  }
}

template <class Shape, class Element>
HSTU_PRIM void store_row(Element* to, const RowPacks<Shape, Element>& packs, const RowTeam<Shape>& team) {
  Element* mine = prim::opaque(to + team.column(0));
#pragma unroll
  for (int a = 0; a < Shape::kAccesses; ++a) {
    if (team.holds(a)) store(mine + a * Shape::kStep, packs[a]);
  }
}

// Elements of the row that warp w of its team holds; may be 0.
template <class Shape>
HSTU_PRIM float warp_elements(int w) {
  constexpr int kPerAccess = Shape::kLanes * Shape::kVector, kWhole = Shape::kDim / Shape::kStep * kPerAccess;
  if constexpr (Shape::kFull) return static_cast<float>(kWhole);
  const int rest = min(max(Shape::kDim % Shape::kStep - w * kPerAccess, 0), kPerAccess);
  return static_cast<float>(kWhole + rest);
}

// Whether the sums about a pivot carry its error: for float rows, whose sums round, and where the pivot is only near
// the warp's mean.
template <class Shape, class Element>
constexpr bool kKeepsRest = sizeof(Element) == 4 || (Shape::kWarps > 1 && !Shape::kFull);

// Brings the shares of a team's warps together: in, this warp's share (equal in all its lanes); out, the row's moments.
template <bool kCentred, class Shape, int kRows>
HSTU_PRIM void reduce_warps(RowMoments (&moments)[kRows], const RowPartial (&mine)[kRows], RowPartial* exchange,
                            int warp, float eps) {
  constexpr int kWarps = Shape::kWarps, kDim = Shape::kDim, stride = Shape::kBlockWarps;
  const int lane = static_cast<int>(threadIdx.x % 32), first_warp = warp & -kWarps;  // of the team
  if (lane == 0) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) exchange[r * stride + warp] = mine[r];
  }
  __syncthreads();
  RowPartial part[kRows];  // lane l holds the share of its team's warp l % kWarps
  float pivot[kRows], sum[kRows], squares[kRows];
  const float n = warp_elements<Shape>(lane & (kWarps - 1));
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    part[r] = exchange[r * stride + first_warp + (lane & (kWarps - 1))];
    pivot[r] = kCentred ? exchange[r * stride + first_warp].pivot : 0.0f;
    sum[r] = __fmaf_rn(n, part[r].pivot - pivot[r], part[r].rest);
  }
  if constexpr (kCentred) prim::lane_sums<kWarps>(sum);
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    sum[r] = kCentred ? divide<kDim>(sum[r]) : 0.0f;  // now the mean less the pivot
    const float shift = kCentred ? sum[r] - (part[r].pivot - pivot[r]) : 0.0f;
    squares[r] = __fmaf_rn(shift, __fmaf_rn(n, shift, -2.0f * part[r].rest), part[r].squares);
  }
  prim::lane_sums<kWarps>(squares);
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    moments[r] = {pivot[r], sum[r], prim::rsqrt_approx(__fmaf_rn(squares[r], 1.0f / kDim, eps)), squares[r]};
  }
}

template <int Count>
HSTU_PRIM float sum_of(const float (&x)[Count]) {  // pairwise: short chains, small error
  float sum[Count];
#pragma unroll
  for (int i = 0; i < Count; ++i) sum[i] = x[i];
#pragma unroll
  for (int half = Count / 2; half > 0; half /= 2) {
#pragma unroll
    for (int i = 0; i < half; ++i) sum[i] += sum[i + half];
  }
  return sum[0];
}

// Mean (if kCentred; otherwise 0, as RMS norm wants) and 1/sqrt(variance + eps) of the rows in registers.
template <bool kCentred, class Shape, class Element, int kRows>
HSTU_PRIM void row_moments(RowMoments (&moments)[kRows], const float (&x)[kRows][Shape::kAccesses][Shape::kVector],
                           const RowTeam<Shape>& team, RowPartial* exchange, float eps) {
  constexpr bool kRest = kCentred && kKeepsRest<Shape, Element>;
  constexpr int kWarps = Shape::kWarps;
  const int warp = static_cast<int>(threadIdx.x / 32);

  float pivot[kRows] = {}, rest[kRows] = {}, squares[kRows] = {};
  if constexpr (kCentred) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
#pragma unroll
      for (int a = 0; a < Shape::kAccesses; ++a) { pivot[r] += sum_of(x[r][a]); }
    }
    prim::lane_sums<Shape::kLanes>(pivot);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      if constexpr (kWarps == 1 || Shape::kFull)
        pivot[r] = divide<Shape::kDim / kWarps>(pivot[r]);
      else
        pivot[r] *= prim::rcp_approx(fmaxf(warp_elements<Shape>(warp & (kWarps - 1)), 1.0f));
    }
  }

#pragma unroll
  for (int r = 0; r < kRows; ++r) {
#pragma unroll
    for (int a = 0; a < Shape::kAccesses; ++a) {
#pragma unroll
      for (int v = 0; v < Shape::kVector; ++v) {
        const float d = team.holds(a) ? x[r][a][v] - pivot[r] : 0.0f;
        squares[r] = __fmaf_rn(d, d, squares[r]);
        if constexpr (kRest) rest[r] += d;
      }
    }
  }
  prim::lane_sums<Shape::kLanes>(squares);
  if constexpr (kRest) prim::lane_sums<Shape::kLanes>(rest);

  if constexpr (kWarps > 1) {
    RowPartial mine[kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r) mine[r] = {pivot[r], rest[r], squares[r]};
    reduce_warps<kCentred, Shape>(moments, mine, exchange, warp, eps);
  } else {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const float mean_rest = kRest ? divide<Shape::kDim>(rest[r]) : 0.0f;
      const float sum = kRest ? __fmaf_rn(-rest[r], mean_rest, squares[r]) : squares[r];
      moments[r] = {pivot[r], mean_rest, prim::rsqrt_approx(__fmaf_rn(sum, 1.0f / Shape::kDim, eps)), sum};
    }
  }
  if constexpr (kWarps > 1 && !kRest) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      moments[r].pivot += moments[r].rest;
      moments[r].rest = 0.0f;
    }
  }
}

struct RowSum {
  float sum;
  HSTU_PRIM void add(float x) { sum += x; }
};

// Adds this thread's part of a row in memory to a RowSum or a RowPartial.
template <class Shape, class Element, class Sum>
HSTU_PRIM void add_row(Sum& to, const Element* row, const RowTeam<Shape>& team) {
#pragma unroll 4
  for (int a = 0; a < Shape::kAccesses; ++a) {
    if (!team.holds(a)) continue;
    RowPack<Element, Shape::kVector> pack;
    float x[Shape::kVector];
    load(pack, row + team.column(a));
    unpack(x, pack);
#pragma unroll
    for (int v = 0; v < Shape::kVector; ++v) to.add(x[v]);
  }
}

// row_moments for a row in memory, taken by all warps of the block: each warp sums its share about its own mean,
// reading it twice, and one exchange joins the shares.
template <bool kCentred, class Shape, class Element>
HSTU_PRIM RowMoments long_row_moments(const Element* row, const RowTeam<Shape>& team, RowPartial* exchange, float eps) {
  const int warp = static_cast<int>(threadIdx.x / 32);
  RowPartial mine[1] = {};
  if constexpr (kCentred) {
    RowSum total = {};
    add_row(total, row, team);
    mine[0].pivot = prim::lane_sum(total.sum) * prim::rcp_approx(fmaxf(warp_elements<Shape>(warp), 1.0f));
  }
  add_row(mine[0], row, team);
  mine[0].rest = kCentred ? prim::lane_sum(mine[0].rest) : 0.0f;
  mine[0].squares = prim::lane_sum(mine[0].squares);
  RowMoments moments[1];
  reduce_warps<kCentred, Shape>(moments, mine, exchange, warp, eps);
  return moments[0];
}

}  // namespace hstu::tile
