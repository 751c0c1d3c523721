// From wgmma accumulators to rows in global memory, or from there, through boxes of 16 rows x 128 bytes that TMA moves
// under its 128-byte swizzle: each warp has its own, so that none waits for another.
#pragma once
#include "prim/lanes.cuh"
#include "prim/mma.cuh"
#include "prim/proxy.cuh"
#include "prim/stmatrix.cuh"
#include "prim/tma.cuh"

namespace hstu::tile {

// kBoxes boxes of a warp, used in turn: 64 columns of 16 bits each. As accumulators lie, 16 columns of a box are four
// words a lane: columns 2t, 2t + 1 of rows g and g + 8, then 8 columns further.
template <int kBoxes>
class WarpBoxes {
 public:
  static constexpr int kBoxBytes = 16 * 128, kBytes = kBoxes * kBoxBytes, kColumns = 64;

  HSTU_PRIM explicit WarpBoxes(u32 smem) : smem_(smem) {
    const u32 lane = prim::lane_id(), row = lane % 16;
    line_ = smem + row * 128 + (((lane / 16) ^ (row & 7)) << 4);
  }

  // Before anything is written to a box: the copy out of it, kBoxes stores ago, has read it.
  HSTU_PRIM static void wait_for_one() {
    if (leads()) prim::bulk_wait_read<kBoxes - 1>();
    __syncwarp();
  }
  HSTU_PRIM static void wait_for_all() {
    if (leads()) prim::bulk_wait_read<0>();
    __syncwarp();
  }

  HSTU_PRIM void write(int box, int group, const u32 (&word)[4]) const {
    prim::stmatrix_x4(line(box, group), word[0], word[1], word[2], word[3]);
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
  HSTU_PRIM u32 at(int box) const { return smem_ + box * kBoxBytes; }
  HSTU_PRIM static bool leads() { return prim::lane_id() == 0; }

 private:
  HSTU_PRIM u32 line(int box, int group) const { return (line_ ^ (group << 5)) + box * kBoxBytes; }

  u32 smem_, line_;
};

}  // namespace hstu::tile
