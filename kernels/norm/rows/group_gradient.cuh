// Facts, turns and sums of the gradient of group norm, which groups in registers and groups in memory share:
// group_norm_bwd_sm80.cuh has the design and the Config.
#pragma once
#include "norm/rows/backward_rows.cuh"

namespace hstu::tile {

// What a team adds up over its rows: of dout * xhat, and of dout.
struct TeamSums {
  float of_weight = 0.0f, of_bias = 0.0f;

  // Those of a row, back from what its dx is made of.
  template <int n>
  HSTU_PRIM void add(const RowGradient& gradient) {
    const float back = static_cast<float>(-n) * prim::rcp_approx(gradient.rstd);
    of_weight = __fmaf_rn(gradient.of_xhat, back, of_weight);
    of_bias = __fmaf_rn(gradient.of_all, back, of_bias);
  }
};

// What follows from the Config.
template <class Config>
struct GroupGradient {
  using Element = typename Config::Element;
  using Shape = RowShape<BackwardRows<Config>, kMaxBackwardValues>;
  using Sums = TeamSums;
  enum : int { kGroups = Config::kGroups, kColumns = kGroups };
  enum : int { kSums = Config::kHasDweight + Config::kHasDbias, kDbias = Config::kHasDweight };
  enum : bool { kReadsX = Config::kHasDx || Config::kHasDweight, kReadsMoments = Config::kHasMoments && kReadsX };
  enum : bool { kKnown = Config::kHasMoments || !kReadsX };  // statistics are given, or do not matter
  enum : bool { kRest = sizeof(Element) == 4 || (Shape::kWarps > 1 && !Shape::kFull) };
  enum : int { kPitch = (kColumns + kPartialsLine - 1) / kPartialsLine * kPartialsLine };
  static_assert(kSums + Config::kHasDx > 0, "nothing to compute");

  // Registers of a thread, and of them 4 for each of the partials that it adds up.
  enum : int { kBudget = 65536 / (Shape::kThreads * Config::kBlocksPerSm) };
  enum : int { kPartialsAtOnce = kBudget >= 112 ? 12 : kBudget >= 64 ? 8 : 2 };

  // Inputs of a group, in shared memory while they are in flight.
  enum : int { kX = 0, kDout = kReadsX, kDresidual = kDout + 1, kInputs = kDresidual + Config::kHasDresidual };
  enum : int { kPieceBytes = Shape::kVector * static_cast<int>(sizeof(Element)) };
  enum : int { kPieces = Shape::kLooped ? 0 : Config::kRowsAhead * kInputs * Shape::kAccesses };
  using Prefetched = ThreadPrefetch<kPieces, Shape::kThreads, kPieceBytes>;
  using PrefetchedMoments =
      ThreadPrefetch<Shape::kLooped || !kReadsMoments ? 0 : Config::kRowsAhead, Shape::kThreads, 8>;

  // Shared memory: exchange of two rows; then rows in flight, or what teams and blocks exchange.
  enum : int {
    kExchangeBytes = Shape::kWarps > 1 ? 2 * Shape::kBlockWarps* static_cast<int>(sizeof(GradientSums)) : 16
  };
  enum : int { kRowsBytes = int{Prefetched::kSmemBytes} + int{PrefetchedMoments::kSmemBytes} };
  enum : int { kTeamsBytes = kSums * Shape::kRowsAtOnce * 4 };
  enum : int { kTotalsBytes = kSums == 0 ? 0 : add_partials_smem_bytes<Shape::kThreads> };
  enum : int { kJoinBytes = int{kTeamsBytes} > int{kTotalsBytes} ? int{kTeamsBytes} : int{kTotalsBytes} };
  enum : int {
    kSmemBytes = int{kExchangeBytes} + (int{kRowsBytes} > int{kJoinBytes} ? int{kRowsBytes} : int{kJoinBytes})
  };
};

// The groups that the grid takes at once, and of them the one of this team in rows first_row, first_row + stride, ...
// All teams of the grid take as many steps, perhaps without a row.
template <class Config>
struct GroupTurn {
  using Shape = typename GroupGradient<Config>::Shape;
  int first, groups;  // of all
  int group;          // this team's
  i64 first_row, stride;
  int steps, rows, valid_rows;  // of the grid; of the team: those that exist, and of them those that enter sums

