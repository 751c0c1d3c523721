// RMS norm of whole rows, rotary position embedding of their heads, and quantisation to FP8, sm80, whatever the rows'
// length and alignment and the heads' length: the results of rms_norm_rope_sm80, quantised. Design:
// norm/rows/norm_spans.cuh.
//
// A result needs x at its column and half a head away, which may lie in a span of another warp; so it is read again,
// mostly from L1. Rows are not held (kHeldSpans is 0): ptxas then issues what all results need at once, and spills.
//
// Config    besides norm/rows/norm_spans.cuh's: Weight, Angle; kHalf (of a head, a multiple of kVector); kCentred
//           false.
#pragma once
#include "norm/rms_norm_rope_sm80.cuh"
#include "norm/rows/norm_spans.cuh"

namespace hstu {

namespace rope {

template <class Config>
struct SpanRow : Row<Config> {
  using Weight = typename Config::Weight;
  const Weight* weight;

  HSTU_PRIM SpanRow(const RmsNormRopeParams& p, i64 row)
      : Row<Config>(p, row), weight(static_cast<const Weight*>(p.weight)) {}

  HSTU_PRIM const typename Config::Element* at(u32 column) const { return this->x + column; }

  template <int Count>
  HSTU_PRIM void result(float (&value)[Count], u32 column, const tile::RowMoments& moments) const {
    constexpr u32 kHalf = Config::kHalf;
    const bool second = column / kHalf % 2 != 0;  // half of the head
    const u32 partner = second ? column - kHalf : column + kHalf, angle = column % kHalf;
    tile::RowPack<typename Config::Element, Count> other;
    tile::RowPack<Weight, Count> pack;
    tile::RowPack<typename Config::Angle, Count> angles;
    float x[Count], w[Count], other_w[Count], cosine[Count], sine[Count];
    tile::load(other, this->x + partner);
    tile::unpack(x, other);
    tile::load(pack, weight + column);
    tile::unpack(w, pack);
    tile::load(pack, weight + partner);
    tile::unpack(other_w, pack);
    tile::load(angles, this->cosine + angle);
    tile::unpack(cosine, angles);
    tile::load(angles, this->sine + angle);
    tile::unpack(sine, angles);
#pragma unroll
    for (int v = 0; v < Count; ++v) {
      const float own = value[v] * moments.rstd * w[v], rotated_in = x[v] * moments.rstd * other_w[v] * sine[v];
      value[v] = __fmaf_rn(own, cosine[v], second ? rotated_in : -rotated_in);
    }
  }
};

}  // namespace rope

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    rms_norm_rope_fp8_sm80(const __grid_constant__ RmsNormRopeParams p) {
  static_assert(Config::kHalf % Config::kVector == 0, "an access lies within half a head");
  tile::norm_spans<Config, rope::SpanRow<Config>>(p);
}

}  // namespace hstu
