// Concatenation of two jagged vectors sequence by sequence, given their lengths, sm80: out = left | right in each. See
// tile/runs_by_lengths.cuh.
//
// Config    facts and knobs of tile/runs_by_lengths.cuh.
// Sources   meta-recsys/generative-recommenders, concat_1d_jagged_jagged.
#pragma once
#include "tile/runs_by_lengths.cuh"

namespace hstu {

namespace concat_1d_jagged {

template <class Config>
struct Copy : tile::BlockRows<Config> {
  enum : int { kRunsASequence = 2, kOutputs = 1 };
  HSTU_PRIM explicit Copy(const JaggedLengthsParams& p)
      : tile::BlockRows<Config>(blockIdx.x, p.rows, p.block_rows), p(p) {}

  HSTU_PRIM char* out(int) const { return this->at(p.combined, this->begin()); }
  HSTU_PRIM tile::RowSums rows(int sequence) const {
    const i64 left = tile::length_at<typename Config::LeftLength>(p.left_lengths, sequence);
    return {left + tile::length_at<typename Config::RightLength>(p.right_lengths, sequence), left};
  }
  template <class Table>
  HSTU_PRIM void set_runs(Table& runs, int place, int, const tile::RowSums& before, const tile::RowSums& rows) const {
    const i64 start = before.out - this->begin(), right_before = before.out - before.other;
    runs.set(place * 2, start, this->address(p.left, before.other - start));
    runs.set(place * 2 + 1, start + rows.other, this->address(p.right, right_before - rows.other - start));
  }
  const JaggedLengthsParams& p;
};

}  // namespace concat_1d_jagged

template <class Config>
constexpr int concat_1d_jagged_sm80_smem_bytes =
    tile::runs_by_lengths_smem_bytes<Config, concat_1d_jagged::Copy<Config>>;

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    concat_1d_jagged_sm80(const __grid_constant__ JaggedLengthsParams p) {
  extern __shared__ __align__(1024) unsigned char smem[];
  using Copy = concat_1d_jagged::Copy<Config>;
  tile::RunsByLengths<Config, Copy>(Copy(p), p.batch, smem).run();
}

}  // namespace hstu
