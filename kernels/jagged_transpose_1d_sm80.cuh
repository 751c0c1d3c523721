// Transposition of a matrix of jagged segments, sm80: segment i * columns + j becomes j * segment_rows + i. The first
// block also writes the new offsets and lengths. See tile/jagged_lengths.cuh; "left" are the segments in their new
// order.
//
// Config    facts and knobs of tile/jagged_lengths.cuh, RightLength tile::Dense; Offset (of offsets, old and new).
// Sources   meta-recsys/generative-recommenders, jagged_transpose_1d.
#pragma once
#include "tile/jagged_lengths.cuh"

namespace hstu {

namespace jagged_transpose_1d {

template <class Config>
struct Copy {
  enum : bool { kReplaces = true, kNeedsAll = true };
  using Sums = tile::ChunkSums<Config>;
  using Length = typename Config::LeftLength;
  using Offset = typename Config::Offset;

  // Where a segment of the result comes from.
  HSTU_PRIM static i64 source(const JaggedLengthsParams& p, int segment) {
    const u32 rows = static_cast<u32>(p.segment_rows), i = segment % rows, j = segment / rows;
    return i * p.columns + j;
  }
  HSTU_PRIM static i64 left_length(const JaggedLengthsParams& p, int segment) {
    return static_cast<const Length*>(p.left_lengths)[source(p, segment)];
  }
  HSTU_PRIM static void copy(const JaggedLengthsParams& p, const Sums& sums, int i, i64 row, i64 byte) {
    const i64 start = static_cast<const Offset*>(p.offsets)[source(p, sums.first + i)];
    const char* from = static_cast<const char*>(p.left) + (start + row - sums.left[i]) * p.left_row_stride;
    tile::move_piece<Config>(static_cast<char*>(p.combined) + row * p.combined_row_stride + byte, from + byte);
  }
  HSTU_PRIM static void finish_chunk(const JaggedLengthsParams& p, const Sums& sums) {
    if (blockIdx.x != 0) return;
    for (int i = threadIdx.x; i <= Sums::kSequences && sums.first + i <= p.batch; i += Config::kThreads) {
      static_cast<Offset*>(p.out_offsets)[sums.first + i] = static_cast<Offset>(sums.left[i]);
      if (i < Sums::kSequences && sums.first + i < p.batch)
        static_cast<Length*>(p.out_lengths)[sums.first + i] = static_cast<Length>(sums.left[i + 1] - sums.left[i]);
    }
  }
};

}  // namespace jagged_transpose_1d

template <class Config>
constexpr int jagged_transpose_1d_sm80_smem_bytes = tile::jagged_lengths_smem_bytes<Config>;

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    jagged_transpose_1d_sm80(const __grid_constant__ JaggedLengthsParams p) {
  extern __shared__ __align__(1024) unsigned char smem[];
  if (p.batch == 0 && threadIdx.x == 0) static_cast<typename Config::Offset*>(p.out_offsets)[0] = 0;
  tile::copy_by_lengths<Config, jagged_transpose_1d::Copy<Config>>(p, smem);
}

}  // namespace hstu
