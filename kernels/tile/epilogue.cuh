// From mma accumulators to rows in global memory, eight 16-bit elements at a time.
#pragma once
#include "prim/lanes.cuh"
#include "prim/memory.cuh"

namespace hstu::tile {

// A warp's staging area: 16 rows of kColumns elements, reached in two ways without bank conflicts: as the accumulators
// of mma.sync lie (a pair of columns per lane), and 16 bytes a lane along the rows, so that global memory sees whole
// rows. The caller puts __syncwarp() between the two.
template <int kColumns>
struct StagedRows {
  static constexpr int kPitch = 2 * kColumns + 16;  // 4 words past a multiple of 32 banks, or of 16
  static constexpr int kBytes = 16 * kPitch;
  static constexpr int kChunks = kColumns / 8;  // of 16 bytes, per row
  static constexpr int kPasses = kChunks / 2;   // of 16 bytes a lane over the 16 rows
  static constexpr int kRowsPerPass = 32 / kChunks;
  static_assert(kChunks >= 4 && kChunks <= 32 && (kChunks & (kChunks - 1)) == 0,
                "a pass of the warp covers whole rows of 32 to 256 columns");

  HSTU_PRIM explicit StagedRows(u32 smem)
      : pairs(smem + prim::lane_id() / 4 * kPitch + prim::lane_id() % 4 * 4),
        rows(smem + lane_row() * kPitch + lane_column() * 2) {}

  // The lane's columns 8j + 2t and 8j + 2t + 1 of row g + 8 half.
  HSTU_PRIM u32 pair(int half, int j) const { return pairs + half * 8 * kPitch + 16 * j; }
  // The lane's 8 elements of a pass: row lane_row() + pass kRowsPerPass, from column lane_column().
  HSTU_PRIM u32 row(int pass) const { return rows + pass * kRowsPerPass * kPitch; }
  HSTU_PRIM static u32 lane_row() { return prim::lane_id() / kChunks; }
  HSTU_PRIM static u32 lane_column() { return prim::lane_id() % kChunks * 8; }

  u32 pairs, rows;
};

// Loads the first `valid` of 8 elements (a multiple of kVector; less than 0 or more than 8 count as these), kVector
// elements an access. The rest is 0.
template <int kVector>
HSTU_PRIM prim::Quad load_eight(const u16* src, int valid) {
  prim::Quad q{{0, 0, 0, 0}};
  if constexpr (kVector == 8) {
    if (valid > 0) q = prim::ld_global(src);
  } else if constexpr (kVector == 4) {
#pragma unroll
    for (int i = 0; i < 2; ++i)
      if (4 * i < valid) {
        const prim::Pair pair = prim::ld_global8(src + 4 * i);
        q.word[2 * i] = pair.word[0], q.word[2 * i + 1] = pair.word[1];
      }
  } else if constexpr (kVector == 2) {
#pragma unroll
    for (int i = 0; i < 4; ++i)
      if (2 * i < valid) q.word[i] = prim::ld_global4(src + 2 * i);
  } else {
#pragma unroll
    for (int i = 0; i < 8; ++i)
      if (i < valid) q.word[i / 2] |= prim::ld_global2(src + i) << (i % 2 * 16);
  }
  return q;
}

// Stores the first `valid` of 8 elements likewise.
template <int kVector>
HSTU_PRIM void store_eight(u16* dst, const prim::Quad& q, int valid) {
  if constexpr (kVector == 8) {
    if (valid > 0) prim::st_global(dst, q);
  } else if constexpr (kVector == 4) {
#pragma unroll
    for (int i = 0; i < 2; ++i)
      if (4 * i < valid) prim::st_global8(dst + 4 * i, {{q.word[2 * i], q.word[2 * i + 1]}});
  } else if constexpr (kVector == 2) {
#pragma unroll
    for (int i = 0; i < 4; ++i)
      if (2 * i < valid) prim::st_global4(dst + 2 * i, q.word[i]);
  } else {
#pragma unroll
    for (int i = 0; i < 8; ++i)
      if (i < valid) prim::st_global2(dst + i, q.word[i / 2] >> (i % 2 * 16));
  }
}

}  // namespace hstu::tile
