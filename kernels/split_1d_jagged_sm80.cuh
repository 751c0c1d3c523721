// The inverse of concat_1d_jagged_sm80: each sequence's first rows go to left, the others to right, sm80. The first
// left_blocks blocks write left, the others right. See tile/runs_by_lengths.cuh.
//
// Config    facts and knobs of tile/runs_by_lengths.cuh.
// Sources   meta-recsys/generative-recommenders, split_1d_jagged_jagged.
#pragma once
#include "tile/runs_by_lengths.cuh"

namespace hstu {

namespace split_1d_jagged {

template <class Config>
struct Copy : tile::BlockRows<Config> {
  enum : int { kRunsASequence = 1, kOutputs = 1 };
  HSTU_PRIM explicit Copy(const JaggedLengthsParams& p)
      : tile::BlockRows<Config>(is_left(p) ? blockIdx.x : blockIdx.x - p.left_blocks,
                                is_left(p) ? p.left_rows : p.rows - p.left_rows,
                                is_left(p) ? p.block_rows : p.right_block_rows),
        p(p) {}

  HSTU_PRIM char* out(int) const { return this->at(is_left(p) ? p.left : p.right, this->begin()); }
  HSTU_PRIM tile::RowSums rows(int sequence) const {
    const i64 left = tile::length_at<typename Config::LeftLength>(p.left_lengths, sequence);
    const i64 right = tile::length_at<typename Config::RightLength>(p.right_lengths, sequence);
    return is_left(p) ? tile::RowSums{left, right} : tile::RowSums{right, left};
  }
  template <class Table>
  HSTU_PRIM void set_runs(Table& runs, int place, int, const tile::RowSums& before, const tile::RowSums& rows) const {
    const i64 from = before.out + before.other + (is_left(p) ? 0 : rows.other), start = before.out - this->begin();
    runs.set(place, start, this->address(p.combined, from - start));
  }
  HSTU_PRIM static bool is_left(const JaggedLengthsParams& p) { return blockIdx.x < p.left_blocks; }
  const JaggedLengthsParams& p;
};

}  // namespace split_1d_jagged

template <class Config>
constexpr int split_1d_jagged_sm80_smem_bytes = tile::runs_by_lengths_smem_bytes<Config, split_1d_jagged::Copy<Config>>;

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    split_1d_jagged_sm80(const __grid_constant__ JaggedLengthsParams p) {
  extern __shared__ __align__(1024) unsigned char smem[];
  using Copy = split_1d_jagged::Copy<Config>;
  tile::RunsByLengths<Config, Copy>(Copy(p), p.batch, smem).run();
}

}  // namespace hstu
