// A row with a number a column, a bias or scales: its part for a tile of wgmma accumulators, fetched before the
// products and shared among the warpgroup while the last of them run.
#pragma once
#include "prim/lanes.cuh"
#include "prim/memory.cuh"
#include "prim/named_barrier.cuh"

namespace hstu::tile {

// kTileColumns of a warpgroup's tile; kAtOnce groups of 16 columns are held at a time. Shared memory has a line for
// each t = lane % 4 with its columns 2t, 2t + 1 of every 8, an access longer than their bytes so that banks differ.
// kCopies 1: of both warpgroups, for columns that stay, which they share once.
template <class Bias, int kTileColumns, int kAtOnce, int kCopies = 2>
class BiasRow {
 public:
  enum : int { kLine = kTileColumns + 16, kBytes = 4 * kLine };

  HSTU_PRIM BiasRow(u32 smem, u32 warpgroup)
      : smem_(smem + (kCopies > 1 ? warpgroup * kBytes : 0)), warpgroup_(warpgroup) {}

  // A tile's columns begin at first_column, and every 64 of them panel_stride further on.
  HSTU_PRIM void fetch(const void* bias, i64 stride, i64 first_column, i64 columns, i64 panel_stride = 64) {
#pragma unroll
    for (int i = 0; i < kPerThread; ++i) {
      const i64 column = first_column + column_of(i) / 64 * panel_stride + column_of(i) % 64;
      fetched_[i] = column < columns ? prim::to_float(static_cast<const Bias*>(bias)[column * stride]) : 0.0f;
    }
  }
  HSTU_PRIM void share() {
    if constexpr (kCopies > 1) sync();  // all have read the tile's before
#pragma unroll
    for (int i = 0; i < kPerThread; ++i) {
      const u32 column = column_of(i), at = column % 8 / 2 * kLine + (column / 8 * 2 + column % 2) * 4;
      if (column < kTileColumns && (kCopies > 1 || warpgroup_ == 0))
        prim::st_shared(smem_ + at, __float_as_uint(fetched_[i]));
    }
    sync();
  }

  // Loads the columns from 16 group on, which value() reads then.
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
    if constexpr (kCopies == 1)
      prim::named_barrier_sync<1, 256>();
    else if (warpgroup_ == 0)
      prim::named_barrier_sync<1, 128>();
    else
      prim::named_barrier_sync<2, 128>();
  }

  u32 smem_, warpgroup_;
  float fetched_[kPerThread];
  prim::Quad held_[kAtOnce];
};

// The same of 16 bits for columns that stay, in registers. For products that shared memory holds up: a read of the row
// above takes four of its clocks.
template <class Bias, int kTileColumns>
class RegisterBiasRow {
 public:
  enum : int { kBytes = 0 };
  static_assert(sizeof(Bias) == 2, "a register holds two columns");

  HSTU_PRIM RegisterBiasRow(u32, u32) {}

  HSTU_PRIM void fetch(const void* bias, i64 stride, i64 first_column, i64 columns, i64 panel_stride = 64) {
    const auto at = [&](int i) {
      const i64 column = first_column + i / 64 * panel_stride + i % 64 + 2 * (prim::lane_id() % 4);
      return column < columns ? prim::to_float(static_cast<const Bias*>(bias)[column * stride]) : 0.0f;
    };
#pragma unroll
    for (int i = 0; i < kTileColumns / 8; ++i) pairs_[i] = prim::pack2<Bias>(at(8 * i), at(8 * i + 1));
  }
  HSTU_PRIM void share() {}
  HSTU_PRIM void read(int group) { group_ = group; }
  HSTU_PRIM float value(int i, int half, int e) const {
    const u32 pair = pairs_[2 * (group_ + i) + half];
    return e ? prim::unpack_hi<Bias>(pair) : prim::unpack_lo<Bias>(pair);
  }

 private:
  u32 pairs_[kTileColumns / 8];
  int group_ = 0;
};

// In registers, or in shared memory.
template <bool kInRegisters, class Bias, int kTileColumns, int kAtOnce, int kCopies>
struct EitherBiasRow {
  using Type = BiasRow<Bias, kTileColumns, kAtOnce, kCopies>;
};
template <class Bias, int kTileColumns, int kAtOnce, int kCopies>
struct EitherBiasRow<true, Bias, kTileColumns, kAtOnce, kCopies> {
  using Type = RegisterBiasRow<Bias, kTileColumns>;
};

}  // namespace hstu::tile
