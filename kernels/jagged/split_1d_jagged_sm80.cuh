// The inverse of concat_1d_jagged_sm80: each sequence's first rows go to left, the others to right, sm80. See
// jagged/runs/runs_by_lengths.cuh.
//
// Config    facts and knobs of jagged/runs/runs_by_lengths.cuh.
// Sources   meta-recsys/generative-recommenders, split_1d_jagged_jagged.
#pragma once
#include "jagged/runs/runs_by_lengths.cuh"

namespace hstu {

namespace split_1d_jagged {

// Left is output 0. A sequence's sums are left's and right's rows.
template <class Config>
struct Copy : tile::VectorCopy<Config> {
  using Row = typename Config::Row;
  using Sums = tile::RowSums<Row>;
  enum : int { kRunsASequence = 1, kOutputs = 2 };
  enum : bool { kOther = true };
  HSTU_PRIM explicit Copy(const JaggedLengthsParams& p) : p(p) {}

  HSTU_PRIM char* out(int output) const { return static_cast<char*>(output == 0 ? p.left : p.right); }
  HSTU_PRIM Row rows_of(int output) const { return static_cast<Row>(output == 0 ? p.left_rows : p.rows - p.left_rows); }
  HSTU_PRIM u64 density(int output) const { return static_cast<u64>(output == 0 ? p.density : p.right_density); }
  HSTU_PRIM Sums lengths(u32 sequence) const {
    return {static_cast<Row>(tile::length_at<typename Config::LeftLength>(p.left_lengths, sequence)),
            static_cast<Row>(tile::length_at<typename Config::RightLength>(p.right_lengths, sequence))};
  }
  HSTU_PRIM static Row key(int output, const Sums& sums) { return output == 0 ? sums.out : sums.other; }

  HSTU_PRIM const void* read() const { return p.combined; }
  HSTU_PRIM i64 rows_read() const { return p.rows; }

  template <class Before>
  struct Runs {
    using Row = typename Config::Row;
    const JaggedLengthsParams& p;
    const int output;
    const Before& sums;
    HSTU_PRIM Runs(const JaggedLengthsParams& p, int output, const Before& sums) : p(p), output(output), sums(sums) {}
    HSTU_PRIM Row start(int run) const { return output == 0 ? sums.out(run) : sums.other(run); }
    HSTU_PRIM u64 from(int run) const {
      return Copy::address(p.combined, output == 0 ? sums.other(run) : sums.out(run + 1));
    }
    HSTU_PRIM u64 begin(int) const { return reinterpret_cast<u64>(p.combined); }
    HSTU_PRIM u64 end(int) const { return Copy::address(p.combined, p.rows); }
  };
  const JaggedLengthsParams& p;
};

}  // namespace split_1d_jagged

template <class Config>
constexpr int split_1d_jagged_sm80_smem_bytes = tile::runs_by_lengths_smem_bytes<Config>;

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    split_1d_jagged_sm80(const __grid_constant__ JaggedLengthsParams p) {
  extern __shared__ __align__(1024) unsigned char smem[];
  tile::RunsByLengths<Config, split_1d_jagged::Copy<Config>>(p, smem).run();
}

}  // namespace hstu