  HSTU_PRIM GroupTurn(const LayerNormBwdParams& p, const RowTeam<Shape>& team, int first) : first(first) {
    const int teams = static_cast<int>(gridDim.x) * Shape::kRowsAtOnce;
    const int mine = static_cast<int>(blockIdx.x) * Shape::kRowsAtOnce + team.row;
    groups = min(Config::kGroups - first, teams);
    group = first + mine % groups;
    first_row = mine / groups;
    stride = teams / groups;
    steps = static_cast<int>((p.rows + stride - 1) / stride);
    rows = below(p.rows);
    valid_rows = rows;
    if (!p.valid_rows) return;
    const i64 valid =
        p.valid_rows_i64 ? *static_cast<const i64*>(p.valid_rows) : *static_cast<const i32*>(p.valid_rows);
    valid_rows = below(valid < p.rows ? valid : p.rows);
  }
  HSTU_PRIM i64 row(int step) const { return first_row + step * stride; }
  // In a row of a matrix with this stride.
  HSTU_PRIM i64 offset(int step, i64 row_stride) const { return row(step) * row_stride + i64{group} * Shape::kDim; }
  HSTU_PRIM i64 moments_offset(int step, i64 row_stride) const { return row(step) * row_stride + 2 * i64{group}; }

 private:
  // A team behind the last whole row of teams has none.
  HSTU_PRIM int below(i64 end) const {
    return first_row < stride && end > first_row ? static_cast<int>((end - first_row + stride - 1) / stride) : 0;
  }
};

// Weight of a group.
template <class Config>
HSTU_PRIM float weight_of(const LayerNormBwdParams& p, int group) {
  if constexpr (Config::kHasWeight && Config::kHasDx)
    return prim::to_float(static_cast<const typename Config::Weight*>(p.weight)[group]);
  else
    return 1.0f;
}

// What dx is made of, of dout instead of its product with the weight.
HSTU_PRIM RowGradient weighted(const RowGradient& gradient, float weight) {
  return {gradient.mean, gradient.rstd * weight, gradient.of_xhat * weight, gradient.of_all * weight};
}

// Squares that give a rstd near 1, where x and its statistics are not read.
template <class Config>
HSTU_PRIM constexpr float known_squares() {
  return Config::kDim;
}

// The sums that the block's teams have of each group of the turn, in the order of the teams, to the block's partials.
// By all threads; smem: kTeamsBytes, which others may read until then, and which may be used when it is over.
template <class Config>
HSTU_PRIM void store_turn(const GroupTurn<Config>& turn, const RowTeam<typename GroupGradient<Config>::Shape>& team,
                          const TeamSums& sums, float* partials, float* smem) {
  using Kernel = GroupGradient<Config>;
  constexpr int kTeams = Kernel::Shape::kRowsAtOnce;
  __syncthreads();
  if (team.lane == 0) {
    if constexpr (Config::kHasDweight) smem[team.row] = sums.of_weight;
    if constexpr (Config::kHasDbias) smem[Kernel::kDbias * kTeams + team.row] = sums.of_bias;
  }
  __syncthreads();
  const int of_first_team = static_cast<int>(blockIdx.x) * kTeams % turn.groups;
#pragma unroll 1
  for (int column = static_cast<int>(threadIdx.x); column < turn.groups; column += Kernel::Shape::kThreads) {
    const int ahead = column - of_first_team, of_column = ahead < 0 ? ahead + turn.groups : ahead;
#pragma unroll
    for (int sum = 0; sum < Kernel::kSums; ++sum) {
      float total = 0.0f;
#pragma unroll 4
      for (int other = of_column; other < kTeams; other += turn.groups) total += smem[sum * kTeams + other];
      partials[sum * Kernel::kPitch + turn.first + column] = total;
    }
  }
  if (turn.first + turn.groups < Kernel::kGroups) __syncthreads();
}

}  // namespace hstu::tile
