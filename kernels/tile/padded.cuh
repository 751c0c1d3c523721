// What jagged_to_padded_dense_sm80 and dense_to_jagged_sm80 share: pieces of rows, known by their size alone. Bound by
// memory, bits unchanged.
//
// Config    facts: Offset, kAccessBytes (16, 8, 4, 2, 1), kRowAccesses (pieces of a row). knobs: kThreads, kAccesses
//           (pieces a thread), kRounds.
#pragma once
#include "params/padded.h"
#include "tile/jagged_copy.cuh"

namespace hstu::tile {

// A piece of the padding.
template <int kBytes>
HSTU_PRIM void fill(Piece<kBytes>& piece, const u32 (&padding)[4]) {
  if constexpr (kBytes == 16) {
#pragma unroll
    for (int i = 0; i < 4; ++i) piece.quad.word[i] = padding[i];
  } else if constexpr (kBytes == 8) {
    piece.pair.word[0] = padding[0];
    piece.pair.word[1] = padding[1];
  } else {
    piece.word = padding[0];
  }
}

HSTU_PRIM char* dense_row(const PaddedParams& p, int sequence, i64 t) {
  return static_cast<char*>(p.dense) + sequence * p.dense_batch_stride + t * p.dense_row_stride;
}
HSTU_PRIM char* jagged_row(const PaddedParams& p, i64 row) {
  return static_cast<char*>(p.jagged) + row * p.jagged_row_stride;
}

}  // namespace hstu::tile
