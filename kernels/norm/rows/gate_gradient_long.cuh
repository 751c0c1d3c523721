// The gradient of the HSTU output stage whose rows are too long for registers: the whole block takes one, and reads it
// again for each step, mostly from L2. A thread has the same columns in each, so sums over rows need no barrier.
#pragma once
#include "norm/rows/gate_gradient_rows.cuh"

namespace hstu::tile {

template <class Config>
class LongGateRows {
  using Kernel = GateGradient<Config>;
  using Shape = typename Kernel::Shape;
  using Segments = typename Kernel::Segments;
  using Element = typename Config::Element;
  using Weight = typename Config::Weight;
  using Pack = RowPack<Element, Shape::kVector>;
  using Values = float[Shape::kVector];
  // A thread's neighbouring elements of a row: what it read, and what follows from it.
  struct Part {
    Values x, xhat, norm, weight, of_norm, direct, du;
    Pack u;
    u32 mask;
  };

  const NormMulBwdParams& p_;
  const RowTeam<Shape>& team_;
  const TeamRows<Shape>& rows_;
  float* sums_;  // [kSums, kPitch], in shared memory or the block's partials; not of groups
  float group_weight_ = 1.0f, group_bias_ = 0.0f;

 public:
  GroupSums<Shape, Kernel::kSums ? Kernel::kSums : 1> group_sums;

  HSTU_PRIM LongGateRows(const NormMulBwdParams& p, const RowTeam<Shape>& team, const TeamRows<Shape>& rows,
                         float* sums)
      : p_(p), team_(team), rows_(rows), sums_(sums) {
    if constexpr (Config::kGroupNorm) {
      if constexpr (Kernel::kReadsWeight)
        group_weight_ = prim::to_float(static_cast<const Weight*>(p.weight)[rows.group]);
      if constexpr (Kernel::kReadsBias) group_bias_ = prim::to_float(static_cast<const Weight*>(p.bias)[rows.group]);
    }
  }

