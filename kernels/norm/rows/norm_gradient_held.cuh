// The gradient of a norm whose rows a team holds in registers, with their sums over columns. A team takes one row after
// the other; the next kRowsAhead are in flight to shared memory, where each thread has its own pieces. No barrier in
// teams within a warp.
#pragma once
#include "norm/rows/norm_gradient_rows.cuh"

namespace hstu::tile {

template <class Config>
class HeldNormRows {
  using Kernel = NormGradient<Config>;
  using Shape = typename Kernel::Shape;
  using Element = typename Config::Element;
  using Weight = typename Config::Weight;
  using Pack = RowPack<Element, Shape::kVector>;
  using Values = float[Shape::kVector];
  // A thread's part of the inputs of a row; x and dout become xhat and the gradient of what the norm gave.
  struct Row {
    float x[1][Shape::kAccesses][Shape::kVector];
    Values dout[Shape::kAccesses], direct[Kernel::kHasDirect ? Shape::kAccesses : 1];
    RowPacks<Shape, Element> dresidual;
    PartMoments moments;
  };

  const RowNormBwdParams& p_;
  const RowTeam<Shape>& team_;
  const GridStrideRows<Shape>& rows_;
  const typename Kernel::Prefetched prefetched_;
  const typename Kernel::PrefetchedMoments prefetched_moments_;
  RowPacks<Shape, Weight> weight_, bias_;

 public:
  typename Kernel::HeldSums sums;

  // Starts the first rows. smem: Kernel::kRowsBytes
  HSTU_PRIM HeldNormRows(const RowNormBwdParams& p, const RowTeam<Shape>& team, const GridStrideRows<Shape>& rows,
                         const unsigned char* smem)
      : p_(p), team_(team), rows_(rows), prefetched_(smem), prefetched_moments_(smem + Kernel::Prefetched::kSmemBytes) {
#pragma unroll
    for (int slot = 0; slot < Config::kRowsAhead; ++slot) start(slot, slot, 0);
    if constexpr (Kernel::kReadsWeight) load_row<Shape>(weight_, static_cast<const Weight*>(p.weight), team);
    if constexpr (Kernel::kReadsBias) load_row<Shape>(bias_, static_cast<const Weight*>(p.bias), team);
  }

  // All steps of a block. exchange: places for two rounds.
  HSTU_PRIM void run(RowPartial* exchange) {
    int slot = 0;
#pragma unroll 1
    for (int step = 0; step < rows_.steps; ++step) {
      prefetched_.template wait<Config::kRowsAhead - 1>();
      Row row;
      const u32 consumed = read(row, slot);
      start(slot, step + Config::kRowsAhead, consumed);
      process_row(row, step, exchange);
      slot = slot + 1 == Config::kRowsAhead ? 0 : slot + 1;
    }
    prefetched_.wait();  // copies of rows that there are not write zeros where the sums will stand
  }

 private:
  HSTU_PRIM static int piece(int slot, int input, int access) {
    return (slot * Kernel::kInputs + input) * Shape::kAccesses + access;
  }
  HSTU_PRIM void start_input(int slot, int input, const void* tensor, i64 offset, bool has, u32 consumed) const {
    const Element* mine = prim::opaque(static_cast<const Element*>(tensor) + offset + team_.column(0));
#pragma unroll
    for (int a = 0; a < Shape::kAccesses; ++a)
      prefetched_.start(piece(slot, input, a), mine + a * Shape::kStep, has && team_.holds(a), consumed);
  }
  // A row that is none, or what lies beyond its end, becomes zeros.
  HSTU_PRIM void start(int slot, int step, u32 consumed) const {
    const bool has = step < rows_.rows;
    const i64 row = rows_.row(step);
    start_input(slot, Kernel::kX, p_.x, row * p_.x_row_stride, has, consumed);
    start_input(slot, Kernel::kDout, p_.dout, row * p_.dout_row_stride, has, consumed);
    if constexpr (Config::kHasDresidual)
      start_input(slot, Kernel::kDresidual, p_.dresidual, row * p_.dresidual_row_stride, has, consumed);
    if constexpr (Config::kHasMoments)
      prefetched_moments_.start(slot, p_.moments + row * p_.moments_row_stride, has, consumed);
    prefetched_.commit();
  }
  // Returns words that depend on all that was read.
  HSTU_PRIM u32 read(Row& row, int slot) const {
    u32 consumed = 0;
#pragma unroll
    for (int a = 0; a < Shape::kAccesses; ++a) {
      Pack packed;
      prefetched_.read(packed, piece(slot, Kernel::kX, a));
      unpack(row.x[0][a], packed);
      consumed ^= packed.word[0];
      prefetched_.read(packed, piece(slot, Kernel::kDout, a));
      unpack(row.dout[a], packed);
      consumed ^= packed.word[0];
      if constexpr (Config::kHasDresidual) {
        prefetched_.read(row.dresidual[a], piece(slot, Kernel::kDresidual, a));
        consumed ^= row.dresidual[a].word[0];
      }
    }
    if constexpr (Config::kHasMoments) {
      RowPack<float, 2> packed;
      prefetched_moments_.read(packed, slot);
      row.moments = {__uint_as_float(packed.word[0]), __uint_as_float(packed.word[1])};
      consumed ^= packed.word[0];
    }
    return consumed;
  }

