// The gradient of rows too long for registers: the whole block takes one, and reads it again for each step, mostly from
// L2. A thread has the same columns in each, so sums over rows need no barrier.
#pragma once
#include "norm/rows/backward_rows.cuh"

namespace hstu::tile {

template <class Config>
class LongRows {
  using Kernel = LayerNormBwd<Config>;
  using Shape = typename Kernel::Shape;
  using Element = typename Config::Element;
  using Weight = typename Config::Weight;
  using Pack = RowPack<Element, Shape::kVector>;
  using Values = float[Shape::kVector];

  const LayerNormBwdParams& p_;
  const RowTeam<Shape>& team_;
  float* sums_;  // [kSums, kPitch], in shared memory or the block's partials

 public:
  HSTU_PRIM LongRows(const LayerNormBwdParams& p, const RowTeam<Shape>& team, float* sums)
      : p_(p), team_(team), sums_(sums) {}

  HSTU_PRIM void run(const GridStrideRows<Shape>& rows, GradientSums* exchange, float* partials) const {
    each_column([&](int column) {
      const Values zero = {};
#pragma unroll
      for (int s = 0; s < Kernel::kSums; ++s) write(sums_, s, column, zero);
    });
#pragma unroll 1
    for (int step = 0; step < rows.steps; ++step)
      process_row(rows.row(step), step < rows.valid_rows, exchange + step % 2 * Shape::kBlockWarps);
    if (sums_ == partials) return;
    each_column([&](int column) {
#pragma unroll
      for (int s = 0; s < Kernel::kSums; ++s) {
        Values sum;
        read(sum, sums_, s, column);
        write(partials, s, column, sum);
      }
    });
  }

 private:
  template <class Do>
  HSTU_PRIM void each_column(const Do& f) const {
#pragma unroll 2
    for (int a = 0; a < Shape::kAccesses; ++a)
      if (team_.holds(a)) f(team_.column(a));
  }
  HSTU_PRIM static void read(Values& to, const float* sums, int sum, int column) {
#pragma unroll
    for (int v = 0; v < Shape::kVector; ++v) to[v] = sums[sum * Kernel::kPitch + column + v];
  }
  HSTU_PRIM static void write(float* sums, int sum, int column, const Values& from) {
#pragma unroll
    for (int v = 0; v < Shape::kVector; ++v) sums[sum * Kernel::kPitch + column + v] = from[v];
  }
  template <class From>
  HSTU_PRIM static void read_row(Values& to, const void* tensor, i64 offset) {
    RowPack<From, Shape::kVector> packed;
    tile::load(packed, static_cast<const From*>(tensor) + offset);
    unpack(to, packed);
  }
  HSTU_PRIM void read_g(Values& g, const Values& dout, int column) const {
    Values w;
    if constexpr (Config::kHasWeight) read_row<Weight>(w, p_.weight, column);
#pragma unroll
    for (int v = 0; v < Shape::kVector; ++v) g[v] = Config::kHasWeight ? dout[v] * w[v] : dout[v];
  }

  HSTU_PRIM RowGradient sums_of(i64 row, GradientSums* exchange) const {
    GradientSums sums = {};
    if constexpr (Config::kHasMoments) {
      const PartMoments moments = moments_of(p_, row);
      sums.pivot = moments.mean;
      sums.squares = moments.squares;
    } else {
      float sum = 0.0f;
      each_column([&](int column) {
        Values x;
        read_row<Element>(x, p_.x, row * p_.x_row_stride + column);
        sum += sum_of(x);
      });
      sums.pivot = warp_pivot<Shape>(sum);
    }
    const float squares = sums.squares;
    each_column([&](int column) {
      Values x, dout, g = {};
      read_row<Element>(x, p_.x, row * p_.x_row_stride + column);
      if constexpr (Config::kHasDx) {
        read_row<Element>(dout, p_.dout, row * p_.dout_row_stride + column);
        read_g(g, dout, column);
      }
#pragma unroll
      for (int v = 0; v < Shape::kVector; ++v) sums.add(x[v], g[v], Kernel::kRest);
    });
    if constexpr (Config::kHasMoments) sums.squares = squares;
    return finish_row<Config::kHasMoments, Kernel::kRest, Shape>(sums, exchange, p_.eps);
  }

  HSTU_PRIM void process_row(i64 row, bool counts, GradientSums* exchange) const {
    RowGradient gradient = {};
    if constexpr (Kernel::kReadsX) gradient = sums_of(row, exchange);
    each_column([&](int column) {
      Values x, dout;
      read_row<Element>(dout, p_.dout, row * p_.dout_row_stride + column);
      if constexpr (Kernel::kReadsX) {
        read_row<Element>(x, p_.x, row * p_.x_row_stride + column);
#pragma unroll
        for (float& value : x) value = gradient.normalised(value);
      }
      if (counts) add_to_sums(x, dout, column);
      if constexpr (Config::kHasDx) write_dx(row, column, x, dout, gradient);
    });
  }
  HSTU_PRIM void add_to_sums(const Values& xhat, const Values& dout, int column) const {
    Values sum;
    if constexpr (Config::kHasDweight) {
      read(sum, sums_, 0, column);
#pragma unroll
      for (int v = 0; v < Shape::kVector; ++v) sum[v] = __fmaf_rn(dout[v], xhat[v], sum[v]);
      write(sums_, 0, column, sum);
    }
    if constexpr (Config::kHasDbias) {
      read(sum, sums_, Kernel::kDbias, column);
#pragma unroll
      for (int v = 0; v < Shape::kVector; ++v) sum[v] += dout[v];
      write(sums_, Kernel::kDbias, column, sum);
    }
  }
  HSTU_PRIM void write_dx(i64 row, int column, const Values& xhat, const Values& dout,
                          const RowGradient& gradient) const {
    Values g, more = {}, value;
    read_g(g, dout, column);
    if constexpr (Config::kHasDresidual) read_row<Element>(more, p_.dresidual, row * p_.dresidual_row_stride + column);
#pragma unroll
    for (int v = 0; v < Shape::kVector; ++v) value[v] = gradient.dx(xhat[v], g[v]) + more[v];
    Pack packed;
    pack(packed, value);
    store(static_cast<Element*>(p_.dx) + row * p_.dx_row_stride + column, packed);
  }
};

}  // namespace hstu::tile
