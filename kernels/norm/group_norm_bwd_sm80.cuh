// Gradient of group norm, sm80: of x, and of each group's weight and bias as sums over the rows and the group's
// columns, in one launch bound by memory.
//
//   dx = weight * rstd * (dout - mean(dout) - xhat * mean(dout * xhat)) + dresidual,   xhat = (x - mean) * rstd,
//   means over the group's columns of a row;   dweight = sum of dout * xhat,   dbias = sum of dout
//
//   x, dout groups ──cp.async──► smem ──shuffles──► mean, rstd, sum(dout), sum(dout * xhat) ──► dx
//                 (kRowsAhead)                                                             └──► two sums of the team
//   sums ──smem──► partials[block] in the workspace ──► last blocks: all blocks' partials in order ──► dweight, dbias
//
// What runs, and the function or the file behind each line, in norm/rows/ unless another folder is named:
//   for each set of groups that the grid takes at once     group_gradient.cuh: GroupTurn
//     start the copies of the first kRowsAhead rows        group_gradient_held.cuh, thread_prefetch.cuh
//     for each row, of the team's group
//       wait for it, read it; start the copies of a later  group_gradient_held.cuh: read(), start()
//       all sums over the group's columns                  row_gradient.cuh: finish_row()
//       dweight, dbias of the team; dx                     group_gradient.cuh: TeamSums; process_row()
//     too long for registers: the same, groups read again  group_gradient_long.cuh
//     the block's sums over its teams, to its partials     group_gradient.cuh: store_turn()
//   the last blocks: partials of all blocks, in order      tile/last_blocks.cuh, column_sums.cuh: add_partials()
//     dweight, dbias                                       row_sums.cuh: finish_sums()
//
// Work      a team of kThreadsPerRow threads takes one group of a row at a time, always the same group, so that it
//           holds two sums. The teams of the grid stand row by row: team t of all has group t % kGroups of rows
//           t / kGroups, and on by as many rows as the grid has teams for. Where there are more groups than teams, the
//           grid takes as many at once as it has teams, and then the next.
// Groups too long for registers are taken by a whole block each, which reads them again for each step.
// Grid      kBlocksPerSm blocks of each SM, or as many as have a group of a row. Determines the order of the sums.
// In place, valid_rows  as in layer_norm_bwd_sm80.cuh.
// Config    facts: Element, Weight (of weight), Gradient (of dweight and dbias), kGroups, kDim (columns of a group),
//           kVector, kHasWeight, kHasMoments, kHasDresidual, kHasDx, kHasDweight, kHasDbias.
//           knobs: kThreads, kThreadsPerRow, kRowsAhead, kBlocksPerSm.
// Source    Wu, He 2018, arXiv:1803.08494.
#pragma once
#include "norm/rows/group_gradient_held.cuh"
#include "norm/rows/group_gradient_long.cuh"
#include "norm/rows/row_sums.cuh"

namespace hstu {

template <class Config>
constexpr int group_norm_bwd_smem_bytes = tile::GroupGradient<Config>::kSmemBytes;

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kBlocksPerSm)
    group_norm_bwd_sm80(const __grid_constant__ LayerNormBwdParams p) {
  using Kernel = tile::GroupGradient<Config>;
  using Shape = typename Kernel::Shape;
  extern __shared__ __align__(1024) unsigned char smem[];
  const tile::RowTeam<Shape> team;
  tile::LastBlocks blocks(p.counters);
  auto* const exchange = reinterpret_cast<tile::GradientSums*>(smem);
  unsigned char* const behind = smem + Kernel::kExchangeBytes;
  float* const partials = p.partials + static_cast<i64>(blockIdx.x) * Kernel::kSums * Kernel::kPitch;
  const int teams = static_cast<int>(gridDim.x) * Shape::kRowsAtOnce;
#pragma unroll 1
  for (int first = 0; first < Kernel::kGroups; first += teams) {
    const tile::GroupTurn<Config> turn(p, team, first);
    typename Kernel::Sums sums;
    if constexpr (Shape::kLooped) {
      if (Kernel::kSums > 0 && first == 0 && threadIdx.x == 0) blocks.start();
      tile::LongGroups<Config>(p, team, turn).run(sums, exchange);
    } else {
      tile::HeldGroups<Config> held(p, team, turn, behind);
      if (Kernel::kSums > 0 && first == 0 && threadIdx.x == 0) blocks.start();
      held.run(sums, exchange);
    }
    if constexpr (Kernel::kSums > 0)
      tile::store_turn<Config>(turn, team, sums, partials, reinterpret_cast<float*>(behind));
  }
  if constexpr (Kernel::kSums > 0) tile::finish_sums<Config, Kernel>(p, blocks, smem);
}

}  // namespace hstu
