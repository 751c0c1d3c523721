// Copies of jagged tensors whose sequences are given by lengths, in one launch and without a workspace: each block adds
// up the lengths itself, as far as its own rows. Costs a read of the lengths, from L2, per block; meant for batches, of
// up to some ten thousand sequences.
//
//   chunk of lengths ──► prefix sums in smem ──► this block's rows of these sequences, copied ──► next chunk
//
// Barriers  around the prefix sums of each chunk.
// Config    facts: LeftLength, RightLength (i32, i64, or tile::Dense where there is one part); kAccessBytes,
//           kRowAccesses as in tile/jagged_copy.cuh.
//           knobs: kThreads, kRows (of a block).
// Copy      a type with left_length(p, sequence) and copy(p, sums, sequence in the chunk, row, byte): moves one piece
// of
//           a combined row. kReplaces: combined rows are those of left alone.
#pragma once
#include "params/jagged_lengths.h"
#include "tile/block_scan.cuh"
#include "tile/jagged.cuh"
#include "tile/piece.cuh"

namespace hstu::tile {

enum : int { kLengthsAThread = 4 };

// Where the sequences of a chunk begin in both parts.
template <class Config>
struct ChunkSums {
  enum : int { kSequences = Config::kThreads * kLengthsAThread };
  i64 left[kSequences + 1], right[kSequences + 1];
  i64 warp_sums[Config::kThreads / 32];
  int first;  // sequence of the chunk

  template <bool kReplaces>
  HSTU_PRIM i64 start(int i) const {
    return kReplaces ? left[i] : left[i] + right[i];
  }
};

template <class Config>
constexpr int jagged_lengths_smem_bytes = static_cast<int>(sizeof(ChunkSums<Config>));

// Prefix sums of one part over a chunk: to[i] for its sequences and one more. length[i]: the thread's own.
template <class Config>
HSTU_PRIM void sum_chunk(i64 (&to)[ChunkSums<Config>::kSequences + 1], i64* warp_sums, i64 base,
                         const i64 (&length)[kLengthsAThread]) {
  i64 sum = 0, total = 0;
#pragma unroll
  for (int i = 0; i < kLengthsAThread; ++i) sum += length[i];
  i64 before = base + sum_before<Config::kThreads>(sum, total, warp_sums);
#pragma unroll
  for (int i = 0; i < kLengthsAThread; ++i) {
    to[threadIdx.x * kLengthsAThread + i] = before;
    before += length[i];
  }
  if (threadIdx.x == Config::kThreads - 1) to[ChunkSums<Config>::kSequences] = before;
}

// The sequence of the chunk that a combined row belongs to; the last one that begins at the row or before.
template <bool kReplaces, class Config>
HSTU_PRIM int find_in_chunk(const ChunkSums<Config>& sums, i64 row) {
  int low = 0, high = ChunkSums<Config>::kSequences;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (sums.template start<kReplaces>(middle) <= row)
      low = middle;
    else
      high = middle;
  }
  return low;
}

template <class Config, class Copy>
HSTU_PRIM void copy_by_lengths(const JaggedLengthsParams& p, unsigned char* smem) {
  constexpr int kSequences = ChunkSums<Config>::kSequences;
  constexpr u32 kRowAccesses = Config::kRowAccesses;
  auto& sums = *reinterpret_cast<ChunkSums<Config>*>(smem);
  const i64 begin = static_cast<i64>(blockIdx.x) * Config::kRows, end = min(begin + Config::kRows, p.rows);
  i64 left_base = 0, right_base = 0;
  for (int first = 0; first < p.batch; first += kSequences) {
    i64 left[kLengthsAThread], right[kLengthsAThread];
#pragma unroll
    for (int i = 0; i < kLengthsAThread; ++i) {
      const int sequence = first + threadIdx.x * kLengthsAThread + i;
      left[i] = sequence < p.batch ? Copy::left_length(p, sequence) : 0;
      right[i] = sequence < p.batch ? length_at<typename Config::RightLength>(p.right_lengths, sequence) : 0;
    }
    sum_chunk<Config>(sums.left, sums.warp_sums, left_base, left);
    sum_chunk<Config>(sums.right, sums.warp_sums, right_base, right);
    if (threadIdx.x == 0) sums.first = first;
    __syncthreads();

    const i64 from = max(begin, sums.template start<Copy::kReplaces>(0));
    const i64 to = min(end, sums.template start<Copy::kReplaces>(kSequences));
    for (i64 piece = threadIdx.x; piece < (to - from) * kRowAccesses; piece += Config::kThreads) {
      const i64 row = from + piece / kRowAccesses;
      Copy::copy(p, sums, find_in_chunk<Copy::kReplaces>(sums, row), row, piece % kRowAccesses * Config::kAccessBytes);
    }
    Copy::finish_chunk(p, sums);
    left_base = sums.left[kSequences];
    right_base = sums.right[kSequences];
    if (!Copy::kNeedsAll && (Copy::kReplaces ? left_base : left_base + right_base) >= end) break;
    __syncthreads();
  }
}

template <class Config>
HSTU_PRIM void move_piece(void* to, const void* from) {
  Piece<Config::kAccessBytes> piece;
  piece.load(from);
  piece.store(to);
}

}  // namespace hstu::tile
