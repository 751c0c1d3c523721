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
  static constexpr int kRows = kRows_, kCols = kCols_;
  static constexpr int kWide = kCols / 64;             // panels of 64 columns
  static constexpr bool kHas32 = kCols % 64 >= 32;     // then one of 32
  static constexpr bool kHas16 = kCols % 32 >= 16;     // then one of 16
  static constexpr int kBase32 = kWide * kRows * 128;  // byte offsets of the narrow panels
  static constexpr int kBase16 = kBase32 + (kHas32 ? kRows * 64 : 0);
  static constexpr int kBytes = kRows * kCols * 2;
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

// Where a lane's ldmatrix.x4 addresses start when 16 rows and 16 columns are read at the shared-memory address `base`:
// lanes 0-7 point at rows 0-7 and the first eight columns, 8-15 at the other columns, 16-31 at rows 8-15 likewise. One
// pattern for every operand, so that one register serves all tiles behind `base`; the four matrices are then
//   [0] rows 0-7, columns 0-7    [1] rows 0-7, columns 8-15    [2] rows 8-15, columns 0-7    [3] rows 8-15, columns 8-15
struct MatrixLanes {
  u32 wide, narrow32, narrow16;  // by panel; those that no tile has cost nothing

  HSTU_PRIM explicit MatrixLanes(u32 base) {
    const u32 lane = prim::lane_id(), row = lane % 8 + lane / 16 * 8, half = lane / 8 % 2;
    wide = prim::settled(base + panel_offset<64>(row, half));
    narrow32 = prim::settled(base + panel_offset<32>(row, half));
    narrow16 = prim::settled(base + panel_offset<16>(row, half));
  }

  // The address for columns [16 step, 16 step + 16) and rows from first_row + row on of the Tile that begins `offset`
  // bytes behind base. step and row are known when unrolled, rows are multiples of eight: that keeps the permutation,
  // and all but one xor folds into the instruction.
  template <class Tile>
  HSTU_PRIM u32 at(u32 offset, int step, int row, u32 first_row = 0) const {
    if (step < Tile::kWide * 4) {
      return (wide ^ ((step % 4) << 5)) + first_row * 128 + offset + ((step / 4) * (Tile::kRows * 128) + row * 128);
    }
    step -= Tile::kWide * 4;
    if (Tile::kHas32 && step < 2) {
      return (narrow32 ^ (step << 5)) + first_row * 64 + offset + (Tile::kBase32 + row * 64);
    }
    return narrow16 + first_row * 32 + offset + (Tile::kBase16 + row * 32);
  }
};

}  // namespace hstu::tile
