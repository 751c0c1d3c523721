// From mma accumulators to rows in global memory, 16 bytes at a time.
#pragma once
#include "prim/fp8.cuh"
#include "prim/lanes.cuh"
#include "prim/memory.cuh"

namespace hstu::tile {

// A warp's staging area: 16 rows of kColumns elements, reached in two ways without bank conflicts: as the accumulators
// of mma.sync lie (a pair of columns per lane), and 16 bytes a lane along the rows, so that global memory sees whole
// rows. The caller puts __syncwarp() between the two.
template <int kColumns, int kElementBytes = 2>
struct StagedRows {
  // A row ends 4 words past a multiple of 32 banks, or of 16; wide pairs, of which half a warp moves at a time, 8.
  enum : int { kPitch = kElementBytes * kColumns + 8 * kElementBytes };
  enum : int { kBytes = 16 * kPitch };
  enum : int { kChunkElements = 16 / kElementBytes };
  enum : int { kChunks = kColumns / kChunkElements };  // of 16 bytes, per row
  enum : int { kPasses = kChunks / 2 };                // of 16 bytes a lane over the 16 rows
  enum : int { kRowsPerPass = 32 / kChunks };
  static_assert(kChunks >= 4 && kChunks <= 32 && (kChunks & (kChunks - 1)) == 0,
                "a pass of the warp covers whole rows of 64 to 512 bytes");

  HSTU_PRIM explicit StagedRows(u32 smem)
      : pairs(smem + prim::lane_id() / 4 * kPitch + prim::lane_id() % 4 * (2 * kElementBytes)),
        rows(smem + lane_row() * kPitch + lane_column() * kElementBytes) {}

  // The lane's columns 8j + 2t and 8j + 2t + 1 of row g + 8 half.
  HSTU_PRIM u32 pair(int half, int j) const { return pairs + half * 8 * kPitch + 8 * kElementBytes * j; }
  // The lane's 16 bytes of a pass: row lane_row() + pass kRowsPerPass, from column lane_column().
  HSTU_PRIM u32 row(int pass) const { return rows + pass * kRowsPerPass * kPitch; }
  HSTU_PRIM static u32 lane_row() { return prim::lane_id() / kChunks; }
  HSTU_PRIM static u32 lane_column() { return prim::lane_id() % kChunks * kChunkElements; }

  u32 pairs, rows;
};

// A pair of neighbouring elements in a staging area, as Element.
template <class Element>
HSTU_PRIM void stage_pair(u32 to, float lo, float hi) {
  if constexpr (sizeof(Element) == 4)
    prim::st_shared(to, prim::Pair{{__float_as_uint(lo), __float_as_uint(hi)}});
  else
    prim::st_shared(to, prim::pack2<Element>(lo, hi));
}
// The same as two bytes, which lie in a pair's first; and the 8 or 4 bytes of those that 16 bytes of a row have.
template <class Fp8>
HSTU_PRIM void stage_fp8_pair(u32 to, float lo, float hi) {
  prim::st_shared(to, prim::pack2_fp8<Fp8>(lo, hi));
}
template <int kElementBytes>
HSTU_PRIM prim::Quad packed_fp8_pairs(const prim::Quad& staged) {
  if constexpr (kElementBytes == 4)
    return {{__byte_perm(staged.word[0], staged.word[2], 0x5410), 0, 0, 0}};
  else
    return {{__byte_perm(staged.word[0], staged.word[1], 0x5410), __byte_perm(staged.word[2], staged.word[3], 0x5410),
             0, 0}};
}
template <class Element>
HSTU_PRIM void add_staged_pair(float& lo, float& hi, u32 from) {
  if constexpr (sizeof(Element) == 4) {
    const prim::Pair pair = prim::ld_shared8(from);
    lo += __uint_as_float(pair.word[0]);
    hi += __uint_as_float(pair.word[1]);
  } else {
    const u32 pair = prim::ld_shared4(from);
    lo += prim::unpack_lo<Element>(pair);
    hi += prim::unpack_hi<Element>(pair);
  }
}

// Loads the first `valid` of the elements of 16 bytes (a multiple of kVector; less than 0 or more than there are count
// as these), kVector elements an access. The rest is 0.
template <int kVector, class Unit>
HSTU_PRIM prim::Quad load_chunk(const Unit* src, int valid) {
  constexpr int kAccess = kVector * static_cast<int>(sizeof(Unit));
  prim::Quad q{{0, 0, 0, 0}};
#pragma unroll
  for (int i = 0; i < 16 / kAccess; ++i) {
    if (i * kVector >= valid) continue;
    const Unit* from = src + i * kVector;
    if constexpr (kAccess == 16) {
      q = prim::ld_global(from);
    } else if constexpr (kAccess == 8) {
      const prim::Pair pair = prim::ld_global8(from);
      q.word[2 * i] = pair.word[0], q.word[2 * i + 1] = pair.word[1];
    } else if constexpr (kAccess == 4) {
      q.word[i] = prim::ld_global4(from);
    } else {
      q.word[i / 2] |= prim::ld_global2(from) << (i % 2 * 16);
    }
  }
  return q;
}
// The same of elements `stride` apart, one by one.
template <class Unit>
HSTU_PRIM prim::Quad gather_row(const Unit* src, i64 stride, int valid) {
  constexpr int kSize = static_cast<int>(sizeof(Unit));
  prim::Quad q{{0, 0, 0, 0}};
#pragma unroll
  for (int i = 0; i < 16 / kSize; ++i) {
    if (i < valid) q.word[i * kSize / 4] |= static_cast<u32>(src[i * stride]) << (i * kSize % 4 * 8);
  }
  return q;
}

// Stores the i-th access of the 16 bytes to `to`, if it is among the first `valid` elements.
template <int kVector, class Unit>
HSTU_PRIM void store_access(Unit* to, const prim::Quad& q, int i, int valid) {
  constexpr int kAccess = kVector * static_cast<int>(sizeof(Unit));
  if (i * kVector >= valid) return;
  if constexpr (kAccess == 16)
    prim::st_global(to, q);
  else if constexpr (kAccess == 8)
    prim::st_global8(to, {{q.word[2 * i], q.word[2 * i + 1]}});
  else if constexpr (kAccess == 4)
    prim::st_global4(to, q.word[i]);
  else if constexpr (kAccess == 2)
    prim::st_global2(to, q.word[i / 2] >> (i % 2 * 16));
  else
    prim::st_global1(to, q.word[i / 4] >> (i % 4 * 8));
}

// Stores the first `valid` elements likewise.
template <int kVector, class Unit>
HSTU_PRIM void store_chunk(Unit* dst, const prim::Quad& q, int valid) {
#pragma unroll
  for (int i = 0; i < 16 / (kVector * static_cast<int>(sizeof(Unit))); ++i)
    store_access<kVector>(dst + i * kVector, q, i, valid);
}

}  // namespace hstu::tile
