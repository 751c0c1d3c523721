// The gradient of the HSTU output stage whose rows a team holds in registers, with their sums over columns. A team
// takes one row after the other; the next kRowsAhead are in flight to shared memory, where each thread has its own
// pieces. No barrier in teams within a warp.
#pragma once
#include "norm/rows/gate_gradient_rows.cuh"

namespace hstu::tile {

template <class Config>
class HeldGateRows {
  using Kernel = GateGradient<Config>;
  using Shape = typename Kernel::Shape;
  using Element = typename Config::Element;
  using Weight = typename Config::Weight;
  using Pack = RowPack<Element, Shape::kVector>;
  using Values = float[Shape::kVector];
  enum : bool { kDrops = Config::kDropout != norm_mul::kNoDropout };
  // A thread's part of the inputs of a row; x and dy become xhat and the gradient of what the norm gave.
  struct Row {
    float x[1][Shape::kAccesses][Shape::kVector];
    Values dy[Shape::kAccesses], direct[Kernel::kHasDirect ? Shape::kAccesses : 1];
    RowPacks<Shape, Element> u, dcopy, dx;
    PartMoments moments[Kernel::kPartsHeld ? Kernel::kPartsHeld : 1];
    u64 mask;  // what dropped out
  };

  const NormMulBwdParams& p_;
  const RowTeam<Shape>& team_;
  const TeamRows<Shape>& rows_;
  const typename Kernel::Prefetched prefetched_;
  const typename Kernel::PrefetchedMoments prefetched_moments_;
  RowPacks<Shape, Weight> weight_, bias_;
  float group_weight_ = 1.0f, group_bias_ = 0.0f;

 public:
  typename Kernel::Sums sums;

  // Starts the first rows. smem: Kernel::kRowsBytes
  HSTU_PRIM HeldGateRows(const NormMulBwdParams& p, const RowTeam<Shape>& team, const TeamRows<Shape>& rows,
                         const unsigned char* smem)
      : p_(p), team_(team), rows_(rows), prefetched_(smem), prefetched_moments_(smem + Kernel::Prefetched::kSmemBytes) {
#pragma unroll
    for (int slot = 0; slot < Config::kRowsAhead; ++slot) start(slot, slot, 0);
    const Weight *weight = static_cast<const Weight*>(p.weight), *bias = static_cast<const Weight*>(p.bias);
    if constexpr (Config::kGroupNorm) {
      if constexpr (Kernel::kReadsWeight) group_weight_ = prim::to_float(weight[rows.group]);
      if constexpr (Kernel::kReadsBias) group_bias_ = prim::to_float(bias[rows.group]);
    } else {
      if constexpr (Kernel::kReadsWeight) load_row<Shape>(weight_, weight, team);
      if constexpr (Kernel::kReadsBias) load_row<Shape>(bias_, bias, team);
    }
  }

  // All steps of a block. exchange: places for two rounds.
  HSTU_PRIM void run(RowPartial* exchange) {
    int slot = 0;
#pragma unroll 1
    for (int step = 0; step < rows_.steps; ++step) {
      Row row;
      row.mask = drawn(step);
      prefetched_.template wait<Config::kRowsAhead - 1>();
      const u32 consumed = read(row, slot);
      start(slot, step + Config::kRowsAhead, consumed);
      process_row(row, step, exchange);
      slot = slot + 1 == Config::kRowsAhead ? 0 : slot + 1;
    }
    prefetched_.wait();  // copies of rows that there are not write zeros where the sums will stand
  }

