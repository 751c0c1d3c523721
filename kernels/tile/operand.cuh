// An operand of a matrix product: its block tile in shared memory, the copy that fills it and the mma fragments read
// from it. Both storage orders of a 16-bit matrix are covered, so transposed operands cost nothing; matrices that are
// contiguous along neither dimension are gathered element by element.
//
// "Extent" is the operand's own dimension (rows of x, columns of w), k the one summed over. A tile is stored as its
// matrix is: lines contiguous in memory stay lines in shared memory, in 16-byte chunks (8 elements of 16 bits) whose
// position in the line is XORed with a function of the line number, so that the eight chunks of one ldmatrix matrix
// (same chunk, eight neighbouring lines) fall into different banks.
#pragma once
#include "prim/cp_async.cuh"
#include "prim/lanes.cuh"
#include "prim/memory.cuh"
#include "prim/mma.cuh"

namespace hstu::tile {

// Elements of a matrix by their size; what they mean is the mma's business.
template <int kBytes>
struct UnitOf;
template <>
struct UnitOf<1> {
  using type = u8;
};
template <>
struct UnitOf<2> {
  using type = u16;
};
template <>
struct UnitOf<4> {
  using type = u32;
};

// kAlongK: memory is contiguous along k (lines are rows of x or columns of w); otherwise along the extent.
template <int kExtent, int kBlockK, bool kAlongK_, int kUnitBytes_ = 2>
struct OperandTile {
  enum : bool { kAlongK = kAlongK_ };
  enum : int { kUnitBytes = kUnitBytes_ };
  enum : int { kLines = kAlongK ? kExtent : kBlockK };
  enum : int { kLineElements = kAlongK ? kBlockK : kExtent };
  enum : int { kChunkElements = 16 / kUnitBytes };
  enum : int { kChunks = kLineElements / kChunkElements };  // per line
  enum : int { kLineBytes = kLineElements * kUnitBytes };
  enum : int { kBytes = kLines * kLineBytes };
  static_assert(kLines % 8 == 0 && kChunks >= 2 && (kChunks & (kChunks - 1)) == 0,
                "a line of an operand tile holds a power of two of 16-byte "
                "chunks, two at least");

  // Byte offset of a chunk. The swizzle repeats every 8 lines.
  HSTU_PRIM static u32 offset(u32 line, u32 chunk) {
    const u32 swizzle = kChunks >= 8 ? line & 7 : kChunks == 4 ? (line >> 1) & 3 : (line >> 2) & 1;
    return line * kLineBytes + ((chunk ^ swizzle) << 4);
  }
};

// Gathers a chunk of elements `stride` apart through registers, zeros beyond the first `bytes`.
template <class Unit>
HSTU_PRIM void gather_chunk(u32 dst, const Unit* src, i64 stride, int bytes) {
  constexpr int kSize = static_cast<int>(sizeof(Unit));
  prim::Quad q{{0, 0, 0, 0}};
#pragma unroll
  for (int i = 0; i < 16 / kSize; ++i) {
    if (i * kSize < bytes) q.word[i * kSize / 4] |= static_cast<u32>(src[i * stride]) << (i * kSize % 4 * 8);
  }
  prim::st_shared(dst, q);
}

// Copies a chunk of 16 bytes to shared memory with accesses of kVector elements; zeros beyond the first `bytes` (0 to
// 16, whole accesses). Accesses of less than 4 bytes go through registers: the data is then there at the next barrier,
// earlier than cp_async_wait asks.
template <int kVector, class Unit>
HSTU_PRIM void copy_chunk(u32 dst, const Unit* src, int bytes) {
  constexpr int kAccess = kVector * static_cast<int>(sizeof(Unit));
  static_assert(kAccess <= 16 && (kAccess & (kAccess - 1)) == 0, "an access has 1, 2, 4, 8 or 16 bytes");
  if constexpr (kAccess == 16) {
    prim::cp_async16_or_zero(dst, src, bytes != 0);
  } else if constexpr (kAccess < 4) {
    using Access = typename UnitOf<kAccess>::type;
    gather_chunk(dst, reinterpret_cast<const Access*>(src), 1, bytes);
  } else {
#pragma unroll
    for (int i = 0; i < 16; i += kAccess) {
      const u32 part = i < bytes ? kAccess : 0;
      const char* from = reinterpret_cast<const char*>(src) + i;
      if constexpr (kAccess == 8) prim::cp_async8_zfill(dst + i, from, part);
      if constexpr (kAccess == 4) prim::cp_async4_zfill(dst + i, from, part);
    }
  }
}

// A thread's share of copying one operand's tiles, slice after slice along k. Elements outside the matrix become zeros
// and are not read. kTailK: k may end inside a slice. A slice takes kPasses calls of copy(), in order; each is a few
// instructions without branches, to be spread between the products. kVector 0: the elements of a line lie apart, and
// are gathered.
template <class Tile, int kBlockK, int kThreads, int kVector, bool kTailK>
class OperandLoader {
 public:
  enum : int { kLinesPerPass = kThreads / Tile::kChunks };
  enum : int { kPasses = (Tile::kLines + kLinesPerPass - 1) / kLinesPerPass };
  static_assert(kThreads % Tile::kChunks == 0 && (kLinesPerPass & (kLinesPerPass - 1)) == 0,
                "a pass of the block's threads copies a power of two of whole lines");

