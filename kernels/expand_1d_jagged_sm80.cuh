// A jagged vector as rows of one length, sm80: out[b, t] = values[start(b) + min(t, rows - 1)], 0 in empty sequences.
//
// Work      row_blocks blocks a row of out, an element a thread.
// Config    facts: Offset, kElementBytes. knobs: kThreads.
// Sources   meta-recsys/generative-recommenders, expand_1d_jagged_to_dense.
#pragma once
#include "params/jagged_lengths.h"
#include "tile/piece.cuh"

namespace hstu {

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    expand_1d_jagged_sm80(const __grid_constant__ ExpandParams p) {
  constexpr int kBytes = Config::kElementBytes;
  const u32 sequence = blockIdx.x / p.row_blocks;
  const i64 t = static_cast<i64>(blockIdx.x % p.row_blocks) * Config::kThreads + threadIdx.x;
  if (t >= p.max_len) return;
  const auto* offsets = static_cast<const typename Config::Offset*>(p.offsets);
  const i64 start = offsets[sequence], rows = offsets[sequence + 1] - start;
  tile::Piece<kBytes> piece = {};
  if (rows > 0) piece.load(static_cast<const char*>(p.values) + (start + min(t, rows - 1)) * kBytes);
  piece.store(static_cast<char*>(p.out) + (sequence * p.out_row_stride + t) * kBytes);
}

}  // namespace hstu
