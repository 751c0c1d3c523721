// Concatenation of two jagged vectors sequence by sequence, given their lengths, sm80: out = left | right in each. See
// jagged/runs/runs_by_lengths.cuh.
//
// Config    facts and knobs of jagged/runs/runs_by_lengths.cuh.
// Sources   meta-recsys/generative-recommenders, concat_1d_jagged_jagged.
#pragma once
#include "jagged/runs/runs_by_lengths.cuh"

namespace hstu {

namespace concat_1d_jagged {

template <class Config>
struct Copy : tile::VectorCopy<Config> {
  using Row = typename Config::Row;
  using Sums = tile::RowSums<Row>;
  enum : int { kRunsASequence = 2, kOutputs = 1 };
  enum : bool { kOther = true };
  HSTU_PRIM explicit Copy(const JaggedLengthsParams& p) : p(p) {}

  HSTU_PRIM char* out(int) const { return static_cast<char*>(p.combined); }
  HSTU_PRIM Row rows_of(int) const { return static_cast<Row>(p.rows); }
  HSTU_PRIM u64 density(int) const { return static_cast<u64>(p.density); }
  HSTU_PRIM Sums lengths(u32 sequence) const {
    return {static_cast<Row>(tile::length_at<typename Config::LeftLength>(p.left_lengths, sequence)),
            static_cast<Row>(tile::length_at<typename Config::RightLength>(p.right_lengths, sequence))};
  }
  HSTU_PRIM static Sums sums_of(const Sums& lengths) { return {lengths.out + lengths.other, lengths.out}; }
  HSTU_PRIM static Row key(int, const Sums& sums) { return sums.out; }

  HSTU_PRIM const void* read() const { return p.left; }
  HSTU_PRIM i64 rows_read() const { return p.left_rows; }

  // A sequence's left, then its right.
  template <class Before>
  struct Runs {
    using Row = typename Config::Row;
    const JaggedLengthsParams& p;
    const Before& sums;
    HSTU_PRIM Runs(const JaggedLengthsParams& p, int, const Before& sums) : p(p), sums(sums) {}
    HSTU_PRIM Row start(int run) const {
      const int sequence = run / 2;
      return sums.out(sequence) + (run % 2 == 0 ? 0 : sums.other(sequence + 1) - sums.other(sequence));
    }
    HSTU_PRIM u64 from(int run) const {
      const int sequence = run / 2;
      return run % 2 == 0 ? Copy::address(p.left, sums.other(sequence) - sums.out(sequence))
                          : Copy::address(p.right, -sums.other(sequence + 1));
    }
    HSTU_PRIM u64 begin(int run) const { return reinterpret_cast<u64>(run % 2 == 0 ? p.left : p.right); }
    HSTU_PRIM u64 end(int run) const {
      return run % 2 == 0 ? Copy::address(p.left, p.left_rows) : Copy::address(p.right, p.rows - p.left_rows);
    }
  };
  const JaggedLengthsParams& p;
};

}  // namespace concat_1d_jagged

template <class Config>
constexpr int concat_1d_jagged_sm80_smem_bytes = tile::runs_by_lengths_smem_bytes<Config>;

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    concat_1d_jagged_sm80(const __grid_constant__ JaggedLengthsParams p) {
  extern __shared__ __align__(1024) unsigned char smem[];
  tile::RunsByLengths<Config, concat_1d_jagged::Copy<Config>>(p, smem).run();
}

}  // namespace hstu
