// The last rows of each of left's sequences replaced by right's, given lengths, sm80; where right is the longer one, by
// its tail. See tile/jagged_lengths.cuh.
//
// Config    facts and knobs of tile/jagged_lengths.cuh.
// Sources   meta-recsys/generative-recommenders, replace_last_n_with_jagged.
#pragma once
#include "tile/jagged_lengths.cuh"

namespace hstu {

namespace replace_last_n {

template <class Config>
struct Copy {
  enum : bool { kReplaces = true, kNeedsAll = false };
  using Sums = tile::ChunkSums<Config>;

  HSTU_PRIM static i64 left_length(const JaggedLengthsParams& p, int sequence) {
    return tile::length_at<typename Config::LeftLength>(p.left_lengths, sequence);
  }
  HSTU_PRIM static void copy(const JaggedLengthsParams& p, const Sums& sums, int i, i64 row, i64 byte) {
    const i64 kept = (sums.left[i + 1] - sums.left[i]) - (sums.right[i + 1] - sums.right[i]);
    const i64 in_right = row - sums.left[i] - kept;
    const char* from = in_right >= 0
                           ? static_cast<const char*>(p.right) + (sums.right[i] + in_right) * p.right_row_stride
                           : static_cast<const char*>(p.left) + row * p.left_row_stride;
    tile::move_piece<Config>(static_cast<char*>(p.combined) + row * p.combined_row_stride + byte, from + byte);
  }
  HSTU_PRIM static void finish_chunk(const JaggedLengthsParams&, const Sums&) {}
};

}  // namespace replace_last_n

template <class Config>
constexpr int replace_last_n_sm80_smem_bytes = tile::jagged_lengths_smem_bytes<Config>;

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    replace_last_n_sm80(const __grid_constant__ JaggedLengthsParams p) {
  extern __shared__ __align__(1024) unsigned char smem[];
  tile::copy_by_lengths<Config, replace_last_n::Copy<Config>>(p, smem);
}

}  // namespace hstu
