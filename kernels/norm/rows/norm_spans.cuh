// Rows through a norm to FP8, with per-row scales or one for 128 columns of a row, whatever their length and alignment:
// the body of the families *_norm_fp8 and *_rope_fp8. Where rows are held and accesses are 4 elements or more,
// norm/rows/row_quantiser.cuh does the same with wider ones.
//
//   x row ──► registers ──► mean, rstd ──► results, a span of 128 columns in each warp ──max──► scale ──► y row
//
// What runs, and the function behind each line, of this file unless another is named:
//   each team, once, for its row                          norm_spans()
//     load the spans of each warp, if they can be held    Spans
//     mean; then squares about it                         span_moments()
//     both to the gradient's moments, if asked for        row_norm.cuh: save_moments()
//     by groups: for each span of the warp                quantise_spans()
//       results, their amax over the warp                 span_results(): Row::result()
//       scale; round to FP8, store                        tile/fp8_row.cuh, store_span()
//     by rows: results of all spans, amax over the team   span_results(), SpanTeam::amax()
//       scale; for each span (results again, unless held) span_results()
//         round to FP8, store                             store_span()
//
// Work      a team of kThreadsPerRow threads a row; where that is one warp, several rows a block. Warp w takes spans w,
//           w + kWarps, ... of 128 columns, and each lane four columns of a span, by accesses of kVector neighbours
//           that lie side by side with those of the other lanes. So a span is a unit of scaling by groups.
// Memory    up to kHeldSpans spans a warp stay in registers. Longer rows are read again for each pass, mostly from L2:
//           for their sum (unless the mean is 0), their squares, their amax (unless groups are scaled), and
//           the results.
// Moments   the squares are summed about the mean as it comes out in f32; a second sum has what that leaves.
// Shared    four words a warp of a team of several: what its reductions exchange, each its own.
// Config    facts: Element, Fp8; kScaling kPerRow or kPerGroup; kDim (0 too); kVector 1, 2 or 4 (elements of an aligned
//           access to all tensors); kCentred false for RMS norm; kMoments, of layer norm alone, to leave moments; and
//           what Row wants.
//           knob: kThreadsPerRow, from which kThreads and kHeldSpans follow.
// Tried     docs/experiments/norm.md
// Row       one row of the family: at(), where what lies under a column begins; result(), what becomes of an access; y.
#pragma once
#include "norm/row_norm.h"
#include "norm/rows/norm_output.cuh"
#include "norm/rows/row_affine.cuh"
#include "tile/fp8_row.cuh"

namespace hstu::tile {

template <class Config>
struct SpanShape {
  enum : int { kDim = Config::kDim, kVector = Config::kVector };
  enum : int { kThreads = Config::kThreads, kThreadsPerRow = Config::kThreadsPerRow };
  enum : int { kWarps = kThreadsPerRow / 32, kRowsPerBlock = kThreads / kThreadsPerRow };
  enum : int { kAccesses = kScaleSpan / 32 / kVector };  // of a lane to a span
  enum : int { kSpans = kDim / kScaleSpan + (kDim % kScaleSpan > 0) };
  enum : int { kSteps = (kSpans + kWarps - 1) / kWarps };  // spans of a warp
  enum : bool { kHeld = kSteps <= Config::kHeldSpans };
  enum : int { kSmemBytes = kWarps > 1 ? 16 * kWarps : 0 };
  static_assert(kDim % kVector == 0 && kAccesses * kVector * 32 == kScaleSpan,
                "an access must not cross the end of a row or of a span");
  static_assert((kWarps & (kWarps - 1)) == 0 && kThreads % kThreadsPerRow == 0, "a block is made of whole teams");
  static_assert(kWarps == 1 || kRowsPerBlock == 1, "teams of several warps synchronise at the block's barriers");
};

// Where this thread stands in its team, and the sums of the team.
template <class Shape>
class SpanTeam {
  enum : int { kWarps = Shape::kWarps };
  const u32 smem_, lane_ = threadIdx.x % 32, warp_ = threadIdx.x / 32 % kWarps;

  // In: the share of this thread's warp. Out: lane l has that of warp l % kWarps.
  HSTU_PRIM u32 shares(int exchange, u32 mine) const {
    const u32 at = smem_ + exchange * 4 * kWarps;
    if (lane_ == 0) prim::st_shared(at + 4 * warp_, mine);
    __syncthreads();
    return prim::ld_shared4(at + 4 * (lane_ % kWarps));
  }

 public:
  HSTU_PRIM explicit SpanTeam(const unsigned char* smem) : smem_(prim::smem_addr(smem)) {}

