// Boxes of rows of one sequence out of a jagged tensor [total, heads, head_dim], by TMA and with one map for all
// sequences: rows behind the sequence's end come as zeros, although other sequences follow there.
//
// The map has five dimensions: columns; 2^30 rows at the row pitch; two more dimensions at the pitch and at
// 2^34 - pitch; heads. Row r of a sequence of n rows that starts at row s is at {x, 2^30 - n + r, s + n, 2^30, head}:
// the second coordinate leaves the tensor exactly at r = n, and in the address base + (2^30 - n + r + s + n) pitch +
// 2^30 (2^34 - pitch) the large terms vanish modulo 2^64. Only the end clips: r must not be negative.
#pragma once
#include "prim/tma.cuh"

namespace hstu::tile {

struct JaggedBox {
  i32 row, rest;  // second and third coordinate of the sequence's row 0

  HSTU_PRIM JaggedBox(i64 start, int rows) : row((1 << 30) - rows), rest(static_cast<i32>(start + rows)) {}

  HSTU_PRIM void load(u32 dst, const TensorMap* map, u32 barrier, int column, int first_row, int head) const {
    prim::tma_load_5d(dst, map, barrier, column, row + first_row, rest, 1 << 30, head);
  }
  // Rows behind the end are not stored.
  HSTU_PRIM void store(const TensorMap* map, u32 src, int column, int first_row, int head) const {
    prim::tma_store_5d(map, src, column, row + first_row, rest, 1 << 30, head);
  }
};

}  // namespace hstu::tile
