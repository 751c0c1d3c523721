// The intervals of semi-local attention, sm80: three bounds a row, the same for all heads.
//
// Work      A row a thread; a warp finds its rows' sequences together.
// Config    facts: Offset, Target, kHasTargets. knobs: kThreads.
// Sources   alibaba/TorchEasyRec, build_sla_func.
#pragma once
#include "attention/sla_intervals.h"
#include "tile/jagged.cuh"
#include "tile/target_rows.cuh"

namespace hstu {

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    build_sla_func_sm80(const __grid_constant__ SlaIntervalsParams p) {
  const tile::SequenceStarts<typename Config::Offset> starts(p.seq_offsets, 0);
  const i64 row = static_cast<i64>(blockIdx.x) * Config::kThreads + threadIdx.x, warp_row = row - threadIdx.x % 32;
  const i64 end = min(starts.start(p.batch), p.rows);
  if (warp_row >= end) return;
  const tile::SequenceRange range(starts, p.batch, warp_row, min(warp_row + 31, end - 1));
  if (row >= end) return;
  const int sequence = range.of(starts, row);
  const i64 start = starts.start(sequence);
  const int position = static_cast<int>(row - start);
  i64 history = starts.start(sequence + 1) - start;
  if constexpr (Config::kHasTargets)
    history -= tile::target_rows<typename Config::Target>(p.num_targets, sequence, history);
  const int seen = static_cast<int>(history);
  int bound[3] = {seen, seen, seen};
  if (position < seen) {
    bound[0] = min(position + 1, p.first_keys);
    bound[1] = max(position - p.last_keys + 1, p.first_keys);
    bound[2] = position + 1;
  }
  for (int head = 0; head < p.heads; ++head) {
#pragma unroll
    for (int m = 0; m < 3; ++m) p.intervals[head * p.head_stride + m * p.bound_stride + row] = bound[m];
  }
}

}  // namespace hstu
