// The HSTU output stage before its projection, quantised to FP8, sm80, whatever the rows' length and alignment and the
// groups' number: the results of norm_mul_sm80, which is faster where it covers a case. Design:
// norm/rows/norm_spans.cuh.
//
// The spans are those of a row of out, all segments side by side. Rows are not held (kHeldSpans is 0): each pass reads
// what it needs again, mostly from L1 or L2.
//
// Moments   of a row that is not cut into groups: its team's. Of groups: a warp takes one after the other and leaves
//           its moments in shared memory.
// Config    besides norm/rows/norm_spans.cuh's, whose kDim is here that of a row, or of one of its kGroups parts: the
//           facts of norm_mul_sm80.cuh.
#pragma once
#include "norm/norm_mul_sm80.cuh"
#include "norm/rows/norm_spans.cuh"

namespace hstu {

namespace norm_mul {

// What the spans of results lie in: a whole row of out.
template <class Config>
struct OutRow : Config {
  enum : int { kDim = Segments<Config>::kCount * Segments<Config>::kColumns };
};

// Moments by one warp.
template <class Config>
struct ByWarp : Config {
  enum : int { kThreadsPerRow = 32 };
};

// A row of attn, or a group of it.
template <class Config>
struct AttnRow {
  const typename Config::Element* attn;
  HSTU_PRIM const typename Config::Element* at(u32 column) const { return attn + column; }
};

template <class Config>
class SpanRow {
  using Element = typename Config::Element;
  using Weight = typename Config::Weight;
  using S = Segments<Config>;
  enum : u32 { kColumns = S::kColumns > 0 ? S::kColumns : 1, kLength = Config::kDim > 0 ? Config::kDim : 1 };

  const NormMulParams& p_;
  const i64 row_;
  const Element* const attn_;
  const Element* const u_;
  const tile::RowMoments* const groups_;

  HSTU_PRIM void normalise(float (&norm)[Config::kVector], const float (&x)[Config::kVector], u32 column,
                           const tile::RowMoments& moments) const {
    const Weight *weight = static_cast<const Weight*>(p_.weight), *bias = static_cast<const Weight*>(p_.bias);
    float w[Config::kVector], b[Config::kVector];
    if constexpr (Config::kGroupNorm) {
#pragma unroll
      for (int v = 0; v < Config::kVector; ++v) {
        w[v] = prim::to_float(weight[column / kLength]);
        if constexpr (Config::kHasBias) b[v] = prim::to_float(bias[column / kLength]);
      }
    } else {
      tile::RowPack<Weight, Config::kVector> pack;
      tile::load(pack, weight + column);
      tile::unpack(w, pack);
      if constexpr (Config::kHasBias) {
        tile::load(pack, bias + column);
        tile::unpack(b, pack);
      }
    }
    tile::normalise<Config>(norm, x, Config::kGroups > 1 ? groups_[column / kLength] : moments, w, b);
  }

 public:
  typename Config::Fp8* const y;

  // groups: the moments of the row's groups, where there are several.
  HSTU_PRIM SpanRow(const NormMulParams& p, i64 row, const tile::RowMoments* groups)
      : p_(p),
        row_(row),
        attn_(static_cast<const Element*>(p.attn) + row * p.attn_row_stride),
        u_(static_cast<const Element*>(p.u) + row * p.u_row_stride),
        groups_(groups),
        y(static_cast<typename Config::Fp8*>(p.out) + row * p.out_row_stride) {}

  HSTU_PRIM const Element* at(u32 column) const {
    return Config::kConcatU && column < kColumns ? u_ + column : attn_ + column % kColumns;
  }

  // value: what lies at(column).
  HSTU_PRIM void result(float (&value)[Config::kVector], u32 column, const tile::RowMoments& moments) const {
    const int segment = static_cast<int>(column / kColumns);
    const u32 within = column % kColumns;
    u32 mask = 0;
    if constexpr (Config::kDropout != kNoDropout) mask = drawn<Config>(p_.dropout, row_, static_cast<int>(within));
    if (segment == S::kProduct) {
      Pack<Config> u;
      float x[Config::kVector], norm[Config::kVector];
      tile::load(u, u_ + within);
#pragma unroll
      for (int v = 0; v < Config::kVector; ++v) x[v] = value[v];
      normalise(norm, x, within, moments);
      product<Config>(value, x, norm, u, mask, p_.dropout);
      return;
    }
    if (Config::kConcatU && segment == 0) {
#pragma unroll
      for (float& v : value) v = Config::Copy::template apply<Element>(v);
    }
    drop<Config>(value, mask, segment, p_.dropout);
  }
};

// Of the groups of a row, by the warps of its team.
template <class Config>
HSTU_PRIM void group_moments(tile::RowMoments* groups, const NormMulParams& p, i64 row) {
  using Shape = tile::SpanShape<ByWarp<Config>>;
  const tile::SpanTeam<Shape> team(nullptr);
  const auto* attn = static_cast<const typename Config::Element*>(p.attn) + row * p.attn_row_stride;
#pragma unroll 1
  for (u32 g = threadIdx.x % Config::kThreadsPerRow / 32; g < Config::kGroups; g += Config::kThreadsPerRow / 32) {
    const AttnRow<Config> group{attn + g * Config::kDim};
    tile::Spans<ByWarp<Config>, AttnRow<Config>> spans(team, group);
    const tile::RowMoments moments = tile::span_moments(spans, team, p.eps);
    if (team.leads()) groups[g] = moments;
  }
  __syncthreads();
}

template <class Config>
constexpr int kGroupBytes = Config::kGroups > 1 ? static_cast<int>(sizeof(tile::RowMoments)) * Config::kGroups : 0;

}  // namespace norm_mul

template <class Config>
constexpr int norm_mul_fp8_smem_bytes = tile::SpanShape<Config>::kSmemBytes +
                                        (tile::SpanShape<Config>::kRowsPerBlock * norm_mul::kGroupBytes<Config>);

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    norm_mul_fp8_sm80(const __grid_constant__ NormMulParams p) {
  using Shape = tile::SpanShape<Config>;
  using OutRow = norm_mul::OutRow<Config>;
  extern __shared__ __align__(1024) unsigned char smem[];
  const tile::SpanBlock<Shape> block(p.rows);
  auto* groups = reinterpret_cast<tile::RowMoments*>(smem + Shape::kSmemBytes) + block.team * Config::kGroups;
  tile::RowMoments moments = {};
  if constexpr (Config::kGroups > 1) {
    norm_mul::group_moments<Config>(groups, p, block.row);
  } else {
    using Row = norm_mul::AttnRow<Config>;
    const tile::SpanTeam<Shape> team(smem);
    const Row row{static_cast<const typename Config::Element*>(p.attn) + block.row * p.attn_row_stride};
    tile::Spans<Config, Row> spans(team, row);
    moments = tile::span_moments(spans, team, p.eps);
  }
  const tile::SpanTeam<tile::SpanShape<OutRow>> team(smem);
  const norm_mul::SpanRow<Config> row(p, block.row, groups);
  tile::Spans<OutRow, norm_mul::SpanRow<Config>> spans(team, row);
  tile::quantise_spans(p, spans, row, moments, block, team);
}

}  // namespace hstu
