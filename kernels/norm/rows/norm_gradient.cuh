// The body of the gradients of RMS norm and of swish layer norm: of x, and of weight and bias as sums over the rows, in
// one launch bound by memory. With n = xhat * weight + bias, xhat = (x - mean) * rstd (RMS norm: mean and bias are 0):
//
//   result          t                            direct
//   n               dout                         0           NormOnly
//   silu(n)         dout * s (1 + n (1 - s))     0           SiluOfNorm; s = sigmoid(n)
//   x sigmoid(n)    dout * x s (1 - s)           dout * s    SwishOfNorm
//
//   dx = rstd * (g - mean(g) - xhat * mean(g * xhat)) + direct + dresidual,   g = t * weight; RMS norm: no mean(g)
//   dweight = sum over rows of t * xhat,   dbias = sum over rows of t
//
//   x, dout rows ──cp.async──► smem ──shuffles──► mean, rstd ──► t ──shuffles──► mean(g), mean(g * xhat) ──► dx row
//               (kRowsAhead)                                     └──► sums in registers
//   sums ──smem──► partials[block] in the workspace ──► last blocks: all blocks' partials in order ──► dweight, dbias
//
// What runs, and the function or the file behind each line, in norm/rows/ unless another folder is named:
//   start the copies of the first kRowsAhead rows          norm_gradient_held.cuh, thread_prefetch.cuh
//   for each row of the team                               backward_rows.cuh: GridStrideRows
//     wait for it, read it; start the copies of a later    norm_gradient_held.cuh: read(), start()
//     mean, rstd                                           norm_gradient_held.cuh: statistics_of()
//       of layer norm                                      row_norm.cuh: row_moments()
//     xhat, t, direct                                      norm_gradient_rows.cuh: OutputGradient
//     mean(g), mean(g * xhat)                              norm_gradient_rows.cuh: NormGradientSums
//       of RMS norm alone in one round with rstd           norm_gradient_rows.cuh: RmsSums
//     dweight += t * xhat, dbias += t, in registers        column_sums.cuh: HeldColumnSums
//     dx row                                               norm_gradient_held.cuh: result()
//   too long for registers: the same, rows read again      norm_gradient_long.cuh
//   the block's sums over its teams, to its partials       column_sums.cuh: store_block()
//   the last blocks: partials of all blocks, in order      tile/last_blocks.cuh, column_sums.cuh: add_partials()
//     dweight, dbias                                       row_sums.cuh: finish_sums()
//
// Work, rows, grid, memory, in place, valid_rows: as in layer_norm_bwd_sm80.cuh. Results through a function need two
// rounds of sums, the second of what the first gave; without dx one.
// Config    facts: Element, Weight (of weight and bias), Gradient (of dweight and dbias), Output (norm_output.cuh),
//           kCentred (false: RMS norm), kDim, kVector, kHasWeight, kHasBias, kHasMoments, kHasDresidual, kHasDx,
//           kHasDweight, kHasDbias.
//           knobs: kThreads, kThreadsPerRow, kRowsAhead, kBlocksPerSm.
// Sources   Ba et al. 2016, arXiv:1607.06450; Zhang, Sennrich 2019, arXiv:1910.07467;
//           meta-recsys/generative-recommenders, swish_layer_norm and rms_norm.
#pragma once
#include "norm/rows/norm_gradient_held.cuh"
#include "norm/rows/norm_gradient_long.cuh"
#include "norm/rows/row_sums.cuh"

namespace hstu::tile {

template <class Config>
HSTU_PRIM void norm_gradient(const RowNormBwdParams& p) {
  using Kernel = NormGradient<Config>;
  using Shape = typename Kernel::Shape;
  extern __shared__ __align__(1024) unsigned char smem[];
  const RowTeam<Shape> team;
  LastBlocks blocks(p.counters);
  const GridStrideRows<Shape> rows(p, team);
  auto* const exchange = reinterpret_cast<RowPartial*>(smem);
  unsigned char* const behind = smem + Kernel::kExchangeBytes;
  float* const partials = p.partials + static_cast<i64>(blockIdx.x) * Kernel::kSums * Kernel::kPitch;
  const auto start = [&] {
    if (Kernel::kSums > 0 && threadIdx.x == 0) blocks.start();
  };
  if constexpr (Shape::kLooped) {
    float* const sums = Kernel::kLongSumsShared ? reinterpret_cast<float*>(behind) : partials;
    start();
    LongNormRows<Config>(p, team, sums).run(rows, exchange, partials);
  } else {
    HeldNormRows<Config> held(p, team, rows, behind);
    start();
    held.run(exchange);
    if constexpr (Kernel::kSums > 0) held.sums.store_block(partials, Kernel::kPitch, behind);
  }
  if constexpr (Kernel::kSums > 0) finish_sums<Config, Kernel>(p, blocks, smem);
}

}  // namespace hstu::tile
