// Each sequence of a jagged vector once without its first element, to left, and once without its last, to right, sm80.
// Both have the same rows; left's come from one element further. See tile/runs_by_lengths.cuh.
//
// Config    facts and knobs of tile/runs_by_lengths.cuh, RightLength and Offset tile::Dense.
// Sources   meta-recsys/generative-recommenders, jagged_remove_first_or_last_1D.
#pragma once
#include "tile/runs_by_lengths.cuh"

namespace hstu {

namespace jagged_remove_1d {

template <class Config>
struct Copy : tile::BlockRows<Config> {
  enum : int { kRunsASequence = 1, kOutputs = 2 };
  HSTU_PRIM explicit Copy(const JaggedLengthsParams& p)
      : tile::BlockRows<Config>(blockIdx.x, p.rows - p.batch, p.block_rows), p(p) {}

  HSTU_PRIM char* out(int output) const { return this->at(output == 0 ? p.right : p.left, this->begin()); }
  // Each sequence loses an element. One without any, which the caller promised not to have, moves what follows: row t
  // comes from t + sequence or the next, and both lie inside of the vector for all t and sequences that there are.
  HSTU_PRIM tile::RowSums rows(int sequence) const {
    return {max(tile::length_at<typename Config::LeftLength>(p.left_lengths, sequence) - 1, i64{0}), 0};
  }
  template <class Table>
  HSTU_PRIM void set_runs(Table& runs, int place, int sequence, const tile::RowSums& before,
                          const tile::RowSums&) const {
    runs.set(place, before.out - this->begin(), this->address(p.combined, this->begin() + sequence));
  }
  const JaggedLengthsParams& p;
};

}  // namespace jagged_remove_1d

template <class Config>
constexpr int jagged_remove_1d_sm80_smem_bytes =
    tile::runs_by_lengths_smem_bytes<Config, jagged_remove_1d::Copy<Config>>;

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    jagged_remove_1d_sm80(const __grid_constant__ JaggedLengthsParams p) {
  extern __shared__ __align__(1024) unsigned char smem[];
  using Copy = jagged_remove_1d::Copy<Config>;
  tile::RunsByLengths<Config, Copy>(Copy(p), p.batch, smem).run();
}

}  // namespace hstu
