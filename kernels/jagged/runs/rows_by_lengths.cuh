// Copies of long rows of jagged tensors whose sequences are given by lengths, in one launch and without a workspace:
// each block adds up the lengths itself. Costs a read of the lengths, from L2, per block.
//
//   chunk of lengths ──► starts in smem, and which sequences the block's rows are of ──► rows copied ──► next chunk
//
// Limits    Memory, once nothing stands before a load but one short search: the threads that write a start know whether
//           the block's first or last row is of that sequence, so that a row is searched for among the block's own
//           sequences alone, and once for the 32 kAccesses pieces of a warp, which lie in one row. On an H200 whose
//           copies run at 4166 GB/s, bf16 419584 x 512 in 512 sequences: replacement at 4067, and at 3347 where every
//           piece is searched for among a chunk's 1024 sequences. Where rows go, as in truncation, all blocks share
//           those that stay: blocks that added up the lengths to find that nothing was left for them cost 5 %.
// Barriers  two a chunk: the warps' sums are there; the starts are.
// Config    facts: LeftLength, RightLength (i32, i64, or tile::Dense where there is one part); kAccessBytes,
//           kRowAccesses as in jagged/runs/jagged_copy.cuh.
//           knobs: kThreads, kRows (of a block), kAccesses (of a thread in flight at once), kMinBlocks.
#pragma once
#include "jagged/jagged_lengths.h"
#include "jagged/runs/block_scan.cuh"
#include "tile/jagged.cuh"
#include "tile/piece.cuh"

namespace hstu::tile {

enum : int { kLengthsAThread = 2 };

// Where the sequences of a chunk begin: of the rows that are written, and of those that replace them or that they come
// from.
template <class Config>
struct ChunkStarts {
  enum : int { kSequences = Config::kThreads * kLengthsAThread };
  i64 out[kSequences + 1], in[kSequences + 1];
  struct alignas(16) WarpSum {
    i64 out, in;
  } warp_sums[Config::kThreads / 32];
  int first, last;  // sequences of the block's rows
};

template <class Config>
constexpr int rows_by_lengths_smem_bytes = static_cast<int>(sizeof(ChunkStarts<Config>));

// Copy: a type with lengths(p, sequence, out, in), the rows of a sequence; where kGivenIn, in_start(p, sequence)
// instead of sums of `in`; from(p, starts, i, row), where row `row` of out, of sequence i of the chunk, comes from;
// finish_chunk(p, starts, first sequence of the chunk); kShared, whether fewer rows may be written than out has, so
// that all blocks share those of each chunk alike.
template <class Config, class Copy>
class RowsByLengths {
  using Starts = ChunkStarts<Config>;
  enum : int { kSequences = Starts::kSequences, kThreads = Config::kThreads, kWarps = kThreads / 32 };
  enum : int { kAccesses = Config::kAccesses, kSpan = 32 * kAccesses };
  enum : u32 { kRowPieces = Config::kRowAccesses };
  enum : bool { kOneRow = kRowPieces % kSpan == 0 };  // a span of pieces lies in one row

  const JaggedLengthsParams& p_;
  Starts& starts_;
  i64 begin_, end_;  // the block's rows
  i64 out_base_ = 0, in_base_ = 0;

 public:
  HSTU_PRIM RowsByLengths(const JaggedLengthsParams& p, unsigned char* smem)
      : p_(p),
        starts_(*reinterpret_cast<Starts*>(smem)),
        begin_(static_cast<i64>(blockIdx.x) * Config::kRows),
        end_(min(begin_ + Config::kRows, p.rows)) {}

  HSTU_PRIM void run() {
    for (int first = 0; first < p_.batch; first += kSequences) {
      find_starts(first);
      const i64 from = max(begin_, starts_.out[0]), to = min(end_, starts_.out[kSequences]);
      if (from < to) copy(from, to);
      Copy::finish_chunk(p_, starts_, first);
      out_base_ = starts_.out[kSequences];
      in_base_ = starts_.in[kSequences];
      if (first + kSequences >= p_.batch || (!Copy::kShared && out_base_ >= end_)) break;
      __syncthreads();
    }
  }

