// The gradient of groups too long for registers: the whole block takes one, and reads it again for each step, mostly
// from L2.
#pragma once
#include "norm/rows/group_gradient.cuh"

namespace hstu::tile {

template <class Config>
class LongGroups {
  using Kernel = GroupGradient<Config>;
  using Shape = typename Kernel::Shape;
  using Element = typename Config::Element;
  using Pack = RowPack<Element, Shape::kVector>;
  using Values = float[Shape::kVector];

  const LayerNormBwdParams& p_;
  const RowTeam<Shape>& team_;
  const GroupTurn<Config>& turn_;
  const float weight_;

 public:
  HSTU_PRIM LongGroups(const LayerNormBwdParams& p, const RowTeam<Shape>& team, const GroupTurn<Config>& turn)
      : p_(p), team_(team), turn_(turn), weight_(weight_of<Config>(p, turn.group)) {}

  // A block without a row leaves: its one team is the block.
  HSTU_PRIM void run(TeamSums& sums, GradientSums* exchange) const {
#pragma unroll 1
    for (int step = 0; step < turn_.rows; ++step) {
      const RowGradient gradient = gradient_of(step, exchange + step % 2 * Shape::kBlockWarps);
      if (step < turn_.valid_rows) sums.template add<Shape::kDim>(gradient);
      if constexpr (Config::kHasDx) write_dx(step, gradient);
    }
  }

 private:
  template <class Do>
  HSTU_PRIM void each_column(const Do& f) const {
#pragma unroll 2
    for (int a = 0; a < Shape::kAccesses; ++a)
      if (team_.holds(a)) f(team_.column(a));
  }
  HSTU_PRIM static void read(Values& to, const void* tensor, i64 offset) {
    Pack packed;
    tile::load(packed, static_cast<const Element*>(tensor) + offset);
    unpack(to, packed);
  }

  HSTU_PRIM RowGradient gradient_of(int step, GradientSums* exchange) const {
    const i64 x_at = turn_.offset(step, p_.x_row_stride), dout_at = turn_.offset(step, p_.dout_row_stride);
    GradientSums sums = {};
    float squares = known_squares<Config>();
    if constexpr (Kernel::kReadsMoments) {
      const prim::Pair pair = prim::ld_global8(p_.moments + turn_.moments_offset(step, p_.moments_row_stride));
      sums.pivot = __uint_as_float(pair.word[0]);
      squares = __uint_as_float(pair.word[1]);
    } else if constexpr (Kernel::kReadsX) {
      float sum = 0.0f;
      each_column([&](int column) {
        Values x;
        read(x, p_.x, x_at + column);
        sum += sum_of(x);
      });
      sums.pivot = warp_pivot<Shape>(sum);
    }
    each_column([&](int column) {
      Values x, dout;
      if constexpr (Kernel::kReadsX) read(x, p_.x, x_at + column);
      read(dout, p_.dout, dout_at + column);
#pragma unroll
      for (int v = 0; v < Shape::kVector; ++v) sums.add(Kernel::kReadsX ? x[v] : sums.pivot, dout[v], Kernel::kRest);
    });
    if constexpr (Kernel::kKnown) sums.squares = squares;
    return finish_row<Kernel::kKnown, Kernel::kRest, Shape>(sums, exchange, p_.eps);
  }

  HSTU_PRIM void write_dx(int step, const RowGradient& gradient) const {
    const i64 x_at = turn_.offset(step, p_.x_row_stride), dout_at = turn_.offset(step, p_.dout_row_stride);
    const i64 more_at = turn_.offset(step, p_.dresidual_row_stride), dx_at = turn_.offset(step, p_.dx_row_stride);
    const RowGradient of_dx = weighted(gradient, weight_);
    each_column([&](int column) {
      Values x, dout, more = {}, value;
      read(x, p_.x, x_at + column);
      read(dout, p_.dout, dout_at + column);
      if constexpr (Config::kHasDresidual) read(more, p_.dresidual, more_at + column);
#pragma unroll
      for (int v = 0; v < Shape::kVector; ++v) value[v] = of_dx.dx(gradient.normalised(x[v]), dout[v]) + more[v];
      Pack packed;
      pack(packed, value);
      store(static_cast<Element*>(p_.dx) + dx_at + column, packed);
    });
  }
};

}  // namespace hstu::tile