  HSTU_PRIM OperandLoader() { offset_ = Tile::offset(first_line(), chunk()); }

  // The tile that starts at `extent_begin` (a multiple of a chunk) of the operand and at k = 0. Elements of a line are
  // `element_stride` apart, which is 1 unless they are gathered.
  HSTU_PRIM void begin(const void* matrix, i64 line_stride, i64 extent_begin, i64 extent, i64 k,
                       i64 element_stride = 1) {
    const i64 line = first_line() + (Tile::kAlongK ? extent_begin : 0);
    const i64 column = chunk() * Tile::kChunkElements + (Tile::kAlongK ? 0 : extent_begin);
    src_ = static_cast<const Unit*>(matrix) + line * line_stride + (kVector ? column : column * element_stride);
    lines_left_ = clamp_left((Tile::kAlongK ? extent : k) - line);
    columns_left_ = clamp_left((Tile::kAlongK ? k : extent) - column);
    bytes_ = bytes_of(columns_left_);
  }

  // From here on copies write zeros and read nothing.
  HSTU_PRIM void end() { lines_left_ = columns_left_ = bytes_ = 0; }

  // Copies a pass of the current slice to the tile at shared address `tile`; the last pass moves to the next slice.
  HSTU_PRIM void copy(int pass, u32 tile, i64 line_stride, i64 element_stride = 1) {
    constexpr bool kPartial = Tile::kLines % kLinesPerPass != 0;  // then it is the only pass
    const bool inside = !kCheckLines || pass * kLinesPerPass < lines_left_;
    const u32 swizzle = Tile::offset(pass * kLinesPerPass,
                                     0);  // swizzle and lines of the pass: disjoint from the thread's
    const u32 dst = tile + (offset_ ^ (swizzle % Tile::kLineBytes)) + swizzle / Tile::kLineBytes * Tile::kLineBytes;
    if (!kPartial || first_line() < Tile::kLines) {
      if constexpr (kVector == 0)
        gather_chunk(dst, src_, element_stride, inside ? bytes_ : 0);
      else
        copy_chunk<kVector>(dst, src_, inside ? bytes_ : 0);
    }
    src_ = prim::opaque(src_ + kLinesPerPass * line_stride);
    if (pass + 1 == kPasses) advance(line_stride, element_stride);
  }

 private:
  using Unit = typename UnitOf<Tile::kUnitBytes>::type;
  enum : bool { kCheckLines = Tile::kAlongK || kTailK };

  HSTU_PRIM void advance(i64 line_stride, i64 element_stride) {
    if constexpr (Tile::kAlongK) {
      src_ += (kVector ? kBlockK : kBlockK * element_stride) - kPasses * kLinesPerPass * line_stride;
      if constexpr (kTailK) bytes_ = bytes_of(columns_left_ -= kBlockK);
    } else {
      if constexpr (kBlockK != kPasses * kLinesPerPass) src_ += (kBlockK - kPasses * kLinesPerPass) * line_stride;
      if constexpr (kTailK) lines_left_ -= kBlockK;
    }
  }

