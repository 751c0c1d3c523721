// Facts and inputs of the gradient of a norm that rows in registers and rows in memory share: layer_norm_bwd_sm80.cuh
// has the design and the Config.
#pragma once
#include "norm/layer_norm_bwd.h"
#include "norm/rows/column_sums.cuh"
#include "norm/rows/row_gradient.cuh"
#include "norm/rows/thread_prefetch.cuh"

namespace hstu::tile {

// One row at a time, of which a thread has at most 16 values: it holds a sum or two of each.
template <class Config>
struct BackwardRows : Config {
  enum : int { kGroups = 1, kRowsPerThread = 1 };
};
enum : int { kMaxBackwardValues = 16 };

// What follows from the Config.
template <class Config>
struct LayerNormBwd {
  using Element = typename Config::Element;
  using Shape = RowShape<BackwardRows<Config>, kMaxBackwardValues>;
  enum : int { kSums = Config::kHasDweight + Config::kHasDbias, kDbias = Config::kHasDweight };
  enum : bool { kReadsX = Config::kHasDx || Config::kHasDweight, kReadsMoments = Config::kHasMoments && kReadsX };
  enum : bool { kRest = sizeof(Element) == 4 || (Shape::kWarps > 1 && !Shape::kFull) };
  enum : int { kPitch = (Shape::kDim + kPartialsLine - 1) / kPartialsLine * kPartialsLine };
  static_assert(kSums + Config::kHasDx > 0, "nothing to compute");

  // Registers of a thread, and of them 4 for each of the partials that it adds up.
  enum : int { kBudget = 65536 / (Shape::kThreads * Config::kBlocksPerSm) };
  enum : int { kPartialsAtOnce = kBudget >= 112 ? 12 : kBudget >= 64 ? 8 : 2 };

  // Inputs of a row, in shared memory while they are in flight.
  enum : int { kX = 0, kDout = kReadsX, kDresidual = kDout + 1, kInputs = kDresidual + Config::kHasDresidual };
  enum : int { kPieceBytes = Shape::kVector * static_cast<int>(sizeof(Element)) };
  enum : int { kPieces = Shape::kLooped ? 0 : Config::kRowsAhead * kInputs * Shape::kAccesses };
  using Prefetched = ThreadPrefetch<kPieces, Shape::kThreads, kPieceBytes>;
  using PrefetchedMoments =
      ThreadPrefetch<Shape::kLooped || !kReadsMoments ? 0 : Config::kRowsAhead, Shape::kThreads, 8>;
  using HeldSums = HeldColumnSums<Shape, kSums ? kSums : 1>;
  enum : int { kLongSumsBytes = Shape::kLooped ? kSums * kPitch * 4 : 0 };
  enum : bool { kLongSumsShared = kLongSumsBytes <= 131072 };  // of 163 KB that a block of sm_80 may have

  // Shared memory: exchange of two rows; then rows in flight, or sums of long ones, and behind them the sums that
  // blocks and teams exchange.
  enum : int {
    kExchangeBytes = Shape::kWarps > 1 ? 2 * Shape::kBlockWarps* static_cast<int>(sizeof(GradientSums)) : 16
  };
  enum : int { kPrefetchBytes = int{Prefetched::kSmemBytes} + int{PrefetchedMoments::kSmemBytes} };
  enum : int { kRowsBytes = !Shape::kLooped ? int{kPrefetchBytes} : kLongSumsShared ? int{kLongSumsBytes} : 0 };
  enum : int { kTeamsBytes = Shape::kLooped || kSums == 0 ? 0 : int{HeldSums::kSmemBytes} };
  enum : int { kTotalsBytes = kSums == 0 ? 0 : add_partials_smem_bytes<Shape::kThreads> };
  enum : int { kJoinBytes = int{kTeamsBytes} > int{kTotalsBytes} ? int{kTeamsBytes} : int{kTotalsBytes} };
  enum : int {
    kSmemBytes = int{kExchangeBytes} + (int{kRowsBytes} > int{kJoinBytes} ? int{kRowsBytes} : int{kJoinBytes})
  };
};

// The rows of a team, a step each; all teams of a block take as many steps, the last one perhaps without a row.
template <class Shape>
struct GridStrideRows {
  i64 first, stride;     // of the rows, from one to the next
  int steps;             // of the block
  int rows, valid_rows;  // of the team: those that exist, and of them those that enter sums over rows

  HSTU_PRIM GridStrideRows(const LayerNormBwdParams& p, const RowTeam<Shape>& team)
      : first(static_cast<i64>(blockIdx.x) * Shape::kRowsAtOnce + team.row),
        stride(static_cast<i64>(gridDim.x) * Shape::kRowsAtOnce) {
    steps = below(p.rows + team.row);
    rows = below(p.rows);
    valid_rows = rows;
    if (!p.valid_rows) return;
    const i64 valid =
        p.valid_rows_i64 ? *static_cast<const i64*>(p.valid_rows) : *static_cast<const i32*>(p.valid_rows);
    valid_rows = below(valid < p.rows ? valid : p.rows);
  }
  HSTU_PRIM i64 row(int index) const { return first + index * stride; }

 private:
  HSTU_PRIM int below(i64 end) const { return end > first ? static_cast<int>((end - first + stride - 1) / stride) : 0; }
};

// Mean and sum of squared deviations of a row, as its forward left them.
HSTU_PRIM PartMoments moments_of(const LayerNormBwdParams& p, i64 row) {
  const prim::Pair pair = prim::ld_global8(p.moments + row * p.moments_row_stride);
  return {__uint_as_float(pair.word[0]), __uint_as_float(pair.word[1])};
}

}  // namespace hstu::tile
