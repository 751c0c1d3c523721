// The grid that attention kernels have alike: a block of threads for each block of query rows of each pair.
#pragma once

#include "families/family.hpp"
#include "support/ceil_div.hpp"

#include <algorithm>

namespace hstujit::attn_grid {

/// Sets the launch's shape for `pairs` (sequence, head) pairs of at most `rows` query rows; returns the row blocks of a
/// pair, no more than a grid has room for, or 0 when nothing is to be done.
inline int set(Launch& launch, int64_t pairs, int64_t rows, int block_m, int threads, int smem_bytes) {
  constexpr int64_t kMostBlocks = (int64_t{1} << 31) - 1;
  if (pairs == 0 || rows == 0) {
    launch.grid[0] = 0;
    return 0;
  }
  const int64_t row_blocks = std::clamp(ceil_div(rows, block_m), int64_t{1}, std::max(int64_t{1}, kMostBlocks / pairs));
  launch.grid[0] = static_cast<uint32_t>(pairs * row_blocks);
  launch.block[0] = static_cast<uint32_t>(threads);
  launch.smem_bytes = static_cast<uint32_t>(smem_bytes);
  return static_cast<int>(row_blocks);
}

}  // namespace hstujit::attn_grid
