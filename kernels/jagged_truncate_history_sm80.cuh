// Sequences without their oldest history, sm80: of [contextual | history | targets] the last `keep` history rows stay.
// The first block also writes the new offsets. See tile/jagged_lengths.cuh; "left" are the rows that stay.
//
// Config    facts and knobs of tile/jagged_lengths.cuh, RightLength tile::Dense; LeftLength is the type of num_targets,
// or
//           tile::Dense; Offset (of offsets, old and new).
// Sources   alibaba/TorchEasyRec, jagged_truncate_history.
#pragma once
#include "tile/jagged_lengths.cuh"

namespace hstu {

namespace jagged_truncate_history {

template <class Config>
struct Copy {
  enum : bool { kReplaces = true, kNeedsAll = true };
  using Sums = tile::ChunkSums<Config>;
  using Offset = typename Config::Offset;

  HSTU_PRIM static i64 start(const JaggedLengthsParams& p, int sequence) {
    return static_cast<const Offset*>(p.offsets)[sequence];
  }
  // Rows that stay.
  HSTU_PRIM static i64 left_length(const JaggedLengthsParams& p, int sequence) {
    const i64 rows = start(p, sequence + 1) - start(p, sequence);
    const i64 targets = tile::length_at<typename Config::LeftLength>(p.left_lengths, sequence);
    return rows - max(rows - p.contextual - targets - p.keep, i64{0});
  }
  HSTU_PRIM static void copy(const JaggedLengthsParams& p, const Sums& sums, int i, i64 row, i64 byte) {
    const int sequence = sums.first + i;
    const i64 first = start(p, sequence), t = row - sums.left[i];
    const i64 dropped = start(p, sequence + 1) - first - (sums.left[i + 1] - sums.left[i]);
    const char* from =
        static_cast<const char*>(p.left) + (first + t + (t < p.contextual ? 0 : dropped)) * p.left_row_stride;
    tile::move_piece<Config>(static_cast<char*>(p.combined) + row * p.combined_row_stride + byte, from + byte);
  }
  HSTU_PRIM static void finish_chunk(const JaggedLengthsParams& p, const Sums& sums) {
    if (blockIdx.x != 0) return;
    for (int i = threadIdx.x; i <= Sums::kSequences && sums.first + i <= p.batch; i += Config::kThreads)
      static_cast<Offset*>(p.out_offsets)[sums.first + i] = static_cast<Offset>(sums.left[i]);
  }
};

}  // namespace jagged_truncate_history

template <class Config>
constexpr int jagged_truncate_history_sm80_smem_bytes = tile::jagged_lengths_smem_bytes<Config>;

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    jagged_truncate_history_sm80(const __grid_constant__ JaggedLengthsParams p) {
  extern __shared__ __align__(1024) unsigned char smem[];
  if (p.batch == 0 && threadIdx.x == 0) static_cast<typename Config::Offset*>(p.out_offsets)[0] = 0;
  tile::copy_by_lengths<Config, jagged_truncate_history::Copy<Config>>(p, smem);
}

}  // namespace hstu
