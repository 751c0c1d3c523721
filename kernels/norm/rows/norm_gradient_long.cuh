// The gradient of a norm whose rows are too long for registers: the whole block takes one, and reads it again for each
// step, mostly from L2. A thread has the same columns in each, so sums over rows need no barrier.
#pragma once
#include "norm/rows/norm_gradient_rows.cuh"

namespace hstu::tile {

template <class Config>
class LongNormRows {
  using Kernel = NormGradient<Config>;
  using Shape = typename Kernel::Shape;
  using Element = typename Config::Element;
  using Weight = typename Config::Weight;
  using Pack = RowPack<Element, Shape::kVector>;
  using Values = float[Shape::kVector];
  // A thread's neighbouring elements of a row: xhat, the gradient of what the norm gave, and what passes the norm.
  struct Part {
    Values xhat, of_norm, direct;
  };

  const RowNormBwdParams& p_;
  const RowTeam<Shape>& team_;
  float* sums_;  // [kSums, kPitch], in shared memory or the block's partials

 public:
  HSTU_PRIM LongNormRows(const RowNormBwdParams& p, const RowTeam<Shape>& team, float* sums)
      : p_(p), team_(team), sums_(sums) {}

  HSTU_PRIM void run(const GridStrideRows<Shape>& rows, RowPartial* exchange, float* partials) const {
    each_column([&](int column) {
      const Values zero = {};
#pragma unroll
      for (int s = 0; s < Kernel::kSums; ++s) write(sums_, s, column, zero);
    });
#pragma unroll 1
    for (int step = 0; step < rows.steps; ++step)
      process_row(rows.row(step), step < rows.valid_rows, Kernel::exchange_of(exchange, step, 0),
                  Kernel::exchange_of(exchange, step, 1));
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
  HSTU_PRIM void apply_weight(Values& to, const Values& from, int column) const {
    Values w;
    if constexpr (Config::kHasWeight) read_row<Weight>(w, p_.weight, column);
#pragma unroll
    for (int v = 0; v < Shape::kVector; ++v) to[v] = Config::kHasWeight ? from[v] * w[v] : from[v];
  }

  // Mean and rstd, and in one round all that dx needs.
  HSTU_PRIM RowGradient statistics_of(i64 row, RowPartial* exchange) const {
    const i64 at = row * p_.x_row_stride;
    if constexpr (Config::kHasMoments) {
      return given_statistics<Config>(moments_of(p_, row), p_.eps);
    } else if constexpr (Config::kCentred) {
      const RowMoments m =
          long_row_moments<true, Shape>(static_cast<const Element*>(p_.x) + at, team_, exchange, p_.eps);
      return {m.pivot + m.rest, m.rstd, 0.0f, 0.0f};
    } else if constexpr (Kernel::kOneRound) {
      RmsSums<Config> of_row;
      each_column([&](int column) {
        Values x, g;
        read_row<Element>(x, p_.x, at + column);
        read_row<Element>(g, p_.dout, row * p_.dout_row_stride + column);
        apply_weight(g, g, column);
#pragma unroll
        for (int v = 0; v < Shape::kVector; ++v) of_row.add(g[v], x[v]);
      });
      return of_row.template finish<Shape>(exchange, p_.eps);
    } else {
      float squares[1] = {};
      each_column([&](int column) {
        Values x;
        read_row<Element>(x, p_.x, at + column);
#pragma unroll
        for (int v = 0; v < Shape::kVector; ++v) squares[0] = __fmaf_rn(x[v], x[v], squares[0]);
      });
      team_sums<Shape>(squares, exchange);
      return {0.0f, rstd_of<Shape::kDim>(squares[0], p_.eps), 0.0f, 0.0f};
    }
  }
  HSTU_PRIM void read_part(Part& part, i64 row, int column, const RowGradient& gradient) const {
    Values x, norm, bias = {};
    read_row<Element>(x, p_.x, row * p_.x_row_stride + column);
    read_row<Element>(part.of_norm, p_.dout, row * p_.dout_row_stride + column);
#pragma unroll
    for (int v = 0; v < Shape::kVector; ++v) part.xhat[v] = gradient.normalised(x[v]);
    if constexpr (Kernel::kReadsNorm) {
      apply_weight(norm, part.xhat, column);
      if constexpr (Kernel::kReadsBias) read_row<Weight>(bias, p_.bias, column);
#pragma unroll
      for (int v = 0; v < Shape::kVector; ++v) {
        const ResultGradient of_result =
            Kernel::Output::template apply<Element>(part.of_norm[v], x[v], norm[v] + bias[v]);
        part.of_norm[v] = of_result.of_norm;
        part.direct[v] = of_result.direct;
      }
    }
  }

  HSTU_PRIM void process_row(i64 row, bool counts, RowPartial* of_statistics, RowPartial* of_gradient) const {
    RowGradient gradient = statistics_of(row, of_statistics);
    if constexpr (Config::kHasDx && !Kernel::kOneRound) {
      NormGradientSums<Config> of_row;
      each_column([&](int column) {
        Part part;
        Values g;
        read_part(part, row, column, gradient);
        apply_weight(g, part.of_norm, column);
#pragma unroll
        for (int v = 0; v < Shape::kVector; ++v) of_row.add(g[v], part.xhat[v]);
      });
      of_row.template finish<Shape>(gradient, of_gradient);
    }
    each_column([&](int column) {
      Part part;
      read_part(part, row, column, gradient);
      if (counts) add_to_sums(part, column);
      if constexpr (Config::kHasDx) write_dx(row, column, part, gradient);
    });
  }
  HSTU_PRIM void add_to_sums(const Part& part, int column) const {
    Values sum;
    if constexpr (Config::kHasDweight) {
      read(sum, sums_, 0, column);
#pragma unroll
      for (int v = 0; v < Shape::kVector; ++v) sum[v] = __fmaf_rn(part.of_norm[v], part.xhat[v], sum[v]);
      write(sums_, 0, column, sum);
    }
    if constexpr (Config::kHasDbias) {
      read(sum, sums_, Kernel::kDbias, column);
#pragma unroll
      for (int v = 0; v < Shape::kVector; ++v) sum[v] += part.of_norm[v];
      write(sums_, Kernel::kDbias, column, sum);
    }
  }
  HSTU_PRIM void write_dx(i64 row, int column, const Part& part, const RowGradient& gradient) const {
    Values value, more = {};
    apply_weight(value, part.of_norm, column);
    if constexpr (Config::kHasDresidual) read_row<Element>(more, p_.dresidual, row * p_.dresidual_row_stride + column);
#pragma unroll
    for (int v = 0; v < Shape::kVector; ++v) {
      value[v] = gradient.dx(part.xhat[v], value[v]);
      if constexpr (Kernel::kHasDirect) value[v] += part.direct[v];
      if constexpr (Config::kHasDresidual) value[v] += more[v];
    }
    Pack packed;
    pack(packed, value);
    store(static_cast<Element*>(p_.dx) + row * p_.dx_row_stride + column, packed);
  }
};

}  // namespace hstu::tile