 private:
  HSTU_PRIM u64 drawn(int step) const {
    u64 bits = 0;
    if constexpr (kDrops) {
#pragma unroll 1
      for (int a = 0; a < Shape::kAccesses; ++a) {
        const int column = rows_.group * Shape::kDim + team_.column(a);
        bits |= static_cast<u64>(norm_mul::drawn<Config>(p_.dropout, rows_.row(step), column)) << a * Kernel::kMaskBits;
      }
    }
    return bits;
  }
  HSTU_PRIM static u32 mask_of(const Row& row, int access) {
    return kDrops ? static_cast<u32>(row.mask >> access * Kernel::kMaskBits) : 0;
  }

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
    using Segments = typename Kernel::Segments;
    const bool has = step < rows_.rows;
    const i64 row = rows_.row(step), column = rows_.group * Shape::kDim;
    const i64 dout = row * p_.dout_row_stride + column;
    start_input(slot, Kernel::kX, p_.x, row * p_.x_row_stride + column, has, consumed);
    start_input(slot, Kernel::kU, p_.u, row * p_.u_row_stride + column, has, consumed);
    if constexpr (Kernel::kHasGradient)
      start_input(slot, Kernel::kDy, p_.dout, dout + Segments::kProduct * Segments::kColumns, has, consumed);
    if constexpr (Kernel::kReadsDcopy) start_input(slot, Kernel::kDcopy, p_.dout, dout, has, consumed);
    if constexpr (Kernel::kReadsDx)
      start_input(slot, Kernel::kDx, p_.dout, dout + Segments::kAttn * Segments::kColumns, has, consumed);
    if constexpr (Kernel::kPartsHeld > 0) {
      using Parts = PartStatistics<Config>;
#pragma unroll
      for (int i = 0; i < Kernel::kPartsHeld; ++i)
        prefetched_moments_.start(slot * Kernel::kPartsHeld + i, Parts::address(p_, row, rows_.group, i),
                                  has && Parts::has(i), consumed);
    }
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
      prefetched_.read(row.u[a], piece(slot, Kernel::kU, a));
      consumed ^= row.u[a].word[0];
      if constexpr (Kernel::kHasGradient) {
        prefetched_.read(packed, piece(slot, Kernel::kDy, a));
        unpack(row.dy[a], packed);
        consumed ^= packed.word[0];
      }
      if constexpr (Kernel::kReadsDcopy) {
        prefetched_.read(row.dcopy[a], piece(slot, Kernel::kDcopy, a));
        consumed ^= row.dcopy[a].word[0];
      }
      if constexpr (Kernel::kReadsDx) {
        prefetched_.read(row.dx[a], piece(slot, Kernel::kDx, a));
        consumed ^= row.dx[a].word[0];
      }
    }
    if constexpr (Kernel::kPartsHeld > 0) {
#pragma unroll
      for (int i = 0; i < Kernel::kPartsHeld; ++i) {
        RowPack<float, 2> packed;
        prefetched_moments_.read(packed, slot * Kernel::kPartsHeld + i);
        row.moments[i] = {__uint_as_float(packed.word[0]), __uint_as_float(packed.word[1])};
        consumed ^= packed.word[0];
      }
    }
    return consumed;
  }

  HSTU_PRIM void weights_of(Values& weight, Values& bias, int access) const {
#pragma unroll
    for (int v = 0; v < Shape::kVector; ++v) {
      weight[v] = group_weight_;
      bias[v] = group_bias_;
    }
    if constexpr (!Config::kGroupNorm) {
      if constexpr (Kernel::kReadsWeight) unpack(weight, weight_[access]);
      if constexpr (Kernel::kReadsBias) unpack(bias, bias_[access]);
    }
  }

  HSTU_PRIM RowMoments statistics_of(const Row& row, int step, RowPartial* exchange) const {
    if constexpr (Kernel::kPartsHeld > 0) {
      return PartStatistics<Config>::template merge<Kernel::kPartsHeld>([&](int i) { return row.moments[i]; }, p_.eps);
    } else if constexpr (Config::kParts > 0) {
      // A row that is none is any other.
      return PartStatistics<Config>::from_memory(p_, step < rows_.rows ? rows_.row(step) : 0, rows_.group);
    } else {
      RowMoments moments[1];
      row_moments<Config::kCentred, Shape, Element>(moments, row.x, team_, exchange, p_.eps);
      return moments[0];
    }
  }

  // Writes one access of du and out, and leaves xhat and the gradient of what the norm gave.
  HSTU_PRIM void gate(Row& row, int access, const RowMoments& m, int step) const {
    const u32 mask = mask_of(row, access);
    Values weight, bias, norm = {}, u, du, dcopy = {};
    float(&x)[Shape::kVector] = row.x[0][access];
    float(&dy)[Shape::kVector] = row.dy[access];
    const bool writes = step < rows_.rows && team_.holds(access);
    const i64 at = rows_.row(step);
    weights_of(weight, bias, access);
    if constexpr (Kernel::kReadsNorm) normalise<Config>(norm, x, m, weight, bias);
    if constexpr (Config::kHasOut)
      if (writes) write_out<Config>(p_, at, rows_.group, team_.column(access), x, norm, row.u[access], mask);
    if constexpr (Kernel::kHasGradient) {
      norm_mul::drop<Config>(dy, mask, Kernel::Segments::kProduct, p_.dropout);
      unpack(u, row.u[access]);
      if constexpr (Kernel::kReadsDcopy) {
        unpack(dcopy, row.dcopy[access]);
        norm_mul::drop<Config>(dcopy, mask, 0, p_.dropout);
      }
#pragma unroll
      for (int v = 0; v < Shape::kVector; ++v) {
        const ValueAndSlope factor = ActivationGradient<typename Config::Multiplier>::template apply<Element>(u[v]);
        const NormedGradient of =
            normed_gradient<typename Config::Output, Element>(dy[v] * factor.value, x[v], norm[v]);
        du[v] = dy[v] * of.t * factor.slope;
        if constexpr (Kernel::kReadsDcopy)
          du[v] = __fmaf_rn(dcopy[v], ActivationGradient<typename Config::Copy>::template apply<Element>(u[v]).slope,
                            du[v]);
        dy[v] = of.of_norm;
        if constexpr (Kernel::kHasDirect) row.direct[access][v] = of.direct;
        x[v] = (x[v] - m.pivot - m.rest) * m.rstd;
      }
      if constexpr (Config::kHasDu) {
        Pack packed;
        pack(packed, du);
        if (writes)
          store(static_cast<Element*>(p_.du) + at * p_.du_row_stride + rows_.group * Shape::kDim + team_.column(access),
                packed);
      }
    }
  }

  HSTU_PRIM void process_row(Row& row, int step, RowPartial* exchange) {
    const RowMoments m = statistics_of(row, step, Kernel::exchange_of(exchange, step, 0));
#pragma unroll
    for (int a = 0; a < Shape::kAccesses; ++a) gate(row, a, m, step);
    if constexpr (Kernel::kJoinsGradient) {
      GateSums<Config> of_row;
#pragma unroll
      for (int a = 0; a < Shape::kAccesses; ++a) {
        Values weight, bias;
        weights_of(weight, bias, a);
#pragma unroll
        for (int v = 0; v < Shape::kVector; ++v) {
          const float g = Config::kGroupNorm ? row.dy[a][v] : row.dy[a][v] * weight[v];
          of_row.add(team_.holds(a) ? g : 0.0f, row.x[0][a][v]);
        }
      }
      of_row.join(Kernel::exchange_of(exchange, step, 1));
      if constexpr (Config::kGroupNorm && Kernel::kSums > 0)
        if (step < rows_.valid_rows) of_row.add_to(sums);
      if constexpr (Config::kHasDattn) write_dattn(row, step, of_row.gradient(m, group_weight_));
    }
    if constexpr (!Config::kGroupNorm && Kernel::kSums > 0) {
      if (step < rows_.valid_rows) {
#pragma unroll
        for (int a = 0; a < Shape::kAccesses; ++a) {
          if constexpr (Config::kHasDweight) sums.add_products(0, a, row.dy[a], row.x[0][a]);
          if constexpr (Config::kHasDbias) sums.add(Kernel::kDbias, a, row.dy[a]);
        }
      }
    }
  }
  HSTU_PRIM void write_dattn(const Row& row, int step, const RowGradient& gradient) const {
    RowPacks<Shape, Element> dattn;
#pragma unroll
    for (int a = 0; a < Shape::kAccesses; ++a) result(dattn[a], row, a, gradient);
    if (step < rows_.rows)
      store_row<Shape>(static_cast<Element*>(p_.dx) + rows_.row(step) * p_.dx_row_stride + rows_.group * Shape::kDim,
                       dattn, team_);
  }
  HSTU_PRIM void result(Pack& dattn, const Row& row, int access, const RowGradient& gradient) const {
    Values value, weight, bias, more = {};
    weights_of(weight, bias, access);
    if constexpr (Kernel::kReadsDx) {
      unpack(more, row.dx[access]);
      norm_mul::drop<Config>(more, mask_of(row, access), Kernel::Segments::kAttn, p_.dropout);
    }
#pragma unroll
    for (int v = 0; v < Shape::kVector; ++v) {
      value[v] = gradient.dx(row.x[0][access][v], row.dy[access][v] * weight[v]);
      if constexpr (Kernel::kHasDirect) value[v] += row.direct[access][v];
      if constexpr (Kernel::kReadsDx) value[v] += more[v];
    }
    pack(dattn, value);
  }
};

}  // namespace hstu::tile
