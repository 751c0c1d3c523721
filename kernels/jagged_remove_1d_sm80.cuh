// Each sequence of a jagged vector once without its first element, to left, and once without its last, to right, sm80.
// See tile/jagged_lengths.cuh.
//
// Config    facts and knobs of tile/jagged_lengths.cuh.
// Sources   meta-recsys/generative-recommenders, jagged_remove_first_or_last_1D.
#pragma once
#include "tile/jagged_lengths.cuh"

namespace hstu {

namespace jagged_remove_1d {

template <class Config>
struct Copy {
  enum : bool { kReplaces = true, kNeedsAll = false };  // one part
  using Sums = tile::ChunkSums<Config>;

  HSTU_PRIM static i64 left_length(const JaggedLengthsParams& p, int sequence) {
    return tile::length_at<typename Config::LeftLength>(p.left_lengths, sequence);
  }
  // Each sequence before this one has lost an element. One without elements, which the caller promised not to have,
  // would move what follows: nothing goes outside of the outputs.
  HSTU_PRIM static void copy(const JaggedLengthsParams& p, const Sums& sums, int i, i64 row, i64) {
    const i64 to = row - (sums.first + i), kept = p.rows - p.batch;
    const char* from = static_cast<const char*>(p.combined) + row * p.combined_row_stride;
    if (row > sums.left[i] && to > 0 && to <= kept)
      tile::move_piece<Config>(static_cast<char*>(p.left) + (to - 1) * p.left_row_stride, from);
    if (row + 1 < sums.left[i + 1] && to >= 0 && to < kept)
      tile::move_piece<Config>(static_cast<char*>(p.right) + to * p.right_row_stride, from);
  }
  HSTU_PRIM static void finish_chunk(const JaggedLengthsParams&, const Sums&) {}
};

}  // namespace jagged_remove_1d

template <class Config>
constexpr int jagged_remove_1d_sm80_smem_bytes = tile::jagged_lengths_smem_bytes<Config>;

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    jagged_remove_1d_sm80(const __grid_constant__ JaggedLengthsParams p) {
  extern __shared__ __align__(1024) unsigned char smem[];
  tile::copy_by_lengths<Config, jagged_remove_1d::Copy<Config>>(p, smem);
}

}  // namespace hstu
