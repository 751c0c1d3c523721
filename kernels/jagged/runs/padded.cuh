// What jagged_to_padded_dense_sm80 and dense_to_jagged_sm80 share: pieces of rows, known by their size alone. Bound by
// memory, bits unchanged.
//
// Config    facts: Offset, kAccessBytes (16, 8, 4, 2, 1), kRowAccesses (pieces of a row). knobs: kThreads, kAccesses
//           (pieces a thread), kRounds.
#pragma once
#include "jagged/padded.h"
#include "tile/jagged.cuh"
#include "tile/piece.cuh"

namespace hstu::tile {

// The pieces of one thread, kThreads apart in its block's run of rows. Access a of round r is number r kAccesses + a.
template <class Config>
struct RowPieces {
  enum : int { kBlockPieces = Config::kThreads * Config::kAccesses * Config::kRounds };
  enum : u32 { kRowAccesses = Config::kRowAccesses };
  // At most; a row may lie across blocks.
  enum : int {
    kRows = kBlockPieces % Config::kRowAccesses == 0
                ? kBlockPieces / Config::kRowAccesses
                : (kBlockPieces + Config::kRowAccesses - 2) / Config::kRowAccesses + 1
  };

  HSTU_PRIM explicit RowPieces(i64 block) {
    const u64 begin = static_cast<u64>(block) * kBlockPieces;
    first_row = static_cast<i64>(begin / kRowAccesses);
    first_piece = static_cast<u32>(begin % kRowAccesses);
  }
  HSTU_PRIM i64 last_row(i64 rows) const {
    return min(first_row + (first_piece + (kBlockPieces - 1)) / kRowAccesses, rows - 1);
  }
  HSTU_PRIM u32 piece(int access) const { return first_piece + access * Config::kThreads + threadIdx.x; }
  HSTU_PRIM int block_row(int access) const { return static_cast<int>(piece(access) / kRowAccesses); }
  HSTU_PRIM i64 row(int access) const { return first_row + block_row(access); }
  HSTU_PRIM i64 byte(int access) const { return i64{piece(access) % kRowAccesses} * Config::kAccessBytes; }

  i64 first_row;
  u32 first_piece;
};

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
