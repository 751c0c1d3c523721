// A tile of 16-bit elements in shared memory that ldmatrix and 16-byte accesses reach without bank conflicts.
//
// The columns are cut into panels of 64, then at most one of 32 and one of 16 (96 = 64 + 32, 80 = 64 + 16), one after
// the other; a panel keeps its rows dense (128, 64 or 32 bytes) and permutes the 16-byte chunks of a row:
//   64 columns  chunk ^= row & 7        32 columns  chunk ^= (row >> 1) & 3        16 columns  chunk ^= (row >> 2) & 1
// so that any eight consecutive rows of one chunk column fill the 32 banks once.
#pragma once
#include "prim/lanes.cuh"
#include "prim/types.cuh"

namespace hstu::tile {

template <int kRows_, int kCols_>
struct SmemTile {
  static_assert(kRows_ % 8 == 0, "ldmatrix reads eight rows");
  static_assert(kCols_ % 16 == 0, "columns are padded to the k of one mma");
  enum : int { kRows = kRows_, kCols = kCols_ };
  enum : int { kWide = kCols / 64 };             // panels of 64 columns
  enum : bool { kHas32 = kCols % 64 >= 32 };     // then one of 32
  enum : bool { kHas16 = kCols % 32 >= 16 };     // then one of 16
  enum : int { kBase32 = kWide * kRows * 128 };  // byte offsets of the narrow panels
  enum : int { kBase16 = kBase32 + (kHas32 ? kRows * 64 : 0) };
  enum : int { kBytes = kRows * kCols * 2 };
};

// Byte offset of a 16-byte chunk of a row inside a panel of kPanelCols columns.
template <int kPanelCols>
HSTU_PRIM constexpr u32 panel_offset(u32 row, u32 chunk) {
  if constexpr (kPanelCols == 64) return row * 128 + ((chunk ^ row) & 7) * 16;
  if constexpr (kPanelCols == 32) return row * 64 + ((chunk ^ (row >> 1)) & 3) * 16;
  if constexpr (kPanelCols == 16) return row * 32 + ((chunk ^ (row >> 2)) & 1) * 16;
}

// Byte offset of 16-byte chunk `chunk` (eight columns) of `row` in the whole tile.
template <class Tile>
HSTU_PRIM u32 chunk_offset(u32 row, u32 chunk) {
  if (Tile::kWide > 0 && chunk < Tile::kWide * 8u) {
    return (chunk / 8) * (Tile::kRows * 128) + panel_offset<64>(row, chunk % 8);
  }
  chunk -= Tile::kWide * 8;
  if (Tile::kHas32 && chunk < 4) return Tile::kBase32 + panel_offset<32>(row, chunk);
  return Tile::kBase16 + panel_offset<16>(row, chunk - (Tile::kHas32 ? 4 : 0));
}

// The address one lane gives to ldmatrix: 16 columns at a time, rows at a fixed place of the lane. Row offsets that are
// multiples of eight keep the permutation, so everything but one xor per address folds into the instruction.
template <class Tile>
struct LaneAddress {
  u32 wide, narrow32, narrow16;

  // row: the lane's row; half: which of the two chunks of a 16-column step the lane addresses.
  HSTU_PRIM LaneAddress(u32 base, u32 row, u32 half)
      : wide(prim::opaque(base + panel_offset<64>(row, half))),
        narrow32(prim::opaque(base + Tile::kBase32 + panel_offset<32>(row, half))),
        narrow16(prim::opaque(base + Tile::kBase16 + panel_offset<16>(row, half))) {}

  HSTU_PRIM LaneAddress moved(u32 bytes) const { return LaneAddress(*this, bytes); }

  // step: which 16 columns; rows: added to the lane's row, a multiple of eight. Both known when unrolled.
  HSTU_PRIM u32 at(int step, int rows) const {
    if (step < Tile::kWide * 4) return (wide ^ ((step % 4) << 5)) + (step / 4) * (Tile::kRows * 128) + rows * 128;
    step -= Tile::kWide * 4;
    if (Tile::kHas32 && step < 2) return (narrow32 ^ (step << 5)) + rows * 64;
    return narrow16 + rows * 32;
  }

 private:
  HSTU_PRIM LaneAddress(const LaneAddress& from, u32 bytes)
      : wide(from.wide + bytes), narrow32(from.narrow32 + bytes), narrow16(from.narrow16 + bytes) {}
};

}  // namespace hstu::tile
