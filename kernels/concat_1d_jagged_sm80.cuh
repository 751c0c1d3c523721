// Concatenation of two jagged vectors sequence by sequence, given their lengths, sm80: out = left | right in each. See
// tile/jagged_lengths.cuh.
//
// Config    facts and knobs of tile/jagged_lengths.cuh.
// Sources   meta-recsys/generative-recommenders, concat_1d_jagged_jagged.
#pragma once
#include "tile/jagged_lengths.cuh"

namespace hstu {

namespace concat_1d_jagged {

template <class Config>
struct Copy {
  enum : bool { kReplaces = false, kNeedsAll = false };
  using Sums = tile::ChunkSums<Config>;

  HSTU_PRIM static i64 left_length(const JaggedLengthsParams& p, int sequence) {
    return tile::length_at<typename Config::LeftLength>(p.left_lengths, sequence);
  }
  HSTU_PRIM static void copy(const JaggedLengthsParams& p, const Sums& sums, int i, i64 row, i64 byte) {
    const i64 local = row - sums.left[i] - sums.right[i], left_rows = sums.left[i + 1] - sums.left[i];
    const char* from = local < left_rows ? static_cast<const char*>(p.left) + (sums.left[i] + local) * p.left_row_stride
                                         : static_cast<const char*>(p.right) +
                                               (sums.right[i] + local - left_rows) * p.right_row_stride;
    tile::move_piece<Config>(static_cast<char*>(p.combined) + row * p.combined_row_stride + byte, from + byte);
  }
  HSTU_PRIM static void finish_chunk(const JaggedLengthsParams&, const Sums&) {}
};

}  // namespace concat_1d_jagged

template <class Config>
constexpr int concat_1d_jagged_sm80_smem_bytes = tile::jagged_lengths_smem_bytes<Config>;

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    concat_1d_jagged_sm80(const __grid_constant__ JaggedLengthsParams p) {
  extern __shared__ __align__(1024) unsigned char smem[];
  tile::copy_by_lengths<Config, concat_1d_jagged::Copy<Config>>(p, smem);
}

}  // namespace hstu
