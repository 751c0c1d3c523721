// A jagged tensor as padded matrices, sm80: out[b, t] = row t of sequence b, padding behind its last.
//
// Work      A block takes a run of pieces of out, row after row, whatever the length of a row; each thread asks the
//           offsets for its own piece's row, from L1.
// Config    jagged/runs/padded.cuh.
// Sources   FBGEMM, jagged_to_padded_dense.
#pragma once
#include "jagged/runs/padded.cuh"

namespace hstu {

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    jagged_to_padded_dense_sm80(const __grid_constant__ PaddedParams p) {
  constexpr int kAll = Config::kAccesses * Config::kRounds;
  using Piece = tile::Piece<Config::kAccessBytes>;
  const tile::RowPieces<Config> pieces(blockIdx.x);
  const auto* offsets = static_cast<const typename Config::Offset*>(p.offsets);
  // The block's first row as sequence and place in it, so that threads divide small numbers.
  const i64 first_sequence = pieces.first_row / p.max_len;
  const u32 first_t = static_cast<u32>(pieces.first_row - first_sequence * p.max_len);
#pragma unroll
  for (int round = 0; round < kAll; round += Config::kAccesses) {
    Piece piece[Config::kAccesses];
    char* to[Config::kAccesses];
#pragma unroll
    for (int a = 0; a < Config::kAccesses; ++a) {
      const i64 row = pieces.row(round + a);
      to[a] = nullptr;
      if (row >= p.rows) continue;
      const u32 ahead = first_t + static_cast<u32>(row - pieces.first_row), sequences = ahead / p.max_len;
      const int sequence = static_cast<int>(first_sequence + sequences);
      const i64 t = ahead - sequences * p.max_len, start = offsets[sequence], byte = pieces.byte(round + a);
      to[a] = tile::dense_row(p, sequence, t) + byte;
      if (t < offsets[sequence + 1] - start)
        piece[a].load(tile::jagged_row(p, start + t) + byte);
      else
        tile::fill(piece[a], p.padding);
    }
#pragma unroll
    for (int a = 0; a < Config::kAccesses; ++a)
      if (to[a]) piece[a].store(to[a]);
  }
}

}  // namespace hstu
