// Moving row tiles between strided global memory and a SmemTile with all threads of a block.
//
// A tile may hang over the start of its sequence: rows before `begin` are zeros in shared memory and never stored.
#pragma once
#include "attention/sm80/smem_tile.cuh"
#include "prim/cp_async.cuh"
#include "prim/lanes.cuh"
#include "prim/memory.cuh"
#include "prim/types.cuh"

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

// How the threads of a block share the chunks of a panel: a chunk column each, kRowsPerPass rows at a time.
template <class Tile, int kPanelCols, int kThreads>
struct PanelPasses {
  enum : int { kChunks = kPanelCols / 8 };
  enum : int { kRowsPerPass = kThreads / kChunks };
  enum : int { kPasses = (Tile::kRows + kRowsPerPass - 1) / kRowsPerPass };
};

// A tile is loaded in units, one pass over its wide panels or over a narrow one, so that a kernel can spread them.
template <class Tile, int kThreads>
constexpr int kLoadUnits = (Tile::kWide > 0 ? PanelPasses<Tile, 64, kThreads>::kPasses : 0) +
                           (Tile::kHas32 ? PanelPasses<Tile, 32, kThreads>::kPasses : 0) +
                           (Tile::kHas16 ? PanelPasses<Tile, 16, kThreads>::kPasses : 0);

// One thread's share in loading tiles (kDim columns each) that follow one another in memory, up or down. Its addresses
// live in registers that nothing else uses: cp.async holds on to its operands for long, and a register given away too
// early stalls its next owner. kVector: every chunk of eight columns is 16 bytes aligned, and cp.async copies it;
// otherwise it passes through registers.
template <class Tile, int kDim, int kThreads, bool kVector, class Element>
class TileStream {
 public:
  enum : int { kUnits = kLoadUnits<Tile, kThreads> };

  // src: row 0, column 0 of the first tile.
  HSTU_PRIM TileStream(const Element* src, i64 row_stride)
      : wide_(src, row_stride, 0),
        narrow32_(src, row_stride, Tile::kWide * 64),
        narrow16_(src, row_stride, Tile::kCols - 16) {}

  // The next tile begins `elements` further.
  HSTU_PRIM void move(i64 elements) { wide_.from += elements, narrow32_.from += elements, narrow16_.from += elements; }

  // Loads units [first_unit, last_unit) to the tile at `base`. Rows before `begin` and columns from kDim on become
  // zeros. Does nothing unless `enable`; commits nothing.
  HSTU_PRIM void load(u32 base, i64 row_stride, int begin, bool enable, int first_unit = 0,
                      int last_unit = kUnits) const {
    int unit = 0;
    if constexpr (Tile::kWide > 0) {
      wide_.template load<Tile::kWide>(base, row_stride, 0, begin, enable, unit, first_unit, last_unit);
    }
    if constexpr (Tile::kHas32) {
      narrow32_.template load<1>(base + Tile::kBase32, row_stride, Tile::kWide * 64, begin, enable, unit, first_unit,
                                 last_unit);
    }
    if constexpr (Tile::kHas16) {
      narrow16_.template load<1>(base + Tile::kBase16, row_stride, Tile::kCols - 16, begin, enable, unit, first_unit,
                                 last_unit);
    }
  }

 private:
  // The thread's chunk column in panels of kPanelCols columns.
  template <int kPanelCols>
  struct Panels {
    using Passes = PanelPasses<Tile, kPanelCols, kThreads>;
    enum : int { kRowsPerPass = Passes::kRowsPerPass };
    const Element* from;  // in the thread's first row of the tile

    HSTU_PRIM Panels(const Element* src, i64 row_stride, int first_col) {
      const u32 thread = prim::thread_id(), row = thread / Passes::kChunks, chunk = thread % Passes::kChunks;
      from = src + row * row_stride + (first_col + chunk * 8);
    }

    template <int kPanels>
    HSTU_PRIM void load(u32 base, i64 row_stride, int first_col, int begin, bool enable, int& unit, int first_unit,
                        int last_unit) const {
      const u32 thread = prim::thread_id();
      __builtin_assume(thread < kThreads);
      const u32 row = thread / Passes::kChunks, chunk = thread % Passes::kChunks;
#pragma unroll
      for (int pass = 0; pass < Passes::kPasses; ++pass, ++unit) {
        if (unit < first_unit || unit >= last_unit) continue;
        const int this_row = static_cast<int>(row) + pass * kRowsPerPass;
        const bool in_tile = Tile::kRows % kRowsPerPass == 0 || this_row < Tile::kRows;
        // The permutation repeats every eight rows: with whole multiples of them a pass, only the row's place moves.
        const u32 to = base + (kRowsPerPass % 8 == 0
                                   ? panel_offset<kPanelCols>(row, chunk) + pass * (kRowsPerPass * kPanelCols * 2)
                                   : panel_offset<kPanelCols>(this_row, chunk));
        const Element* src = from + pass * (kRowsPerPass * row_stride);
#pragma unroll
        for (int panel = 0; panel < kPanels; ++panel) {
          const int col = first_col + panel * kPanelCols + chunk * 8;
          load_chunk(enable && in_tile, to + panel * (Tile::kRows * kPanelCols * 2), src + panel * kPanelCols,
                     this_row >= begin ? kDim - col : 0);
        }
      }
    }
  };

  // Eight columns, of which the first `count` (maybe fewer than none) exist.
  HSTU_PRIM static void load_chunk(bool enable, u32 dst, const Element* src, int count) {
    if constexpr (kVector) {
      prim::cp_async16_or_zero_if(enable, dst, src, count > 0);
    } else if (enable) {
      prim::st_shared(dst, gather8(src, count));
    }
  }

  Panels<64> wide_;
  Panels<32> narrow32_;
  Panels<16> narrow16_;
};

// Stores rows from `begin` on of Tile to dst (kDim columns), 16 bytes a thread when kVector.
template <class Tile, int kDim, int kThreads, bool kVector, class Element>
HSTU_PRIM void store_tile(u32 base, Element* dst, i64 row_stride, int begin) {
  constexpr int kChunks = (kDim + 7) / 8;
  for (int i = prim::thread_id(); i < Tile::kRows * kChunks; i += kThreads) {
    const int row = i / kChunks, chunk = i % kChunks;
    if (row < begin) continue;
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