  HSTU_PRIM static u32 first_line() { return threadIdx.x / Tile::kChunks; }
  HSTU_PRIM static u32 chunk() { return threadIdx.x % Tile::kChunks; }
  HSTU_PRIM static int clamp_left(i64 left) { return static_cast<int>(min(left, i64{1} << 30)); }
  HSTU_PRIM static int bytes_of(int columns_left) {
    return Tile::kUnitBytes * min(max(columns_left, 0), Tile::kChunkElements);
  }

  const Unit* src_;   // this thread's chunk in its line of the next pass
  u32 offset_;        // of its chunk in the tile, in the first pass
  int lines_left_;    // lines from this thread's first to the end of the matrix
  int columns_left_;  // elements from this thread's chunk to the end of the line
  int bytes_;         // of its chunk, in this slice
};

// The fragments of a warp's part of a tile: kBlocks blocks of 16 along the extent, 32 bytes along k. kLeft: operand A
// of mma.sync (16 rows per block); otherwise B (two of 8 columns per block: words 0,1 and 2,3). ldmatrix transposes
// 16-bit elements only: wider ones that lie along the extent are read one by one.
template <class Tile, int kBlocks, bool kLeft>
class Fragments {
 public:
  enum : bool { kOneByOne = !Tile::kAlongK && Tile::kUnitBytes == 4 };
  static_assert(Tile::kAlongK || Tile::kUnitBytes == 2 || (kOneByOne && Tile::kChunks >= 8),
                "tiles along the extent are of 16-bit elements, or of 32 bits "
                "and 32 elements wide at least");

  // Offset within a tile from which load() starts, for the warp's part at `extent_begin` (a multiple of 16 kBlocks).
  // The lane's ldmatrix line: of matrices 0..3, A wants 1 one step along the extent and 2 along k, B the reverse.
  HSTU_PRIM static u32 lane_offset(u32 extent_begin) {
    const u32 lane = prim::lane_id();
    if constexpr (kOneByOne) return Tile::offset(lane % 4, (extent_begin + lane / 4) / 4) + lane / 4 % 4 * 4;
    const u32 extent_half = kLeft ? (lane >> 3) & 1 : lane >> 4;
    const u32 k_half = kLeft ? lane >> 4 : (lane >> 3) & 1;
    return Tile::kAlongK ? Tile::offset(extent_begin + 8 * extent_half + (lane & 7), k_half)
                         : Tile::offset(8 * k_half + (lane & 7), extent_begin / 8 + extent_half);
  }

  // Reads step `step` of the tile at shared address `tile`. A step along the line is two chunks: an XOR, because
  // lane_offset() has those bits clear under the swizzle.
  HSTU_PRIM void load(u32 tile, u32 lane_offset, int step) {
    static_assert(Tile::kAlongK || (kBlocks & (kBlocks - 1)) == 0,
                  "along the extent a warp's part must be a power of two");
#pragma unroll
    for (int block = 0; block < kBlocks; ++block) {
      if constexpr (kOneByOne)
        load_one_by_one(word[block], (tile + lane_offset) ^ (block * 64), step);
      else if constexpr (Tile::kAlongK)
        prim::ldmatrix_x4(word[block], ((tile + lane_offset) ^ (step * 32)) + block * 16 * Tile::kLineBytes);
      else
        prim::ldmatrix_x4_trans(word[block], ((tile + lane_offset) ^ (block * 32)) + step * 16 * Tile::kLineBytes);
    }
  }

  u32 word[kBlocks][4];

 private:
  // Eight elements further along the extent are two chunks, four further along k four lines and their swizzle.
  HSTU_PRIM static void load_one_by_one(u32 (&to)[4], u32 at, int step) {
#pragma unroll
    for (int half = 0; half < 4; ++half) {
      const int extent_half = kLeft ? half % 2 : half / 2, k_half = kLeft ? half / 2 : half % 2;
      to[half] = prim::ld_shared4((at ^ (extent_half * 32 + k_half * 64)) + (step * 8 + k_half * 4) * Tile::kLineBytes);
    }
  }
};

}  // namespace hstu::tile