  HSTU_PRIM void apply_weight(Values& g, const Values& of_norm, int access) const {
    Values w;
    if constexpr (Config::kHasWeight) unpack(w, weight_[access]);
#pragma unroll
    for (int v = 0; v < Shape::kVector; ++v) g[v] = Config::kHasWeight ? of_norm[v] * w[v] : of_norm[v];
  }

  // Mean and rstd, and in one round all that dx needs.
  HSTU_PRIM RowGradient statistics_of(const Row& row, RowPartial* exchange) const {
    if constexpr (Config::kHasMoments) {
      return given_statistics<Config>(row.moments, p_.eps);
    } else if constexpr (Config::kCentred) {
      RowMoments moments[1];
      row_moments<true, Shape, Element>(moments, row.x, team_, exchange, p_.eps);
      return {moments[0].pivot + moments[0].rest, moments[0].rstd, 0.0f, 0.0f};
    } else if constexpr (Kernel::kOneRound) {
      RmsSums<Config> of_row;
#pragma unroll
      for (int a = 0; a < Shape::kAccesses; ++a) {
        Values g;
        apply_weight(g, row.dout[a], a);
#pragma unroll
        for (int v = 0; v < Shape::kVector; ++v) of_row.add(g[v], row.x[0][a][v]);
      }
      return of_row.template finish<Shape>(exchange, p_.eps);
    } else {
      float squares[1] = {};
#pragma unroll
      for (int a = 0; a < Shape::kAccesses; ++a) {
#pragma unroll
        for (int v = 0; v < Shape::kVector; ++v) squares[0] = __fmaf_rn(row.x[0][a][v], row.x[0][a][v], squares[0]);
      }
      team_sums<Shape>(squares, exchange);
      return {0.0f, rstd_of<Shape::kDim>(squares[0], p_.eps), 0.0f, 0.0f};
    }
  }
  // xhat in the place of x, the gradient of what the norm gave in that of dout.
  HSTU_PRIM void normalise(Row& row, const RowGradient& gradient) const {
#pragma unroll
    for (int a = 0; a < Shape::kAccesses; ++a) {
      Values norm, bias = {};
      float raw[Shape::kVector];
#pragma unroll
      for (int v = 0; v < Shape::kVector; ++v) {
        raw[v] = row.x[0][a][v];
        row.x[0][a][v] = gradient.normalised(raw[v]);
      }
      if constexpr (Kernel::kReadsNorm) {
        apply_weight(norm, row.x[0][a], a);
        if constexpr (Kernel::kReadsBias) unpack(bias, bias_[a]);
#pragma unroll
        for (int v = 0; v < Shape::kVector; ++v) {
          const ResultGradient of_result =
              Kernel::Output::template apply<Element>(row.dout[a][v], raw[v], norm[v] + bias[v]);
          row.dout[a][v] = of_result.of_norm;
          if constexpr (Kernel::kHasDirect) row.direct[a][v] = of_result.direct;
        }
      }
    }
  }

  HSTU_PRIM void process_row(Row& row, int step, RowPartial* exchange) {
    RowGradient gradient = statistics_of(row, Kernel::exchange_of(exchange, step, 0));
    normalise(row, gradient);
    if constexpr (Config::kHasDx && !Kernel::kOneRound) {
      NormGradientSums<Config> of_row;
#pragma unroll
      for (int a = 0; a < Shape::kAccesses; ++a) {
        Values g;
        apply_weight(g, row.dout[a], a);
#pragma unroll
        for (int v = 0; v < Shape::kVector; ++v) of_row.add(g[v], row.x[0][a][v]);
      }
      of_row.template finish<Shape>(gradient, Kernel::exchange_of(exchange, step, 1));
    }
    RowPacks<Shape, Element> dx;
#pragma unroll
    for (int a = 0; a < Shape::kAccesses; ++a) {
      if (step < rows_.valid_rows) {
        if constexpr (Config::kHasDweight) sums.add_products(0, a, row.dout[a], row.x[0][a]);
        if constexpr (Config::kHasDbias) sums.add(Kernel::kDbias, a, row.dout[a]);
      }
      if constexpr (Config::kHasDx) result(dx[a], row, a, gradient);
    }
    if constexpr (Config::kHasDx) {
      if (step < rows_.rows)
        store_row<Shape>(static_cast<Element*>(p_.dx) + rows_.row(step) * p_.dx_row_stride, dx, team_);
    }
  }
  HSTU_PRIM void result(Pack& dx, const Row& row, int access, const RowGradient& gradient) const {
    Values value, more = {};
    apply_weight(value, row.dout[access], access);
    if constexpr (Config::kHasDresidual) unpack(more, row.dresidual[access]);
#pragma unroll
    for (int v = 0; v < Shape::kVector; ++v) {
      value[v] = gradient.dx(row.x[0][access][v], value[v]);
      if constexpr (Kernel::kHasDirect) value[v] += row.direct[access][v];
      if constexpr (Config::kHasDresidual) value[v] += more[v];
    }
    pack(dx, value);
  }
};

}  // namespace hstu::tile
