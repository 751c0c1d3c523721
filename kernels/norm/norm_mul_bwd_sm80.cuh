// Gradient of the HSTU output stage before its projection, sm80: of attn, u, weight and bias in one launch bound by
// memory, and the stage's own output once more on demand. With the segments d0, d1 and d2 of dout after dropout,
// m = Multiplier(u), n = xhat * weight + bias, xhat = (attn - mean) * rstd (RMS norm: mean and bias are 0):
//
//   t              r                             e
//   n              d2 * m                        0             NormOnly
//   x sigmoid(n)   d2 * m * x s (1 - s)          d2 * m * s    SwishOfNorm; s = sigmoid(n)
//
//   dattn = rstd * (g - mean(g) - xhat * mean(g * xhat)) + e + d1,   g = r * weight; RMS norm: no mean(g)
//   du = d2 * t * Multiplier'(u) + d0 * Copy'(u)
//   dweight = sum over rows of r * xhat,   dbias = sum over rows of r;   of groups over their columns, too
//
//   attn, u, dout rows ──cp.async──► smem ──shuffles──► mean, rstd ──► du row, out row
//               (kRowsAhead)                                     └──► r ──shuffles──► mean(g), mean(g * xhat)
//                                                                     └──► sums         └──► dattn row
//   sums ──smem──► partials[block] in the workspace ──► last blocks: all blocks' partials in order ──► dweight, dbias
//
// What runs, and the function or the file behind each line, in norm/rows/ unless another folder is named:
//   start the copies of the first kRowsAhead rows          gate_gradient_held.cuh, thread_prefetch.cuh
//   for each row of the team, or its group of each row     gate_gradient_rows.cuh: TeamRows
//     which elements dropped out                           norm/norm_mul_sm80.cuh: drawn()
//     wait for the row, read it; start a later one's       gate_gradient_held.cuh: read(), start()
//     mean, rstd                                           row_norm.cuh: row_moments()
//       of moments that attention left                     gate_gradient_rows.cuh: PartStatistics
//     out row                                              norm/norm_mul_sm80.cuh: store_access()
//     du row; xhat, r, e                                   gate_gradient_held.cuh: gate()
//     mean(g), mean(g * xhat)                              norm_gradient_rows.cuh: team_sums()
//     dweight += r * xhat, dbias += r, in registers        column_sums.cuh: HeldColumnSums
//       of groups from the sums of the row                 gate_gradient_rows.cuh: GroupSums
//     dattn row                                            gate_gradient_held.cuh: result()
//   too long for registers: the same, rows read again      gate_gradient_long.cuh
//   the block's sums over its teams, to its partials       store_block() of either sums
//   the last blocks: partials of all blocks, in order      tile/last_blocks.cuh, column_sums.cuh: add_partials()
//     dweight, dbias                                       finish_gate_columns()
//
// Work      a team of kThreadsPerRow threads takes a row at a time. There are as many teams as groups or a multiple of
//           it, so that a team has the same group of each of its rows.
// Rows, grid, memory, join, valid_rows: as in layer_norm_bwd_sm80.cuh.
// In place  dattn may be attn, du u and out dout: a thread reads all that it needs of a row before it writes its part,
//           and nobody else reads that.
// Config    facts: those of norm_mul_sm80.cuh without FP8; Gradient (of dweight and dbias), kParts (of a row's moments;
//           0: computed), kHasDattn, kHasDu, kHasDweight, kHasDbias, kHasOut; kHeld (rows, by registers).
//           knobs: kThreads, kThreadsPerRow, kRowsAhead, kBlocksPerSm.
// Sources   meta-recsys/generative-recommenders, HSTU output stage; joining of partial variances: Chan, Golub, LeVeque
//           1983.
#pragma once
#include "norm/rows/gate_gradient_held.cuh"
#include "norm/rows/gate_gradient_long.cuh"

namespace hstu {
namespace tile {

// The results of the sums over rows, from all blocks' partials.
template <class Config>
HSTU_PRIM void finish_gate_columns(const NormMulBwdParams& p, LastBlocks& blocks, unsigned char* smem) {
  using Kernel = GateGradient<Config>;
  using Gradient = typename Config::Gradient;
  constexpr int kPieces = Kernel::kPitch / kPieceColumns;
  const auto piece = [&](u32 index) {
    const int sum = static_cast<int>(index) / kPieces, first = static_cast<int>(index) % kPieces * kPieceColumns;
    Gradient* to = static_cast<Gradient*>(Config::kHasDweight && sum == 0 ? p.dweight : p.dbias) + first;
    add_partials<Kernel::Shape::kThreads, Kernel::kPartialsAtOnce>(
        p.partials + sum * Kernel::kPitch + first, i64{Kernel::kSums} * Kernel::kPitch,
        min(kPieceColumns, Kernel::kSumColumns - first), reinterpret_cast<float*>(smem + Kernel::kExchangeBytes),
        [&](int c, float total) {
          to[c] = prim::from_float<Gradient>(p.accumulate ? total + prim::to_float(to[c]) : total);
        });
  };
  share_among_last(blocks, Kernel::kSums * kPieces, reinterpret_cast<volatile u32*>(smem), piece);
}

}  // namespace tile

template <class Config>
constexpr int norm_mul_bwd_smem_bytes = tile::GateGradient<Config>::kSmemBytes;

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kBlocksPerSm)
    norm_mul_bwd_sm80(const __grid_constant__ NormMulBwdParams p) {
  using Kernel = tile::GateGradient<Config>;
  using Shape = typename Kernel::Shape;
  extern __shared__ __align__(1024) unsigned char smem[];
  const tile::RowTeam<Shape> team;
  tile::LastBlocks blocks(p.counters);
  const tile::TeamRows<Shape> rows(p, team);
  auto* const exchange = reinterpret_cast<tile::RowPartial*>(smem);
  unsigned char* const behind = smem + Kernel::kExchangeBytes;
  float* const partials = p.partials + static_cast<i64>(blockIdx.x) * Kernel::kSums * Kernel::kPitch;
  const auto start = [&] {
    if (Kernel::kSums > 0 && threadIdx.x == 0) blocks.start();
  };
  if constexpr (Shape::kLooped) {
    start();
    tile::LongGateRows<Config> gate(p, team, rows,
                                    Kernel::kLongSumsShared ? reinterpret_cast<float*>(behind) : partials);
    gate.run(exchange, partials);
    if constexpr (Kernel::kSums > 0 && Config::kGroupNorm)
      gate.group_sums.store_block(partials, Kernel::kPitch, behind);
  } else {
    tile::HeldGateRows<Config> held(p, team, rows, behind);
    start();
    held.run(exchange);
    if constexpr (Kernel::kSums > 0) held.sums.store_block(partials, Kernel::kPitch, behind);
  }
  if constexpr (Kernel::kSums > 0) tile::finish_gate_columns<Config>(p, blocks, smem);
}

}  // namespace hstu
