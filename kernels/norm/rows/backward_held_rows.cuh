// The gradient of rows whose sums over columns a team holds in registers. A team takes one row after the other; the
// next kRowsAhead are on their way to shared memory, where each thread has its own pieces. No barrier in teams within a
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
  const DealtRows<Shape>& rows_;
  const typename Kernel::Ahead ahead_;
  const typename Kernel::AheadMoments ahead_moments_;
  RowPacks<Shape, Weight> weight_;

 public:
  typename Kernel::HeldSums sums;

  // Starts the first rows. smem: Kernel::kRowsBytes
  HSTU_PRIM HeldRows(const LayerNormBwdParams& p, const RowTeam<Shape>& team, const DealtRows<Shape>& rows,
                     const unsigned char* smem)
      : p_(p), team_(team), rows_(rows), ahead_(smem), ahead_moments_(smem + Kernel::Ahead::kSmemBytes) {
#pragma unroll
    for (int slot = 0; slot < Config::kRowsAhead; ++slot) start(slot, slot, 0);
    if constexpr (kReadsWeight) load_row<Shape>(weight_, static_cast<const Weight*>(p.weight), team);
  }

  // All turns of a block. exchange: places for two rows.
  HSTU_PRIM void run(GradientSums* exchange) {
    int slot = 0;
#pragma unroll 1
    for (int turn = 0; turn < rows_.turns; ++turn) {
      ahead_.template wait<Config::kRowsAhead - 1>();
      Row row;
      const u32 taken = read(row, slot);
      start(slot, turn + Config::kRowsAhead, taken);
      take(row, turn, exchange + turn % 2 * Shape::kBlockWarps);
      slot = slot + 1 == Config::kRowsAhead ? 0 : slot + 1;
    }
  }

 private:
  HSTU_PRIM static int piece(int slot, int input, int access) {
    return (slot * Kernel::kInputs + input) * Shape::kAccesses + access;
  }
  HSTU_PRIM void start_input(int slot, int input, const void* tensor, i64 offset, bool has, u32 taken) const {
    const Element* mine = prim::settled(static_cast<const Element*>(tensor) + offset + team_.column(0));
#pragma unroll
    for (int a = 0; a < Shape::kAccesses; ++a)
      ahead_.start(piece(slot, input, a), mine + a * Shape::kStep, has && team_.holds(a), taken);
  }
  // A row that is none, or what lies beyond its end, becomes zeros.
  HSTU_PRIM void start(int slot, int turn, u32 taken) const {
    const bool has = turn < rows_.rows;
    const i64 row = rows_.row(turn);
    if constexpr (Kernel::kReadsX) start_input(slot, Kernel::kX, p_.x, row * p_.x_row_stride, has, taken);
    start_input(slot, Kernel::kDout, p_.dout, row * p_.dout_row_stride, has, taken);
    if constexpr (Config::kHasDresidual)
      start_input(slot, Kernel::kDresidual, p_.dresidual, row * p_.dresidual_row_stride, has, taken);
    if constexpr (Kernel::kReadsMoments)
      ahead_moments_.start(slot, p_.moments + row * p_.moments_row_stride, has, taken);
    ahead_.commit();
  }
  // Returns words that depend on all that was read.
  HSTU_PRIM u32 read(Row& row, int slot) const {
    u32 taken = 0;
#pragma unroll
    for (int a = 0; a < Shape::kAccesses; ++a) {
      Pack packed;
      ahead_.take(packed, piece(slot, Kernel::kDout, a));
      unpack(row.dout[a], packed);
      taken ^= packed.word[0];
      if constexpr (Kernel::kReadsX) {
        ahead_.take(packed, piece(slot, Kernel::kX, a));
        unpack(row.x[a], packed);
        taken ^= packed.word[0];
      }
      if constexpr (Config::kHasDresidual) {
        ahead_.take(row.dresidual[a], piece(slot, Kernel::kDresidual, a));
        taken ^= row.dresidual[a].word[0];
      }
    }
    if constexpr (Kernel::kReadsMoments) {
      RowPack<float, 2> packed;
      ahead_moments_.take(packed, slot);
      row.moments = {__uint_as_float(packed.word[0]), __uint_as_float(packed.word[1])};
      taken ^= packed.word[0];
    }
    return taken;
  }
  HSTU_PRIM void weigh(Values& g, const Values& dout, int access) const {
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
      if constexpr (Config::kHasDx) weigh(g, row.dout[a], a);
#pragma unroll
      for (int v = 0; v < Shape::kVector; ++v) sums.add(team_.holds(a) ? row.x[a][v] : sums.pivot, g[v], Kernel::kRest);
    }
    if constexpr (Config::kHasMoments) sums.squares = row.moments.squares;
    return finish_row<Config::kHasMoments, Kernel::kRest, Shape>(sums, exchange, p_.eps);
  }

  HSTU_PRIM void take(const Row& row, int turn, GradientSums* exchange) {
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
      if (turn < rows_.valid_rows) {
        if constexpr (Config::kHasDweight) sums.add_products(0, a, row.dout[a], xhat);
        if constexpr (Config::kHasDbias) sums.add(Kernel::kDbias, a, row.dout[a]);
      }
      if constexpr (Config::kHasDx) result(dx[a], row, a, xhat, gradient);
    }
    if constexpr (Config::kHasDx) {
      if (turn < rows_.rows)
        store_row<Shape>(static_cast<Element*>(p_.dx) + rows_.row(turn) * p_.dx_row_stride, dx, team_);
    }
  }
  HSTU_PRIM void result(Pack& dx, const Row& row, int access, const Values& xhat, const RowGradient& gradient) const {
    Values value, more = {};
    weigh(value, row.dout[access], access);
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