 private:
  HSTU_PRIM void find_starts(int first) {
    const u32 lane = prim::lane_id(), warp = threadIdx.x / 32;
    const int mine = first + static_cast<int>(threadIdx.x) * kLengthsAThread;
    i64 out[kLengthsAThread], in[kLengthsAThread], out_sum = 0, in_sum = 0;
#pragma unroll
    for (int i = 0; i < kLengthsAThread; ++i) {
      out[i] = in[i] = 0;
      if (mine + i < p_.batch) Copy::lengths(p_, mine + i, out[i], in[i]);
      if constexpr (Copy::kGivenIn) in[i] = Copy::in_start(p_, min(mine + i, p_.batch));
    }
#pragma unroll
    for (int i = 0; i < kLengthsAThread; ++i) {
      out_sum += out[i];
      if constexpr (!Copy::kGivenIn) in_sum += in[i];
    }
    i64 out_at = out_sum, in_at = in_sum;
    add_before(out_at, lane);
    if constexpr (!Copy::kGivenIn) add_before(in_at, lane);
    if (lane == 31) starts_.warp_sums[warp] = {out_at, in_at};
    __syncthreads();
    out_at += out_base_ - out_sum;
    in_at += in_base_ - in_sum;
    i64 chunk_end = out_base_;
#pragma unroll
    for (u32 w = 0; w < kWarps; ++w) {
      const i64 sum = starts_.warp_sums[w].out;
      chunk_end += sum;
      if (w < warp) {
        out_at += sum;
        if constexpr (!Copy::kGivenIn) in_at += starts_.warp_sums[w].in;
      }
    }
    if constexpr (Copy::kShared) take_share(chunk_end);
    const i64 from = max(begin_, out_base_), last = min(end_, chunk_end) - 1;
#pragma unroll
    for (int i = 0; i < kLengthsAThread; ++i) {
      const int at = static_cast<int>(threadIdx.x) * kLengthsAThread + i;
      starts_.out[at] = out_at;
      starts_.in[at] = Copy::kGivenIn ? in[i] : in_at;
      if (out_at <= from && from < out_at + out[i]) starts_.first = at;
      if (out_at <= last && last < out_at + out[i]) starts_.last = at;
      out_at += out[i];
      in_at += in[i];
    }
    if (threadIdx.x == kThreads - 1) {
      starts_.out[kSequences] = out_at;
      if constexpr (Copy::kGivenIn)
        starts_.in[kSequences] = Copy::in_start(p_, min(first + kSequences, p_.batch));
      else
        starts_.in[kSequences] = in_at;
    }
    __syncthreads();
  }

  // The block's rows become its share of the chunk's.
  HSTU_PRIM void take_share(i64 chunk_end) {
    const u64 rows = static_cast<u64>(max(min(chunk_end, p_.rows) - out_base_, i64{0}));
    const u64 each = rows / gridDim.x, more = rows - each * gridDim.x;
    begin_ = out_base_ + static_cast<i64>(blockIdx.x * each + min(u64{blockIdx.x}, more));
    end_ = begin_ + static_cast<i64>(each + (blockIdx.x < more));
  }

  // The sequence of the block that a row belongs to; the last one that begins at the row or before.
  HSTU_PRIM int sequence_of(i64 row) const {
    int low = starts_.first, high = starts_.last + 1;
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      if (starts_.out[middle] <= row)
        low = middle;
      else
        high = middle;
    }
    return low;
  }

  HSTU_PRIM void copy(i64 from, i64 to) {
    const u32 pieces = static_cast<u32>(to - from) * kRowPieces, lane = threadIdx.x % 32;
    char* const out = static_cast<char*>(p_.combined);
#pragma unroll 1
    for (u32 span = threadIdx.x / 32 * kSpan; span < pieces; span += kWarps * kSpan) {
      Piece<Config::kAccessBytes> data[kAccesses];
      if constexpr (kOneRow) {
        const i64 row = from + span / kRowPieces;
        const u32 byte = (span % kRowPieces + lane) * Config::kAccessBytes;
        const char* const source = Copy::from(p_, starts_, sequence_of(row), row) + byte;
#pragma unroll
        for (int a = 0; a < kAccesses; ++a) data[a].load(source + a * 32 * Config::kAccessBytes);
        char* const target = out + row * p_.combined_row_stride + byte;
#pragma unroll
        for (int a = 0; a < kAccesses; ++a) data[a].store(target + a * 32 * Config::kAccessBytes);
      } else {
#pragma unroll
        for (int a = 0; a < kAccesses; ++a) {
          const u32 piece = span + a * 32 + lane;
          const i64 row = from + piece / kRowPieces;
          if (piece < pieces)
            data[a].load(Copy::from(p_, starts_, sequence_of(row), row) + piece % kRowPieces * Config::kAccessBytes);
        }
#pragma unroll
        for (int a = 0; a < kAccesses; ++a) {
          const u32 piece = span + a * 32 + lane;
          const i64 row = from + piece / kRowPieces;
          if (piece < pieces)
            data[a].store(out + row * p_.combined_row_stride + piece % kRowPieces * Config::kAccessBytes);
        }
      }
    }
  }
};

}  // namespace hstu::tile
