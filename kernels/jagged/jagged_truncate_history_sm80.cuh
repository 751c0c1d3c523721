// Sequences without their oldest history, sm80: of [contextual | history | targets] the last `keep` history rows stay.
// The first block also writes the new offsets. See jagged/runs/rows_by_lengths.cuh.
//
// Config    facts and knobs of jagged/runs/rows_by_lengths.cuh, RightLength tile::Dense; LeftLength is the type of
//           num_targets, or tile::Dense; Offset (of offsets, old and new).
// Sources   alibaba/TorchEasyRec, jagged_truncate_history.
#pragma once
#include "jagged/runs/rows_by_lengths.cuh"
#include "tile/target_rows.cuh"

namespace hstu {

namespace jagged_truncate_history {

template <class Config>
struct Copy {
  enum : bool { kGivenIn = true, kShared = true };
  using Starts = tile::ChunkStarts<Config>;
  using Offset = typename Config::Offset;

  HSTU_PRIM static i64 in_start(const JaggedLengthsParams& p, int sequence) {
    return static_cast<const Offset*>(p.offsets)[sequence];
  }
  HSTU_PRIM static i64 targets(const JaggedLengthsParams& p, int sequence, i64 rows) {
    using Target = typename Config::LeftLength;
    if constexpr (tile::SequenceStarts<Target>::kDense)
      return 0;
    else
      return tile::target_rows<Target>(p.left_lengths, sequence, rows);
  }
  // Rows that stay.
  HSTU_PRIM static void lengths(const JaggedLengthsParams& p, int sequence, i64& out, i64&) {
    const i64 rows = in_start(p, sequence + 1) - in_start(p, sequence);
    out = min(rows, p.contextual + targets(p, sequence, rows) + p.keep);
  }
  HSTU_PRIM static const char* from(const JaggedLengthsParams& p, const Starts& starts, int i, i64 row) {
    const i64 at = row - starts.out[i];
    const i64 from = at < p.contextual ? starts.in[i] + at : starts.in[i + 1] - (starts.out[i + 1] - row);
    return static_cast<const char*>(p.left) + from * p.left_row_stride;
  }
  HSTU_PRIM static void finish_chunk(const JaggedLengthsParams& p, const Starts& starts, int first) {
    if (blockIdx.x != 0) return;
    for (int i = threadIdx.x; i <= Starts::kSequences && first + i <= p.batch; i += Config::kThreads)
      static_cast<Offset*>(p.out_offsets)[first + i] = static_cast<Offset>(starts.out[i]);
  }
};

}  // namespace jagged_truncate_history

template <class Config>
constexpr int jagged_truncate_history_sm80_smem_bytes = tile::rows_by_lengths_smem_bytes<Config>;

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    jagged_truncate_history_sm80(const __grid_constant__ JaggedLengthsParams p) {
  extern __shared__ __align__(1024) unsigned char smem[];
  if (p.batch == 0 && threadIdx.x == 0) static_cast<typename Config::Offset*>(p.out_offsets)[0] = 0;
  tile::RowsByLengths<Config, jagged_truncate_history::Copy<Config>>(p, smem).run();
}

}  // namespace hstu
