// Transposition of a matrix of jagged segments, sm80: segment i * columns + j becomes j * segment_rows + i. The new
// offsets and lengths are written by the blocks whose rows the segments begin with. See tile/runs_by_lengths.cuh;
// "left" are the segments in their old order.
//
// Config    facts and knobs of tile/runs_by_lengths.cuh, RightLength tile::Dense; Offset (of offsets, old and new).
// Sources   meta-recsys/generative-recommenders, jagged_transpose_1d.
#pragma once
#include "tile/runs_by_lengths.cuh"

namespace hstu {

namespace jagged_transpose_1d {

template <class Config>
struct Copy : tile::BlockRows<Config> {
  enum : int { kRunsASequence = 1, kOutputs = 1 };
  using Length = typename Config::LeftLength;
  using Offset = typename Config::Offset;
  HSTU_PRIM explicit Copy(const JaggedLengthsParams& p)
      : tile::BlockRows<Config>(blockIdx.x, p.rows, p.block_rows), p(p) {}

  HSTU_PRIM char* out(int) const { return this->at(p.combined, this->begin()); }
  HSTU_PRIM tile::RowSums rows(int segment) const {
    return {static_cast<i64>(static_cast<const Length*>(p.left_lengths)[source(segment)]), 0};
  }
  template <class Table>
  HSTU_PRIM void set_runs(Table& runs, int place, int segment, const tile::RowSums& before,
                          const tile::RowSums&) const {
    const i64 from = static_cast<const Offset*>(p.offsets)[source(segment)], start = before.out - this->begin();
    runs.set(place, start, this->address(p.left, from - start));
  }
  HSTU_PRIM bool needs_all() const { return blockIdx.x + 1 == gridDim.x; }
  HSTU_PRIM void finish(int segment, const tile::RowSums& before, const tile::RowSums& rows) const {
    if (before.out < this->begin() || (before.out >= this->end() && !needs_all())) return;
    static_cast<Offset*>(p.out_offsets)[segment] = static_cast<Offset>(before.out);
    static_cast<Length*>(p.out_lengths)[segment] = static_cast<Length>(rows.out);
    if (segment + 1 == p.batch)
      static_cast<Offset*>(p.out_offsets)[p.batch] = static_cast<Offset>(before.out + rows.out);
  }

 private:
  // Where a segment of the result comes from.
  HSTU_PRIM i64 source(int segment) const {
    const u32 rows = static_cast<u32>(p.segment_rows), i = segment % rows, j = segment / rows;
    return i * p.columns + j;
  }
  const JaggedLengthsParams& p;
};

}  // namespace jagged_transpose_1d

template <class Config>
constexpr int jagged_transpose_1d_sm80_smem_bytes =
    tile::runs_by_lengths_smem_bytes<Config, jagged_transpose_1d::Copy<Config>>;

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    jagged_transpose_1d_sm80(const __grid_constant__ JaggedLengthsParams p) {
  using Copy = jagged_transpose_1d::Copy<Config>;
  extern __shared__ __align__(1024) unsigned char smem[];
  if (p.batch == 0 && threadIdx.x == 0) static_cast<typename Config::Offset*>(p.out_offsets)[0] = 0;
  tile::RunsByLengths<Config, Copy>(Copy(p), p.batch, smem).run();
}

}  // namespace hstu
