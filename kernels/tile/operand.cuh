// An operand of a matrix product: its block tile in shared memory, the copy that fills it and the mma fragments read
// from it. Both storage orders of a 16-bit matrix are covered, so transposed operands cost nothing.
//
// "Extent" is the operand's own dimension (rows of x, columns of w), k the one summed over. A tile is stored as its
// matrix is: lines contiguous in memory stay lines in shared memory, in 16-byte chunks (8 elements) whose position in
// the line is XORed with a function of the line number, so that the eight chunks of one ldmatrix matrix (same chunk,
// eight neighbouring lines) fall into different banks.
#pragma once
#include "prim/cp_async.cuh"
#include "prim/lanes.cuh"
#include "prim/memory.cuh"
#include "prim/mma.cuh"

namespace hstu {

// kAlongK: memory is contiguous along k (lines are rows of x or columns of w); otherwise along the extent.
template <int kExtent, int kBlockK, bool kAlongK_>
struct OperandTile {
  static constexpr bool kAlongK = kAlongK_;
  static constexpr int kLines = kAlongK ? kExtent : kBlockK;
  static constexpr int kLineElements = kAlongK ? kBlockK : kExtent;
  static constexpr int kChunks = kLineElements / 8;  // per line
  static constexpr int kLineBytes = kLineElements * 2;
  static constexpr int kBytes = kLines * kLineBytes;
  static_assert(kLines % 8 == 0 && kChunks >= 2 && (kChunks & (kChunks - 1)) == 0,
                "a line of an operand tile holds a power of two of 16-byte chunks, two at least");

  // Byte offset of a chunk. The swizzle repeats every 8 lines.
  HSTU_PRIM static u32 offset(u32 line, u32 chunk) {
    const u32 turn = kChunks >= 8 ? line & 7 : kChunks == 4 ? (line >> 1) & 3 : (line >> 2) & 1;
    return line * kLineBytes + ((chunk ^ turn) << 4);
  }
};

// Copies 8 consecutive elements to shared memory with accesses of kVector elements; zeros beyond the first `valid` (0
// to 8, a multiple of kVector). One element at a time goes through registers: the data is then there at the next
// barrier, earlier than cp_async_wait asks.
template <int kVector>
HSTU_PRIM void copy_chunk(u32 dst, const u16* src, int valid) {
  static_assert(kVector == 8 || kVector == 4 || kVector == 2 || kVector == 1, "accesses are of 1, 2, 4 or 8 elements");
  if constexpr (kVector == 8) {
    prim::cp_async16_zfill(dst, src, static_cast<u32>(2 * valid));
  } else if constexpr (kVector == 1) {
    prim::Quad q;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const u32 lo = 2 * i < valid ? src[2 * i] : 0;
      const u32 hi = 2 * i + 1 < valid ? src[2 * i + 1] : 0;
      q.word[i] = lo | hi << 16;
    }
    prim::st_shared(dst, q);
  } else {
#pragma unroll
    for (int i = 0; i < 8; i += kVector) {
      const u32 bytes = i < valid ? 2 * kVector : 0;
      if constexpr (kVector == 4) prim::cp_async8_zfill(dst + 2 * i, src + i, bytes);
      if constexpr (kVector == 2) prim::cp_async4_zfill(dst + 2 * i, src + i, bytes);
    }
  }
}

// A thread's share of copying one operand's tiles, slice after slice along k. Elements outside the matrix become zeros
// and are not read. kTailK: k may end inside a slice.
template <class Tile, int kBlockK, int kThreads, int kVector, bool kTailK>
class OperandLoader {
 public:
  static_assert(kThreads % Tile::kChunks == 0, "the block's threads copy whole lines of an operand tile");

  // The tile that starts at `extent_begin` (a multiple of 8) of the operand and at k = 0.
  HSTU_PRIM void begin(const void* matrix, i64 line_stride, i64 extent_begin, i64 extent, i64 k) {
    const i64 line = first_line() + (Tile::kAlongK ? extent_begin : 0);
    const i64 column = chunk() * 8 + (Tile::kAlongK ? 0 : extent_begin);
    src_ = static_cast<const u16*>(matrix) + line * line_stride + column;
    lines_left_ = clamp_left((Tile::kAlongK ? extent : k) - line);
    columns_left_ = clamp_left((Tile::kAlongK ? k : extent) - column);
  }

