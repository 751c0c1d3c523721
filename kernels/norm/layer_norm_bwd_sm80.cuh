// Gradient of layer norm, sm80: of x, and of weight and bias as sums over the rows, in one launch bound by memory.
//
//   dx = rstd * (g - mean(g) - xhat * mean(g * xhat)) + dresidual,   g = dout * weight,   xhat = (x - mean) * rstd
//   dweight = sum over rows of dout * xhat,   dbias = sum over rows of dout
//
//   x, dout rows ──cp.async──► smem ──shuffles──► mean, rstd, mean(g), mean(g * xhat) ──► dx row
//               (kRowsAhead)                                                         └──► sums in registers
//   sums ──smem──► partials[block] in the workspace ──► last blocks: all blocks' partials in order ──► dweight, dbias
//
// What runs, and the function or the file behind each line, in norm/rows/ unless another folder is named:
//   start the copies of the first kRowsAhead rows          backward_held_rows.cuh, thread_prefetch.cuh
//   for each row of the team                               backward_rows.cuh: GridStrideRows
//     wait for it, read it; start the copies of a later    backward_held_rows.cuh: read(), start()
//     mean, rstd, mean(g), mean(g * xhat)                  row_gradient.cuh: finish_row(), reduce_warps()
//     dweight += dout * xhat, dbias += dout, in registers  column_sums.cuh: HeldColumnSums
//     dx row                                               backward_held_rows.cuh: result()
//   too long for registers: the same, rows read again      backward_long_rows.cuh
//   the block's sums over its teams, to its partials       column_sums.cuh: store_block()
//   the last blocks: partials of all blocks, in order      tile/last_blocks.cuh, column_sums.cuh: add_partials()
//     dweight, dbias                                       norm/layer_norm_bwd_sm80.cuh: finish_columns()
//
// Work      a team of kThreadsPerRow threads takes a row at a time; team t of all teams has rows t, t + teams, ... The
//           next kRowsAhead rows are in flight while sums of one are joined.
// Rows      too long for registers are taken by a whole block each, which reads them again for each step.
// Grid      kBlocksPerSm blocks of each SM, or as many as have a row. Determines the order of the sums.
// Memory    exchange between the warps of a team; sums of the block's teams in flight to one, or of long rows.
// Join      what the last blocks need next is in flight while they wait for something else.
// In place  dx may be x, dout or dresidual: a thread reads all that it needs of a row before it writes its part.
// valid_rows  rows from there on enter no sum over rows; their dx is written as any other.
// Config    facts: Element, Weight (of weight), Gradient (of dweight and dbias), kDim, kVector, kHasWeight,
//           kHasMoments, kHasDresidual, kHasDx, kHasDweight, kHasDbias.
//           knobs: kThreads, kThreadsPerRow, kRowsAhead, kBlocksPerSm.
// Sources   Ba et al. 2016, arXiv:1607.06450; joining of partial variances: Chan, Golub, LeVeque 1983.
#pragma once
#include "norm/rows/backward_held_rows.cuh"
#include "norm/rows/backward_long_rows.cuh"

namespace hstu {
namespace tile {

// The results of the sums over rows, from all blocks' partials.
template <class Config>
HSTU_PRIM void finish_columns(const LayerNormBwdParams& p, LastBlocks& blocks, unsigned char* smem) {
  using Kernel = LayerNormBwd<Config>;
  using Gradient = typename Config::Gradient;
  constexpr int kPieces = Kernel::kPitch / kPieceColumns;
  const auto piece = [&](u32 index) {
    const int sum = static_cast<int>(index) / kPieces, first = static_cast<int>(index) % kPieces * kPieceColumns;
    Gradient* to = static_cast<Gradient*>(Config::kHasDweight && sum == 0 ? p.dweight : p.dbias) + first;
    add_partials<Kernel::Shape::kThreads, Kernel::kPartialsAtOnce>(
        p.partials + sum * Kernel::kPitch + first, i64{Kernel::kSums} * Kernel::kPitch,
        min(kPieceColumns, Kernel::Shape::kDim - first), reinterpret_cast<float*>(smem + Kernel::kExchangeBytes),
        [&](int c, float total) {
          to[c] = prim::from_float<Gradient>(p.accumulate ? total + prim::to_float(to[c]) : total);
        });
  };
  share_among_last(blocks, Kernel::kSums * kPieces, reinterpret_cast<volatile u32*>(smem), piece);
}

}  // namespace tile

template <class Config>
constexpr int layer_norm_bwd_smem_bytes = tile::LayerNormBwd<Config>::kSmemBytes;

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kBlocksPerSm)
    layer_norm_bwd_sm80(const __grid_constant__ LayerNormBwdParams p) {
  using Kernel = tile::LayerNormBwd<Config>;
  using Shape = typename Kernel::Shape;
  extern __shared__ __align__(1024) unsigned char smem[];
  const tile::RowTeam<Shape> team;
  tile::LastBlocks blocks(p.counters);
  const tile::GridStrideRows<Shape> rows(p, team);
  auto* const exchange = reinterpret_cast<tile::GradientSums*>(smem);
  unsigned char* const behind = smem + Kernel::kExchangeBytes;
  float* const partials = p.partials + static_cast<i64>(blockIdx.x) * Kernel::kSums * Kernel::kPitch;
  const auto start = [&] {
    if (Kernel::kSums > 0 && threadIdx.x == 0) blocks.start();
  };
  if constexpr (Shape::kLooped) {
    float* const sums = Kernel::kLongSumsShared ? reinterpret_cast<float*>(behind) : partials;
    start();
    tile::LongRows<Config>(p, team, sums).run(rows, exchange, partials);
  } else {
    tile::HeldRows<Config> held(p, team, rows, behind);
    start();
    held.run(exchange);
    if constexpr (Kernel::kSums > 0) held.sums.store_block(partials, Kernel::kPitch, behind);
  }
  if constexpr (Kernel::kSums > 0) tile::finish_columns<Config>(p, blocks, smem);
}

}  // namespace hstu
