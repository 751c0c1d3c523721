// A row with a number a column, a bias or scales: its part for a tile of wgmma accumulators, fetched before the
// products and shared among the warpgroup while the last of them run.
#pragma once
#include "prim/lanes.cuh"
#include "prim/memory.cuh"
#include "prim/named_barrier.cuh"

namespace hstu::tile {

// kTileColumns of a warpgroup's tile; kAtOnce groups of 16 columns are held at a time. Shared memory has a line for
// each t = lane % 4 with its columns 2t, 2t + 1 of every 8, an access longer than their bytes so that banks differ.
template <class Bias, int kTileColumns, int kAtOnce>
class BiasRow {
 public:
  enum : int { kLine = kTileColumns + 16, kBytes = 4 * kLine };

  HSTU_PRIM BiasRow(u32 smem, u32 warpgroup) : smem_(smem + warpgroup * kBytes), warpgroup_(warpgroup) {}

  HSTU_PRIM void fetch(const void* bias, i64 stride, i64 first_column, i64 columns) {
#pragma unroll
    for (int i = 0; i < kPerThread; ++i) {
      const i64 column = first_column + column_of(i);
      fetched_[i] = column < columns ? prim::to_float(static_cast<const Bias*>(bias)[column * stride]) : 0.0f;
    }
  }
  HSTU_PRIM void share() {
    sync();  // all have read the tile's before
#pragma unroll
    for (int i = 0; i < kPerThread; ++i) {
      const u32 column = column_of(i), at = column % 8 / 2 * kLine + (column / 8 * 2 + column % 2) * 4;
      if (column < kTileColumns) prim::st_shared(smem_ + at, __float_as_uint(fetched_[i]));
    }
    sync();
  }

  // Takes up the columns from 16 group on, which value() is about then.
  HSTU_PRIM void read(int group) {
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i)
      held_[i] = prim::ld_shared(smem_ + prim::lane_id() % 4 * kLine + (group + i) * 16);
  }
  // Of column 16 i + 8 half + 2t + e of them.
  HSTU_PRIM float value(int i, int half, int e) const { return __uint_as_float(held_[i].word[2 * half + e]); }

 private:
  enum : int { kPerThread = (kTileColumns + 127) / 128 };
  HSTU_PRIM static u32 column_of(int i) { return threadIdx.x % 128 + 128 * i; }
  HSTU_PRIM void sync() const {
    if (warpgroup_ == 0)
      prim::named_barrier_sync<1, 128>();
    else
      prim::named_barrier_sync<2, 128>();
  }

  u32 smem_, warpgroup_;
  float fetched_[kPerThread];
  prim::Quad held_[kAtOnce];
};

}  // namespace hstu::tile
