// The gradient of rows whose sums over columns a team holds in registers. A team takes one row after the other; the
// next kRowsAhead are in flight to shared memory, where each thread has its own pieces. No barrier in teams within a
// warp.
#pragma once
#include "norm/rows/backward_rows.cuh"

namespace hstu::tile {

template <class Config>
class HeldRows {
  using Kernel = LayerNormBwd<Config>;
  using Shape = typename Kernel::Shape;
  using Element = typename Config::Element;
  using Weight = typename Config::Weight;
  using Pack = RowPack<Element, Shape::kVector>;
  using Values = float[Shape::kVector];
  enum : bool { kReadsWeight = Config::kHasWeight && Config::kHasDx };
  // A thread's part of the inputs of a row.
  struct Row {
    Values x[Shape::kAccesses], dout[Shape::kAccesses];
    RowPacks<Shape, Element> dresidual;
    PartMoments moments;
  };

  const LayerNormBwdParams& p_;
  const RowTeam<Shape>& team_;
  const GridStrideRows<Shape>& rows_;
  const typename Kernel::Prefetched prefetched_;
  const typename Kernel::PrefetchedMoments prefetched_moments_;
  RowPacks<Shape, Weight> weight_;

 public:
  typename Kernel::HeldSums sums;

  // Starts the first rows. smem: Kernel::kRowsBytes
  HSTU_PRIM HeldRows(const LayerNormBwdParams& p, const RowTeam<Shape>& team, const GridStrideRows<Shape>& rows,
                     const unsigned char* smem)
      : p_(p), team_(team), rows_(rows), prefetched_(smem), prefetched_moments_(smem + Kernel::Prefetched::kSmemBytes) {
#pragma unroll
    for (int slot = 0; slot < Config::kRowsAhead; ++slot) start(slot, slot, 0);
    if constexpr (kReadsWeight) load_row<Shape>(weight_, static_cast<const Weight*>(p.weight), team);
  }

  // All steps of a block. exchange: places for two rows.
  HSTU_PRIM void run(GradientSums* exchange) {
    int slot = 0;
#pragma unroll 1
    for (int step = 0; step < rows_.steps; ++step) {
      prefetched_.template wait<Config::kRowsAhead - 1>();
      Row row;
      const u32 consumed = read(row, slot);
      start(slot, step + Config::kRowsAhead, consumed);
      process_row(row, step, exchange + step % 2 * Shape::kBlockWarps);
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
    if constexpr (Kernel::kReadsX) start_input(slot, Kernel::kX, p_.x, row * p_.x_row_stride, has, consumed);
    start_input(slot, Kernel::kDout, p_.dout, row * p_.dout_row_stride, has, consumed);
    if constexpr (Config::kHasDresidual)
      start_input(slot, Kernel::kDresidual, p_.dresidual, row * p_.dresidual_row_stride, has, consumed);
    if constexpr (Kernel::kReadsMoments)
      prefetched_moments_.start(slot, p_.moments + row * p_.moments_row_stride, has, consumed);
    prefetched_.commit();
  }
  // Returns words that depend on all that was read.
  HSTU_PRIM u32 read(Row& row, int slot) const {
    u32 consumed = 0;
#pragma unroll
    for (int a = 0; a < Shape::kAccesses; ++a) {
      Pack packed;
      prefetched_.read(packed, piece(slot, Kernel::kDout, a));
      unpack(row.dout[a], packed);
      consumed ^= packed.word[0];
      if constexpr (Kernel::kReadsX) {
        prefetched_.read(packed, piece(slot, Kernel::kX, a));
        unpack(row.x[a], packed);
        consumed ^= packed.word[0];
      }
      if constexpr (Config::kHasDresidual) {
        prefetched_.read(row.dresidual[a], piece(slot, Kernel::kDresidual, a));
        consumed ^= row.dresidual[a].word[0];
      }
    }
    if constexpr (Kernel::kReadsMoments) {
      RowPack<float, 2> packed;
      prefetched_moments_.read(packed, slot);
      row.moments = {__uint_as_float(packed.word[0]), __uint_as_float(packed.word[1])};
      consumed ^= packed.word[0];
    }
    return consumed;
  }
  HSTU_PRIM void apply_weight(Values& g, const Values& dout, int access) const {
    Values w;
    if constexpr (Config::kHasWeight) unpack(w, weight_[access]);
#pragma unroll
    for (int v = 0; v < Shape::kVector; ++v) g[v] = Config::kHasWeight ? dout[v] * w[v] : dout[v];
  }
  HSTU_PRIM RowGradient gradient_of(const Row& row, GradientSums* exchange) const {
    GradientSums sums = {};
    if constexpr (Config::kHasMoments) {
      sums.pivot = row.moments.mean;
    } else {
      float sum = 0.0f;
#pragma unroll
      for (int a = 0; a < Shape::kAccesses; ++a) sum += sum_of(row.x[a]);
      sums.pivot = warp_pivot<Shape>(sum);
    }
#pragma unroll
    for (int a = 0; a < Shape::kAccesses; ++a) {
      Values g = {};
      if constexpr (Config::kHasDx) apply_weight(g, row.dout[a], a);
#pragma unroll
      for (int v = 0; v < Shape::kVector; ++v) sums.add(team_.holds(a) ? row.x[a][v] : sums.pivot, g[v], Kernel::kRest);
    }
    if constexpr (Config::kHasMoments) sums.squares = row.moments.squares;
    return finish_row<Config::kHasMoments, Kernel::kRest, Shape>(sums, exchange, p_.eps);
  }

  HSTU_PRIM void process_row(const Row& row, int step, GradientSums* exchange) {
    RowGradient gradient = {};
    if constexpr (Kernel::kReadsX) gradient = gradient_of(row, exchange);
    RowPacks<Shape, Element> dx;
#pragma unroll
    for (int a = 0; a < Shape::kAccesses; ++a) {
      Values xhat = {};
      if constexpr (Kernel::kReadsX) {
#pragma unroll
        for (int v = 0; v < Shape::kVector; ++v) xhat[v] = gradient.normalised(row.x[a][v]);
      }
      if (step < rows_.valid_rows) {
        if constexpr (Config::kHasDweight) sums.add_products(0, a, row.dout[a], xhat);
        if constexpr (Config::kHasDbias) sums.add(Kernel::kDbias, a, row.dout[a]);
      }
      if constexpr (Config::kHasDx) result(dx[a], row, a, xhat, gradient);
    }
    if constexpr (Config::kHasDx) {
      if (step < rows_.rows)
        store_row<Shape>(static_cast<Element*>(p_.dx) + rows_.row(step) * p_.dx_row_stride, dx, team_);
    }
  }
  HSTU_PRIM void result(Pack& dx, const Row& row, int access, const Values& xhat, const RowGradient& gradient) const {
    Values value, more = {};
    apply_weight(value, row.dout[access], access);
    if constexpr (Config::kHasDresidual) unpack(more, row.dresidual[access]);
#pragma unroll
    for (int v = 0; v < Shape::kVector; ++v) {
      value[v] = gradient.dx(xhat[v], value[v]);
      if constexpr (Config::kHasDresidual) value[v] += more[v];
    }
    pack(dx, value);
  }
};

}  // namespace hstu::tile
