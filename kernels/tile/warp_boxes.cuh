// From wgmma accumulators to rows in global memory, or from there, through boxes of 16 rows x 128 bytes that TMA moves
// under its 128-byte swizzle: each warp has its own, so that none waits for another.
#pragma once
#include "prim/lanes.cuh"
#include "prim/memory.cuh"
#include "prim/mma.cuh"
#include "prim/proxy.cuh"
#include "prim/stmatrix.cuh"
#include "prim/tma.cuh"
#include "tile/jagged_map.cuh"

namespace hstu::tile {

// kBoxes boxes of a warp, used round-robin: 64 columns of 16 bits each. As accumulators lie, 16 columns of a box are
// four words a lane: columns 2t, 2t + 1 of rows g and g + 8, then 8 columns further.
template <int kBoxes>
class WarpBoxes {
 public:
  enum : int { kBoxBytes = 16 * 128, kBytes = kBoxes * kBoxBytes, kColumns = 64 };

  HSTU_PRIM explicit WarpBoxes(u32 smem) : WarpBoxes(smem, prim::lane_id() % 16) {}
  // row: of the box, where row lane % 16 of the accumulators belongs.
  HSTU_PRIM WarpBoxes(u32 smem, u32 row) : smem_(smem) {
    line_ = smem + row * 128 + (((prim::lane_id() / 16) ^ (row & 7)) << 4);
  }

  // Before anything is written to a tile's box number `box`, of kTileBoxes: the copy out of its slot has read it. That
  // was kBoxes stores ago; but as each tile begins with slot 0, the first boxes of one find slots of the last boxes of
  // the tile before, and these are younger where that did not end with the last slot.
  template <int kTileBoxes>
  HSTU_PRIM static void wait_for(int box) {
    constexpr int kLastSlot = (kTileBoxes - 1) % kBoxes;  // of the tile before
    if (leads()) {
      if (box <= kLastSlot)
        prim::bulk_wait_read<kLastSlot>();
      else
        prim::bulk_wait_read<kBoxes - 1>();
    }
    __syncwarp();
  }
  HSTU_PRIM static void wait_for_all() {
    if (leads()) prim::bulk_wait_read<0>();
    __syncwarp();
  }

  HSTU_PRIM void write(int box, int group, const u32 (&word)[4]) const {
    prim::stmatrix_x4(line(box, group), word[0], word[1], word[2], word[3]);
  }
  // Of bytes, two in each word: rows of 64, under the 64-byte swizzle. Every lane's are in banks of their own, as those
  // of two lanes in one.
  HSTU_PRIM void write_bytes(int box, int group, const u32 (&word)[4]) const {
    const u32 row = prim::lane_id() / 4, column = 2 * (prim::lane_id() % 4);
    const u32 to = at(box) + row * 64 + ((static_cast<u32>(group) ^ row >> 1) << 4) + column;
#pragma unroll
    for (int i = 0; i < 4; ++i) prim::st_shared2(to + i % 2 * (8 * 64) + i / 2 * 8, word[i]);
  }
  HSTU_PRIM void read(int box, int group, u32 (&word)[4]) const { prim::ldmatrix_x4(word, line(box, group)); }

  // Stores the box to (column, row) of the map's tensor; what reaches beyond that is dropped.
  HSTU_PRIM void store(const TensorMap* map, int box, i32 column, i32 row) const {
    prim::fence_async_shared();
    __syncwarp();
    if (leads()) {
      prim::tma_store_2d(map, at(box), column, row);
      prim::bulk_commit();
    }
  }
  // The same to rows of a sequence.
  HSTU_PRIM void store(const TensorMap* map, int box, const JaggedBox& rows, i32 column, i32 row) const {
    prim::fence_async_shared();
    __syncwarp();
    if (leads()) {
      rows.store(map, at(box), column, row, 0);
      prim::bulk_commit();
    }
  }
  // The first kCount boxes side by side, at once. Rows: a JaggedBox, or has its store().
  template <int kCount, class Rows>
  HSTU_PRIM void store_line(const TensorMap* map, const Rows& rows, i32 column, i32 row, int head) const {
    prim::fence_async_shared();
    __syncwarp();
    if (leads()) {
#pragma unroll
      for (int box = 0; box < kCount; ++box) rows.store(map, at(box), column + box * kColumns, row, head);
      prim::bulk_commit();
    }
  }
  HSTU_PRIM u32 at(int box) const { return smem_ + box * kBoxBytes; }
  HSTU_PRIM static bool leads() { return prim::lane_id() == 0; }

 private:
  HSTU_PRIM u32 line(int box, int group) const { return (line_ ^ (group << 5)) + box * kBoxBytes; }

  u32 smem_, line_;
};

// Writes a warp's rows of a tile: `source.make(word, i, box, group)` gives the words of 16 columns, the group of a box,
// as the i-th of kAtOnce; `source.next(box, group)` tells which come then. A line of the tile is kLineBoxes boxes.
// kOfBytes: two bytes in each word.
template <int kTileBoxes, int kLineBoxes, int kAtOnce, bool kOfBytes = false, int kBoxes, class Source>
HSTU_PRIM void write_boxes(const WarpBoxes<kBoxes>& boxes, const TensorMap* map, i32 column, i32 row, Source& source) {
#pragma unroll
  for (int box = 0; box < kTileBoxes; ++box) {
#pragma unroll
    for (int group = 0; group < 4; group += kAtOnce) {
      u32 word[kAtOnce][4];
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) source.make(word[i], i, box, group + i);
      source.next(box + (group + kAtOnce) / 4, (group + kAtOnce) % 4);
      if (group == 0) boxes.template wait_for<kTileBoxes>(box);
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        if constexpr (kOfBytes)
          boxes.write_bytes(box % kBoxes, group + i, word[i]);
        else
          boxes.write(box % kBoxes, group + i, word[i]);
      }
    }
    boxes.store(map, box % kBoxes, column + box % kLineBoxes * 64, row + box / kLineBoxes * 64);
  }
}

}  // namespace hstu::tile
