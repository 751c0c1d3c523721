// Each sequence of a jagged vector once without its first element, to left, and once without its last, to right, sm80.
// Both have the same rows; left's come from one element further. See jagged/runs/runs_by_lengths.cuh.
//
// Config    facts and knobs of jagged/runs/runs_by_lengths.cuh, RightLength and Offset tile::Dense.
// Sources   meta-recsys/generative-recommenders, jagged_remove_first_or_last_1D.
#pragma once
#include "jagged/runs/runs_by_lengths.cuh"

namespace hstu {

namespace jagged_remove_1d {

template <class Config>
struct Copy : tile::VectorCopy<Config> {
  using Row = typename Config::Row;
  using Sums = tile::RowSums<Row>;
  enum : int { kRunsASequence = 1, kOutputs = 2 };
  enum : bool { kOther = false, kSameRows = true };
  HSTU_PRIM explicit Copy(const JaggedLengthsParams& p) : p(p) {}

  HSTU_PRIM char* out(int output) const { return static_cast<char*>(output == 0 ? p.left : p.right); }
  HSTU_PRIM Row rows_of(int) const { return static_cast<Row>(p.rows - p.batch); }
  HSTU_PRIM u64 density(int) const { return static_cast<u64>(p.density); }
  HSTU_PRIM Sums lengths(u32 sequence) const {
    return {static_cast<Row>(tile::length_at<typename Config::LeftLength>(p.left_lengths, sequence)), 0};
  }
  // Each sequence loses an element. One without any, which the caller promised not to have, moves what follows: row t
  // comes from t + sequence or the next, and both lie inside of the vector for all t and sequences that there are.
  HSTU_PRIM static Sums sums_of(const Sums& lengths) { return {max(lengths.out - 1, Row{0}), 0}; }
  HSTU_PRIM static Row key(int, const Sums& sums) { return sums.out; }

  HSTU_PRIM const void* read() const { return p.combined; }
  HSTU_PRIM i64 rows_read() const { return p.rows; }

  template <class Before>
  struct Runs {
    using Row = typename Config::Row;
    const JaggedLengthsParams& p;
    const int output;
    const Before& sums;
    HSTU_PRIM Runs(const JaggedLengthsParams& p, int output, const Before& sums) : p(p), output(output), sums(sums) {}
    HSTU_PRIM Row start(int run) const { return sums.out(run); }
    HSTU_PRIM u64 from(int run) const {
      return Copy::address(p.combined, static_cast<i64>(sums.first) + run + 1 - output);
    }
    HSTU_PRIM u64 begin(int) const { return reinterpret_cast<u64>(p.combined); }
    HSTU_PRIM u64 end(int) const { return Copy::address(p.combined, p.rows); }
  };
  const JaggedLengthsParams& p;
};

}  // namespace jagged_remove_1d

template <class Config>
constexpr int jagged_remove_1d_sm80_smem_bytes = tile::runs_by_lengths_smem_bytes<Config>;

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    jagged_remove_1d_sm80(const __grid_constant__ JaggedLengthsParams p) {
  extern __shared__ __align__(1024) unsigned char smem[];
  tile::RunsByLengths<Config, jagged_remove_1d::Copy<Config>>(p, smem).run();
}

}  // namespace hstu
