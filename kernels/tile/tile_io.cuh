// Moving row tiles between strided global memory and a SmemTile with all threads of a block.
//
// Rows outside [begin, end) of the tile and columns from kDim on are zeros in shared memory, and never stored: a tile
// may hang over its sequence on either side.
#pragma once
#include "prim/cp_async.cuh"
#include "prim/lanes.cuh"
#include "prim/memory.cuh"
#include "prim/types.cuh"
#include "tile/smem_tile.cuh"

namespace hstu::tile {

// Eight elements from any address, the last ones zero from `count` on.
template <class Element>
HSTU_PRIM prim::Quad gather8(const Element* src, int count) {
  u32 bits[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) bits[i] = i < count ? src[i].bits : 0;
  return {{bits[0] | bits[1] << 16, bits[2] | bits[3] << 16, bits[4] | bits[5] << 16, bits[6] | bits[7] << 16}};
}
template <class Element>
HSTU_PRIM void scatter8(Element* dst, const prim::Quad& quad, int count) {
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    if (i < count) dst[i].bits = static_cast<u16>(quad.word[i / 2] >> (i % 2 * 16));
  }
}

// One row-chunk: asynchronously when every chunk is 16 bytes aligned (kVector), else through registers.
template <bool kVector, class Element>
HSTU_PRIM void load_chunk(u32 dst, const Element* src, int count) {
  if constexpr (kVector) {
    prim::cp_async16_zfill(dst, src, count > 0 ? 16 : 0);
  } else {
    prim::st_shared(dst, gather8(src, count));
  }
}

template <class Tile, int kDim, int kPanelCols, int kPanels, int kFirstCol, int kThreads, bool kVector, class Element>
HSTU_PRIM void load_panels(u32 base, const Element* src, i64 row_stride, int begin, int end) {
  constexpr int kChunks = kPanelCols / 8;
  constexpr int kRowsPerPass = kThreads / kChunks;
  constexpr int kPasses = (Tile::kRows + kRowsPerPass - 1) / kRowsPerPass;
  const u32 thread = prim::thread_id();
  const int row0 = thread / kChunks, chunk = thread % kChunks;
  const Element* from = src + row0 * row_stride + (kFirstCol + chunk * 8);
  const i64 step = kRowsPerPass * row_stride;
#pragma unroll
  for (int pass = 0; pass < kPasses; ++pass, from += step) {
    const int row = row0 + pass * kRowsPerPass;
    if (Tile::kRows % kRowsPerPass != 0 && row >= Tile::kRows) break;
    const bool inside = row >= begin && row < end;
    const u32 to = base + panel_offset<kPanelCols>(row, chunk);
#pragma unroll
    for (int panel = 0; panel < kPanels; ++panel) {
      const int col = kFirstCol + panel * kPanelCols + chunk * 8;
      load_chunk<kVector>(to + panel * (Tile::kRows * kPanelCols * 2), from + panel * kPanelCols,
                          inside ? kDim - col : 0);
    }
  }
}

// Loads Tile from rows of src (kDim columns). Ends neither with a commit nor with a barrier.
template <class Tile, int kDim, int kThreads, bool kVector, class Element>
HSTU_PRIM void load_tile(u32 base, const Element* src, i64 row_stride, int begin, int end) {
  if constexpr (Tile::kWide > 0) {
    load_panels<Tile, kDim, 64, Tile::kWide, 0, kThreads, kVector>(base, src, row_stride, begin, end);
  }
  if constexpr (Tile::kHas32) {
    load_panels<Tile, kDim, 32, 1, Tile::kWide * 64, kThreads, kVector>(base + Tile::kBase32, src, row_stride, begin,
                                                                        end);
  }
  if constexpr (Tile::kHas16) {
    load_panels<Tile, kDim, 16, 1, Tile::kCols - 16, kThreads, kVector>(base + Tile::kBase16, src, row_stride, begin,
                                                                        end);
  }
}

// Stores rows [begin, end) of Tile to dst (kDim columns), 16 bytes a thread when kVector.
template <class Tile, int kDim, int kThreads, bool kVector, class Element>
HSTU_PRIM void store_tile(u32 base, Element* dst, i64 row_stride, int begin, int end) {
  constexpr int kChunks = (kDim + 7) / 8;
  for (int i = prim::thread_id(); i < Tile::kRows * kChunks; i += kThreads) {
    const int row = i / kChunks, chunk = i % kChunks;
    if (row < begin || row >= end) continue;
    const prim::Quad quad = prim::ld_shared(base + chunk_offset<Tile>(row, chunk));
    Element* to = dst + row * row_stride + chunk * 8;
    if constexpr (kVector) {
      prim::st_global(to, quad);
    } else {
      scatter8(to, quad, kDim - chunk * 8);
    }
  }
}

}  // namespace hstu::tile