  HSTU_PRIM u32 span(int step) const { return step * kWarps + warp_; }
  HSTU_PRIM bool has(int step) const { return Shape::kSpans % kWarps == 0 || span(step) < Shape::kSpans; }
  // First column of an access, and whether the row has it.
  HSTU_PRIM u32 column(int step, int access) const {
    return span(step) * kScaleSpan + (access * 32 + lane_) * Shape::kVector;
  }
  HSTU_PRIM bool holds(int step, int access) const {
    return Shape::kDim % (kScaleSpan * kWarps) == 0 || column(step, access) < Shape::kDim;
  }
  HSTU_PRIM bool leads_warp() const { return lane_ == 0; }
  HSTU_PRIM bool leads() const { return lane_ == 0 && warp_ == 0; }

  // Over all threads of the team. exchange: 0 to 3, another for each reduction of the kernel.
  HSTU_PRIM float sum(int exchange, float x) const {
    x = prim::lane_sum(x);
    return kWarps == 1 ? x : prim::lane_sum<kWarps>(__uint_as_float(shares(exchange, __float_as_uint(x))));
  }
  HSTU_PRIM u32 amax(int exchange, u32 x) const {
    x = prim::lane_max(x);
    return kWarps == 1 ? x : prim::lane_max(shares(exchange, x));
  }
};

// The spans of a thread's warp: held, or loaded for each pass.
template <class Config, class Row>
class Spans {
 public:
  using Shape = SpanShape<Config>;
  using Values = float[Shape::kAccesses][Shape::kVector];
  enum : bool { kHeld = Shape::kHeld };

  HSTU_PRIM Spans(const SpanTeam<Shape>& team, const Row& row) : team_(team), row_(row) {
    if constexpr (kHeld) {
#pragma unroll
      for (int s = 0; s < Shape::kSteps; ++s) load(held_[s], s);
    }
  }

  // Calls body(values, step) for each span, values being 0 beyond the row. What body does to values of held spans
  // stays.
  template <class Body>
  HSTU_PRIM void each(const Body& body) {
    if constexpr (kHeld) {
#pragma unroll
      for (int s = 0; s < Shape::kSteps; ++s)
        if (team_.has(s)) body(held_[s], s);
    } else {
#pragma unroll 2
      for (int s = 0; s < Shape::kSteps; ++s) {
        if (!team_.has(s)) continue;
        Values values;
        load(values, s);
        body(values, s);
      }
    }
  }

 private:
  HSTU_PRIM void load(Values& values, int step) const {
    RowPack<typename Config::Element, Shape::kVector> pack[Shape::kAccesses];
#pragma unroll
    for (int a = 0; a < Shape::kAccesses; ++a) {
      if (team_.holds(step, a))
        tile::load(pack[a], row_.at(team_.column(step, a)));
      else
        clear(pack[a]);
      unpack(values[a], pack[a]);
    }
  }

  const SpanTeam<Shape>& team_;
  const Row& row_;
  Values held_[kHeld && Shape::kSteps > 0 ? Shape::kSteps : 1];
};

template <class Config, class Row>
HSTU_PRIM RowMoments span_moments(Spans<Config, Row>& spans, const SpanTeam<SpanShape<Config>>& team, float eps) {
  using Shape = SpanShape<Config>;
  using Values = typename Spans<Config, Row>::Values;
  constexpr int kCount = Shape::kDim > 0 ? Shape::kDim : 1;
  RowMoments moments = {};
  if constexpr (Config::kCentred) {
    float sum = 0.0f;
    spans.each([&](const Values& x, int) {
#pragma unroll
      for (int a = 0; a < Shape::kAccesses; ++a) sum += sum_of(x[a]);
    });
    moments.pivot = divide<kCount>(team.sum(0, sum));
  }
  float rest = 0.0f, squares = 0.0f;
  spans.each([&](const Values& x, int step) {
#pragma unroll
    for (int a = 0; a < Shape::kAccesses; ++a) {
#pragma unroll
      for (int v = 0; v < Shape::kVector; ++v) {
        const float d = team.holds(step, a) ? x[a][v] - moments.pivot : 0.0f;
        rest += d;
        squares = __fmaf_rn(d, d, squares);
      }
    }
  });
  squares = team.sum(1, squares);
  if constexpr (Config::kCentred) {
    rest = team.sum(2, rest);
    moments.rest = divide<kCount>(rest);
    squares = __fmaf_rn(-rest, moments.rest, squares);
  }
  moments.squares = squares;
  moments.rstd = prim::rsqrt_approx(__fmaf_rn(squares, 1.0f / kCount, eps));
  return moments;
}

// Results in the place of a span's values; their amax so far, as bits of a float.
template <class Config, class Row, class Values>
HSTU_PRIM u32 span_results(Values& x, u32 amax, const SpanTeam<SpanShape<Config>>& team, const Row& row, int step,
                           const RowMoments& moments) {
  using Shape = SpanShape<Config>;
#pragma unroll
  for (int a = 0; a < Shape::kAccesses; ++a) {
    if (team.holds(step, a)) row.result(x[a], team.column(step, a), moments);
#pragma unroll
    for (int v = 0; v < Shape::kVector; ++v) amax = max(amax, __float_as_uint(x[a][v]) & 0x7fffffffu);
  }
  return amax;
}

template <class Config, class Row, class Values>
HSTU_PRIM void store_span(const Values& x, float multiplier, const SpanTeam<SpanShape<Config>>& team, const Row& row,
                          int step) {
  using Shape = SpanShape<Config>;
#pragma unroll
  for (int a = 0; a < Shape::kAccesses; ++a) {
    if (!team.holds(step, a)) continue;
    RowPack<typename Config::Fp8, Shape::kVector> q;
    pack_fp8(q, x[a], multiplier);
    store(row.y + team.column(step, a), q);
  }
}

template <class Config>
constexpr int norm_spans_smem_bytes = SpanShape<Config>::kSmemBytes;

// The row of this thread's team. A team without one takes the last row again, and writes none.
template <class Shape>
struct SpanBlock {
  const int team = static_cast<int>(threadIdx.x / Shape::kThreadsPerRow);
  i64 row = static_cast<i64>(blockIdx.x) * Shape::kRowsPerBlock + team;
  const bool writes;

