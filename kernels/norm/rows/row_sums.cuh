// The results of sums over rows, of the partials that all blocks of a launch left, by its last blocks.
#pragma once
#include "norm/rows/column_sums.cuh"

namespace hstu::tile {

// By all threads. Kernel: the kSums sums of kColumns columns, kPitch apart, and kThreads, kPartialsAtOnce,
// kExchangeBytes of the block.
template <class Config, class Kernel>
HSTU_PRIM void finish_sums(const LayerNormBwdParams& p, LastBlocks& blocks, unsigned char* smem) {
  using Gradient = typename Config::Gradient;
  constexpr int kPieces = Kernel::kPitch / kPieceColumns;
  const auto piece = [&](u32 index) {
    const int sum = static_cast<int>(index) / kPieces, first = static_cast<int>(index) % kPieces * kPieceColumns;
    Gradient* to = static_cast<Gradient*>(Config::kHasDweight && sum == 0 ? p.dweight : p.dbias) + first;
    add_partials<Kernel::Shape::kThreads, Kernel::kPartialsAtOnce>(
        p.partials + sum * Kernel::kPitch + first, i64{Kernel::kSums} * Kernel::kPitch,
        min(kPieceColumns, Kernel::kColumns - first), reinterpret_cast<float*>(smem + Kernel::kExchangeBytes),
        [&](int c, float total) {
          to[c] = prim::from_float<Gradient>(p.accumulate ? total + prim::to_float(to[c]) : total);
        });
  };
  share_among_last(blocks, Kernel::kSums * kPieces, reinterpret_cast<volatile u32*>(smem), piece);
}

}  // namespace hstu::tile
