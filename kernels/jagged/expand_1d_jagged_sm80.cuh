// A jagged vector as rows of one length, sm80: out[b, t] = values[start(b) + min(t, rows - 1)], 0 in empty sequences.
//
// Work      A warp writes a span of a row, kAccesses x 512 bytes from a line of memory on: copied as in
// jagged/runs/runs.cuh
//           while the sequence has elements, filled with the last one behind it.
// Limits    Memory.
// Config    facts: Offset, kElementBytes. knobs: kThreads, kAccesses (pieces of 16 bytes of a thread in flight at
//           once), kMinBlocks.
// Sources   meta-recsys/generative-recommenders, expand_1d_jagged_to_dense.
#pragma once
#include "jagged/jagged_lengths.h"
#include "jagged/runs/runs.cuh"

namespace hstu {

namespace expand_1d_jagged {

// A piece of equal elements.
template <int kBytes>
HSTU_PRIM prim::Quad repeated(const tile::Piece<kBytes>& element) {
  if constexpr (kBytes == 8) {
    return {{element.pair.word[0], element.pair.word[1], element.pair.word[0], element.pair.word[1]}};
  } else {
    const u32 word = kBytes == 4 ? element.word : element.word * (kBytes == 2 ? 0x10001u : 0x1010101u);
    return {{word, word, word, word}};
  }
}

}  // namespace expand_1d_jagged

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    expand_1d_jagged_sm80(const __grid_constant__ ExpandParams p) {
  constexpr int kBytes = Config::kElementBytes, kAccesses = Config::kAccesses;
  constexpr int kPieceRows = 16 / kBytes, kSpanRows = 32 * kAccesses * kPieceRows;
  const u32 span = blockIdx.x * (Config::kThreads / 32u) + threadIdx.x / 32, sequence = span / p.row_spans;
  if (sequence >= p.batch) return;
  const auto* offsets = static_cast<const typename Config::Offset*>(p.offsets);
  const i64 start = offsets[sequence], rows = offsets[sequence + 1] - start;
  char* const out = static_cast<char*>(p.out) + sequence * p.out_row_stride * kBytes;
  const i64 first = i64{span % p.row_spans} * kSpanRows - static_cast<i64>(reinterpret_cast<u64>(out) % 128 / kBytes);
  if (first >= p.max_len) return;
  const u64 from = reinterpret_cast<u64>(p.values) + static_cast<u64>(start * kBytes);
  const auto inside = [&](i64 row, int count) {  // and all that shares 16 bytes with where they come from
    return row >= kPieceRows - 1 && row + count + (kPieceRows - 1) <= rows;
  };
  if (inside(first, kSpanRows) && first + kSpanRows <= p.max_len) {
    tile::SpanInFlight<kBytes, kAccesses> span;
    span.load(from + static_cast<u64>(first * kBytes));
    return span.store(out + first * kBytes, from + static_cast<u64>(first * kBytes));
  }

  tile::Piece<kBytes> last = {};
  if (rows > 0) last.load(reinterpret_cast<const char*>(from) + (rows - 1) * kBytes);
  const prim::Quad filling = expand_1d_jagged::repeated<kBytes>(last);
#pragma unroll
  for (int a = 0; a < kAccesses; ++a) {
    const i64 at = first + (a * 32 + static_cast<int>(threadIdx.x % 32)) * kPieceRows;
    const bool whole = at >= 0 && at + kPieceRows <= p.max_len;
    if (whole && at >= rows) {
      prim::st_global(out + at * kBytes, filling);
    } else if (whole && inside(at, kPieceRows)) {
      const u64 source = from + static_cast<u64>(at * kBytes);
      const u32 shift = source % 16;
      const char* const read = reinterpret_cast<const char*>(source - shift);
      const prim::Quad low = prim::ld_global(read), high = prim::ld_global(read + (shift == 0 ? 0 : 16));
      prim::st_global(out + at * kBytes, shift == 0 ? low : tile::joined<kBytes>(low, high, shift));
    } else {
#pragma unroll 1
      for (i64 t = max(at, i64{0}); t < min(at + kPieceRows, p.max_len); ++t) {
        tile::Piece<kBytes> element = last;
        if (t < rows) element.load(reinterpret_cast<const char*>(from) + t * kBytes);
        element.store(out + t * kBytes);
      }
    }
  }
}

}  // namespace hstu
