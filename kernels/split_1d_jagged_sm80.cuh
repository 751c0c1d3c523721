// The inverse of concat_1d_jagged_sm80: each sequence's first rows go to left, the others to right, sm80. See
// tile/jagged_lengths.cuh.
//
// Config    facts and knobs of tile/jagged_lengths.cuh.
// Sources   meta-recsys/generative-recommenders, split_1d_jagged_jagged.
#pragma once
#include "tile/jagged_lengths.cuh"

namespace hstu {

namespace split_1d_jagged {

template <class Config>
struct Copy {
  enum : bool { kReplaces = false, kNeedsAll = false };
  using Sums = tile::ChunkSums<Config>;

  HSTU_PRIM static i64 left_length(const JaggedLengthsParams& p, int sequence) {
    return tile::length_at<typename Config::LeftLength>(p.left_lengths, sequence);
  }
  HSTU_PRIM static void copy(const JaggedLengthsParams& p, const Sums& sums, int i, i64 row, i64 byte) {
    const i64 local = row - sums.left[i] - sums.right[i], left_rows = sums.left[i + 1] - sums.left[i];
    char* to = local < left_rows
                   ? static_cast<char*>(p.left) + (sums.left[i] + local) * p.left_row_stride
                   : static_cast<char*>(p.right) + (sums.right[i] + local - left_rows) * p.right_row_stride;
    tile::move_piece<Config>(to + byte, static_cast<const char*>(p.combined) + row * p.combined_row_stride + byte);
  }
  HSTU_PRIM static void finish_chunk(const JaggedLengthsParams&, const Sums&) {}
};

}  // namespace split_1d_jagged

template <class Config>
constexpr int split_1d_jagged_sm80_smem_bytes = tile::jagged_lengths_smem_bytes<Config>;

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    split_1d_jagged_sm80(const __grid_constant__ JaggedLengthsParams p) {
  extern __shared__ __align__(1024) unsigned char smem[];
  tile::copy_by_lengths<Config, split_1d_jagged::Copy<Config>>(p, smem);
}

}  // namespace hstu