  // Issues the copies of the current slice to the tile at shared address `tile`.
  HSTU_PRIM void load(u32 tile, i64 line_stride) const {
    constexpr bool kCheckLines = Tile::kAlongK || kTailK, kCheckColumns = !Tile::kAlongK || kTailK;
    const int columns = kCheckColumns ? min(max(columns_left_, 0), 8) : 8;
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass) {
      const u32 line = first_line() + pass * kLinesPerPass;
      if (Tile::kLines % kLinesPerPass != 0 && line >= Tile::kLines) break;
      const bool inside = !kCheckLines || pass * kLinesPerPass < lines_left_;
      copy_chunk<kVector>(tile + Tile::offset(line, chunk()), src_ + pass * kLinesPerPass * line_stride,
                          inside ? columns : 0);
    }
  }

  // Moves to the next slice along k.
  HSTU_PRIM void advance(i64 line_stride) {
    if constexpr (Tile::kAlongK) {
      src_ += kBlockK;
      if constexpr (kTailK) columns_left_ -= kBlockK;
    } else {
      src_ += kBlockK * line_stride;
      if constexpr (kTailK) lines_left_ -= kBlockK;
    }
  }

 private:
  static constexpr int kLinesPerPass = kThreads / Tile::kChunks;
  static constexpr int kPasses = (Tile::kLines + kLinesPerPass - 1) / kLinesPerPass;

  HSTU_PRIM static u32 first_line() { return threadIdx.x / Tile::kChunks; }
  HSTU_PRIM static u32 chunk() { return threadIdx.x % Tile::kChunks; }
  HSTU_PRIM static int clamp_left(i64 left) { return static_cast<int>(min(left, i64{1} << 30)); }

  const u16* src_;    // this thread's chunk in its first line
  int lines_left_;    // lines from this thread's first to the end of the matrix
  int columns_left_;  // elements from this thread's chunk to the end of the line
};

// The fragments of a warp's part of a tile: kBlocks blocks of 16 along the extent, 16 along k. kLeft: operand A of
// mma.sync (16x16 per block); otherwise B (two 16x8 per block: words 0,1 and 2,3).
template <class Tile, int kBlocks, bool kLeft>
class Fragments {
 public:
  // Offset within a tile from which load() starts, for the warp's part at `extent_begin` (a multiple of 16 kBlocks).
  // The lane's ldmatrix line: of matrices 0..3, A wants 1 one step along the extent and 2 along k, B the reverse.
  HSTU_PRIM static u32 lane_offset(u32 extent_begin) {
    const u32 lane = prim::lane_id();
    const u32 extent_half = kLeft ? (lane >> 3) & 1 : lane >> 4;
    const u32 k_half = kLeft ? lane >> 4 : (lane >> 3) & 1;
    return Tile::kAlongK ? Tile::offset(extent_begin + 8 * extent_half + (lane & 7), k_half)
                         : Tile::offset(8 * k_half + (lane & 7), extent_begin / 8 + extent_half);
  }

  // Reads the k16 step `step` of the tile at shared address `tile`. A step along the line is two chunks: an XOR,
  // because lane_offset() has those bits clear under the swizzle.
  HSTU_PRIM void load(u32 tile, u32 lane_offset, int step) {
    static_assert(Tile::kAlongK || (kBlocks & (kBlocks - 1)) == 0,
                  "along the extent a warp's part must be a power of two");
#pragma unroll
    for (int block = 0; block < kBlocks; ++block) {
      if constexpr (Tile::kAlongK)
        prim::ldmatrix_x4(word[block], ((tile + lane_offset) ^ (step * 32)) + block * 16 * Tile::kLineBytes);
      else
        prim::ldmatrix_x4_trans(word[block], ((tile + lane_offset) ^ (block * 32)) + step * 16 * Tile::kLineBytes);
    }
  }

  u32 word[kBlocks][4];
};

}  // namespace hstu