  HSTU_PRIM void run(RowPartial* exchange, float* partials) {
    constexpr bool kSums = Kernel::kSums > 0 && !Config::kGroupNorm;
    if constexpr (kSums)
      each_column([&](int column) {
        const Values zero = {};
#pragma unroll
        for (int s = 0; s < Kernel::kSums; ++s) write(sums_, s, column, zero);
      });
#pragma unroll 1
    for (int step = 0; step < rows_.steps; ++step)
      process_row(rows_.row(step), step < rows_.valid_rows, Kernel::exchange_of(exchange, step, 0),
                  Kernel::exchange_of(exchange, step, 1));
    if (!kSums || sums_ == partials) return;
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
#pragma unroll 1
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
  // Of the group's first column in a row of a tensor with one segment.
  HSTU_PRIM i64 at(i64 row, i64 stride) const { return row * stride + rows_.group * Shape::kDim; }
  // A segment's gradient, through dropout.
  HSTU_PRIM void read_dout(Values& to, i64 row, int column, int segment, u32 mask) const {
    read_row<Element>(to, p_.dout, at(row, p_.dout_row_stride) + segment * Segments::kColumns + column);
    norm_mul::drop<Config>(to, mask, segment, p_.dropout);
  }

  HSTU_PRIM RowMoments statistics_of(i64 row, RowPartial* exchange) const {
    if constexpr (Config::kParts > 0) {
      return PartStatistics<Config>::from_memory(p_, row, rows_.group);
    } else {
      return long_row_moments<Config::kCentred, Shape>(static_cast<const Element*>(p_.x) + at(row, p_.x_row_stride),
                                                       team_, exchange, p_.eps);
    }
  }

  HSTU_PRIM void read_part(Part& part, i64 row, int column, const RowMoments& m) const {
    Values bias, u, dy = {};
    part.mask = 0;
    if constexpr (Config::kDropout != norm_mul::kNoDropout)
      part.mask = norm_mul::drawn<Config>(p_.dropout, row, rows_.group * Shape::kDim + column);
    read_row<Element>(part.x, p_.x, at(row, p_.x_row_stride) + column);
    tile::load(part.u, static_cast<const Element*>(p_.u) + at(row, p_.u_row_stride) + column);
    unpack(u, part.u);
    if constexpr (Kernel::kHasGradient) read_dout(dy, row, column, Segments::kProduct, part.mask);
#pragma unroll
    for (int v = 0; v < Shape::kVector; ++v) {
      part.weight[v] = group_weight_;
      bias[v] = group_bias_;
      part.xhat[v] = (part.x[v] - m.pivot - m.rest) * m.rstd;
      part.norm[v] = 0.0f;
    }
    if constexpr (!Config::kGroupNorm) {
      if constexpr (Kernel::kReadsWeight) read_row<Weight>(part.weight, p_.weight, column);
      if constexpr (Kernel::kReadsBias) read_row<Weight>(bias, p_.bias, column);
    }
    if constexpr (Kernel::kReadsNorm) normalise<Config>(part.norm, part.x, m, part.weight, bias);
#pragma unroll
    for (int v = 0; v < Shape::kVector; ++v) {
      const ValueAndSlope factor = ActivationGradient<typename Config::Multiplier>::template apply<Element>(u[v]);
      const NormedGradient of =
          normed_gradient<typename Config::Output, Element>(dy[v] * factor.value, part.x[v], part.norm[v]);
      part.of_norm[v] = of.of_norm;
      part.direct[v] = of.direct;
      part.du[v] = dy[v] * of.t * factor.slope;
    }
  }

  HSTU_PRIM void process_row(i64 row, bool counts, RowPartial* of_statistics, RowPartial* of_gradient) {
    const RowMoments m = statistics_of(row, of_statistics);
    RowGradient gradient = {};
    if constexpr (Kernel::kJoinsGradient) {
      GateSums<Config> of_row;
      each_column([&](int column) {
        Part part;
        read_part(part, row, column, m);
#pragma unroll
        for (int v = 0; v < Shape::kVector; ++v)
          of_row.add(Config::kGroupNorm ? part.of_norm[v] : part.of_norm[v] * part.weight[v], part.xhat[v]);
      });
      of_row.join(of_gradient);
      if constexpr (Config::kGroupNorm && Kernel::kSums > 0)
        if (counts) of_row.add_to(group_sums);
      gradient = of_row.gradient(m, group_weight_);
    }
    each_column([&](int column) {
      Part part;
      read_part(part, row, column, m);
      if constexpr (Kernel::kSums > 0 && !Config::kGroupNorm)
        if (counts) add_to_sums(part, column);
      // All of the row that this thread needs is read before any of it is written.
      Values dattn = {}, dcopy = {};
      if constexpr (Kernel::kReadsDx) read_dout(dattn, row, column, Segments::kAttn, part.mask);
      if constexpr (Kernel::kReadsDcopy) read_dout(dcopy, row, column, 0, part.mask);
      if constexpr (Config::kHasOut)
        write_out<Config>(p_, row, rows_.group, column, part.x, part.norm, part.u, part.mask);
      if constexpr (Config::kHasDu) write_du(row, column, part, dcopy);
      if constexpr (Config::kHasDattn) write_dattn(row, column, part, dattn, gradient);
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
  HSTU_PRIM void write_du(i64 row, int column, const Part& part, const Values& dcopy) const {
    Values u, value;
    unpack(u, part.u);
#pragma unroll
    for (int v = 0; v < Shape::kVector; ++v) {
      value[v] = part.du[v];
      if constexpr (Kernel::kReadsDcopy)
        value[v] = __fmaf_rn(dcopy[v], ActivationGradient<typename Config::Copy>::template apply<Element>(u[v]).slope,
                             value[v]);
    }
    Pack packed;
    pack(packed, value);
    store(static_cast<Element*>(p_.du) + at(row, p_.du_row_stride) + column, packed);
  }
  HSTU_PRIM void write_dattn(i64 row, int column, const Part& part, const Values& dx,
                             const RowGradient& gradient) const {
    Values value;
#pragma unroll
    for (int v = 0; v < Shape::kVector; ++v) {
      value[v] = gradient.dx(part.xhat[v], part.of_norm[v] * part.weight[v]);
      if constexpr (Kernel::kHasDirect) value[v] += part.direct[v];
      if constexpr (Kernel::kReadsDx) value[v] += dx[v];
    }
    Pack packed;
    pack(packed, value);
    store(static_cast<Element*>(p_.dx) + at(row, p_.dx_row_stride) + column, packed);
  }
};

}  // namespace hstu::tile
