// Rows of padded matrices as a jagged tensor, sm80: row t of sequence b is dense[b, t], 0 where the matrix ends before
// it.
//
// Work      A block takes a run of pieces of out, row after row; its first warp finds the sequences of these rows.
// Barriers  one __syncthreads: the sequences are known.
// Config    jagged/runs/padded.cuh.
// Sources   FBGEMM, dense_to_jagged.
#pragma once
#include "jagged/runs/padded.cuh"

namespace hstu {

template <class Config>
constexpr int dense_to_jagged_sm80_smem_bytes = static_cast<int>(sizeof(tile::SequenceRange));

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    dense_to_jagged_sm80(const __grid_constant__ PaddedParams p) {
  constexpr int kAll = Config::kAccesses * Config::kRounds;
  extern __shared__ __align__(1024) unsigned char smem[];
  auto& range = *reinterpret_cast<tile::SequenceRange*>(smem);
  const tile::RowPieces<Config> pieces(blockIdx.x);
  const tile::SequenceStarts<typename Config::Offset> starts(p.offsets, 0);
  if (threadIdx.x < 32) {
    const tile::SequenceRange found(starts, p.batch, pieces.first_row, pieces.last_row(p.rows));
    if (threadIdx.x == 0) range = found;
  }
  __syncthreads();
  const i64 end = min(starts.start(p.batch), p.rows);
#pragma unroll
  for (int round = 0; round < kAll; round += Config::kAccesses) {
    tile::Piece<Config::kAccessBytes> piece[Config::kAccesses] = {};
#pragma unroll
    for (int a = 0; a < Config::kAccesses; ++a) {
      const i64 row = pieces.row(round + a);
      if (row >= end) continue;
      const int sequence = range.of(starts, row);
      const i64 t = row - starts.start(sequence);
      if (t < p.max_len) piece[a].load(tile::dense_row(p, sequence, t) + pieces.byte(round + a));
    }
#pragma unroll
    for (int a = 0; a < Config::kAccesses; ++a)
      if (pieces.row(round + a) < end)
        piece[a].store(tile::jagged_row(p, pieces.row(round + a)) + pieces.byte(round + a));
  }
}

}  // namespace hstu
