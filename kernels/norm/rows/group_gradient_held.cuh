// The gradient of groups that a team holds in registers. A team takes one after the other; the next kRowsAhead are in
// flight to shared memory, where each thread has its own pieces. No barrier in teams within a warp.
#pragma once
#include "norm/rows/group_gradient.cuh"

namespace hstu::tile {

template <class Config>
class HeldGroups {
  using Kernel = GroupGradient<Config>;
  using Shape = typename Kernel::Shape;
  using Element = typename Config::Element;
  using Pack = RowPack<Element, Shape::kVector>;
  using Values = float[Shape::kVector];
  // A thread's part of the inputs of a group.
  struct Row {
    Values x[Shape::kAccesses], dout[Shape::kAccesses];
    RowPacks<Shape, Element> dresidual;
    PartMoments moments;
  };

  const LayerNormBwdParams& p_;
  const RowTeam<Shape>& team_;
  const GroupTurn<Config>& turn_;
  const typename Kernel::Prefetched prefetched_;
  const typename Kernel::PrefetchedMoments prefetched_moments_;
  const float weight_;

 public:
  // Starts the first rows. smem: Kernel::kRowsBytes
  HSTU_PRIM HeldGroups(const LayerNormBwdParams& p, const RowTeam<Shape>& team, const GroupTurn<Config>& turn,
                       const unsigned char* smem)
      : p_(p),
        team_(team),
        turn_(turn),
        prefetched_(smem),
        prefetched_moments_(smem + Kernel::Prefetched::kSmemBytes),
        weight_(weight_of<Config>(p, turn.group)) {
#pragma unroll
    for (int slot = 0; slot < Config::kRowsAhead; ++slot) start(slot, slot, 0);
  }

  // All steps of a turn. exchange: places for two rows.
  HSTU_PRIM void run(TeamSums& sums, GradientSums* exchange) {
    int slot = 0;
#pragma unroll 1
    for (int step = 0; step < turn_.steps; ++step) {
      prefetched_.template wait<Config::kRowsAhead - 1>();
      Row row;
      const u32 consumed = read(row, slot);
      start(slot, step + Config::kRowsAhead, consumed);
      process_row(row, step, sums, exchange + step % 2 * Shape::kBlockWarps);
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
  // A row that is none, or what lies beyond the group's end, becomes zeros.
  HSTU_PRIM void start(int slot, int step, u32 consumed) const {
    const bool has = step < turn_.rows;
    if constexpr (Kernel::kReadsX)
      start_input(slot, Kernel::kX, p_.x, turn_.offset(step, p_.x_row_stride), has, consumed);
    start_input(slot, Kernel::kDout, p_.dout, turn_.offset(step, p_.dout_row_stride), has, consumed);
    if constexpr (Config::kHasDresidual)
      start_input(slot, Kernel::kDresidual, p_.dresidual, turn_.offset(step, p_.dresidual_row_stride), has, consumed);
    if constexpr (Kernel::kReadsMoments)
      prefetched_moments_.start(slot, p_.moments + turn_.moments_offset(step, p_.moments_row_stride), has, consumed);
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

  HSTU_PRIM RowGradient gradient_of(const Row& row, GradientSums* exchange) const {
    GradientSums sums = {};
    if constexpr (Kernel::kReadsMoments) {
      sums.pivot = row.moments.mean;
    } else if constexpr (Kernel::kReadsX) {
      float sum = 0.0f;
#pragma unroll
      for (int a = 0; a < Shape::kAccesses; ++a) sum += sum_of(row.x[a]);
      sums.pivot = warp_pivot<Shape>(sum);
    }
#pragma unroll
    for (int a = 0; a < Shape::kAccesses; ++a) {
#pragma unroll
      for (int v = 0; v < Shape::kVector; ++v)
        sums.add(Kernel::kReadsX && team_.holds(a) ? row.x[a][v] : sums.pivot, row.dout[a][v], Kernel::kRest);
    }
    if constexpr (Kernel::kKnown) sums.squares = Kernel::kReadsX ? row.moments.squares : known_squares<Config>();
    return finish_row<Kernel::kKnown, Kernel::kRest, Shape>(sums, exchange, p_.eps);
  }

  HSTU_PRIM void process_row(const Row& row, int step, TeamSums& sums, GradientSums* exchange) {
    const RowGradient gradient = gradient_of(row, exchange);
    if (step < turn_.valid_rows) sums.template add<Shape::kDim>(gradient);
    if constexpr (Config::kHasDx) {
      const RowGradient of_dx = weighted(gradient, weight_);
      RowPacks<Shape, Element> dx;
#pragma unroll
      for (int a = 0; a < Shape::kAccesses; ++a) {
        Values value, more = {};
        if constexpr (Config::kHasDresidual) unpack(more, row.dresidual[a]);
#pragma unroll
        for (int v = 0; v < Shape::kVector; ++v) {
          value[v] = of_dx.dx(gradient.normalised(row.x[a][v]), row.dout[a][v]);
          if constexpr (Config::kHasDresidual) value[v] += more[v];
        }
        pack(dx[a], value);
      }
      if (step < turn_.rows)
        store_row<Shape>(static_cast<Element*>(p_.dx) + turn_.offset(step, p_.dx_row_stride), dx, team_);
    }
  }
};

}  // namespace hstu::tile