  HSTU_PRIM explicit SpanBlock(i64 rows) : writes(row < rows) { row = writes ? row : rows - 1; }
};

// Params: RowNormParams or another with these members.
template <class Config, class Row, class Block, class Params>
HSTU_PRIM void quantise_spans(const Params& p, Spans<Config, Row>& spans, const Row& row, const RowMoments& moments,
                              const Block& block, const SpanTeam<SpanShape<Config>>& team) {
  using Shape = SpanShape<Config>;
  using Values = typename Spans<Config, Row>::Values;
  using Scale = UnitScale<typename Config::Fp8>;
  const bool writes = block.writes;
  float* const descale = p.descale + block.row * p.descale_row_stride;
  if constexpr (Config::kScaling == kPerGroup) {
    spans.each([&](Values& x, int step) {
      const Scale scale(prim::lane_max(span_results<Config>(x, 0, team, row, step, moments)));
      const float down = scale.descale(), up = scale.multiplier();
      if (!writes) return;
      store_span<Config>(x, up, team, row, step);
      if (team.leads_warp()) descale[team.span(step) * p.descale_column_stride] = down;
    });
  } else {
    u32 amax = 0;
    spans.each([&](Values& x, int step) { amax = span_results<Config>(x, amax, team, row, step, moments); });
    const Scale scale(team.amax(3, amax));
    const float down = scale.descale(), up = scale.multiplier();
    if (!writes) return;
    if (team.leads()) *descale = down;
    spans.each([&](Values& x, int step) {
      if constexpr (!Shape::kHeld) span_results<Config>(x, 0, team, row, step, moments);
      store_span<Config>(x, up, team, row, step);
    });
  }
}

template <class Config, class Row, class Params>
HSTU_PRIM void norm_spans(const Params& p) {
  using Shape = SpanShape<Config>;
  extern __shared__ __align__(1024) unsigned char smem[];
  const SpanTeam<Shape> team(smem);
  const SpanBlock<Shape> block(p.rows);
  const Row row(p, block.row);
  Spans<Config, Row> spans(team, row);
  const RowMoments moments = span_moments(spans, team, p.eps);
  if constexpr (saves_moments<Config>(0)) {
    if (block.writes && team.leads()) save_moments(p, block.row, moments);
  }
  quantise_spans(p, spans, row, moments, block, team);
}

// A row of layer or RMS norm. Config: Weight, kHasWeight, kHasBias; Output NormOnly or SiluOfNorm
// (norm/rows/norm_output.cuh).
template <class Config>
struct NormRow {
  using Element = typename Config::Element;
  using Weight = typename Config::Weight;
  const Element* x;
  typename Config::Fp8* y;
  const Weight* weight;
  const Weight* bias;

  HSTU_PRIM NormRow(const RowNormParams& p, i64 row)
      : x(static_cast<const Element*>(p.x) + row * p.x_row_stride),
        y(static_cast<typename Config::Fp8*>(p.y) + row * p.y_row_stride),
        weight(static_cast<const Weight*>(p.weight)),
        bias(static_cast<const Weight*>(p.bias)) {}

  HSTU_PRIM const Element* at(u32 column) const { return x + column; }

  template <int Count>
  HSTU_PRIM void result(float (&value)[Count], u32 column, const RowMoments& moments) const {
    RowPack<Weight, Count> pack;
    float w[Count], b[Count], norm[Count];
    if constexpr (Config::kHasWeight) {
      load(pack, weight + column);
      unpack(w, pack);
    }
    if constexpr (Config::kHasBias) {
      load(pack, bias + column);
      unpack(b, pack);
    }
    normalise<Config>(norm, value, moments, w, b);
#pragma unroll
    for (int v = 0; v < Count; ++v) value[v] = Config::Output::template apply<Element>(value[v], norm[v]);
  }
};

}  // namespace hstu::tile
