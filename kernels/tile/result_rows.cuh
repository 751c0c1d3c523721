// From a product's mma accumulators to its results (tile/product.cuh, tile/epilogue.cuh): a residual is added, an
// activation applied to the first columns, and what is rounded goes to one matrix or to several, cut anywhere.
//
// A Shape of tile/product.cuh names, further,
//   Config  with Element, Fp8 if any, kBias, kActivation, kVectorZ, kGatherY, kSplitColumns as in addmm_sm80.cuh
//   Params  with residual, out, their strides, out_first and act_columns as in tile/addmm.h
//   Staged, kElementBytes  a warp's staging area; of an element of the result
#pragma once
#include "prim/lanes.cuh"
#include "prim/memory.cuh"
#include "tile/activation.cuh"
#include "tile/addmm_terms.h"
#include "tile/epilogue.cuh"
#include "tile/product.cuh"
#include "tile/stored.cuh"

namespace hstu::tile {

// Brings a tile's residual to L2 while its product is computed.
template <class Shape>
HSTU_PRIM void prefetch_residual(const typename Shape::Params& p, TilePosition at) {
  using Config = typename Shape::Config;
  using Unit = typename UnitOf<Shape::kElementBytes>::type;
  constexpr int kLineElements = 128 / sizeof(Unit), kLines = (Config::kBlockN + kLineElements - 1) / kLineElements;
  const i64 row0 = static_cast<i64>(at.m) * Config::kBlockM, column0 = static_cast<i64>(at.n) * Config::kBlockN;
  for (int i = threadIdx.x; i < Config::kBlockM * kLines; i += Config::kThreads) {
    const i64 row = row0 + i / kLines, column = column0 + i % kLines * kLineElements;
    if (row < p.m && column < p.n)
      prim::prefetch_l2(static_cast<const Unit*>(p.residual) + row * p.residual_row_stride + column);
  }
}

// act(acc + residual), rounded, to out, 16 rows at a time through the warp's staging area: mma's layout touches 16
// bytes of a row at once, which costs the memory pipe several times the bytes moved.
template <class Shape>
class ResultRows {
 public:
  using Config = typename Shape::Config;
  using Params = typename Shape::Params;
  using Staged = typename Shape::Staged;

  HSTU_PRIM ResultRows(const Params& p, i64 warp_row, i64 warp_column, u32 staging) : p_(p), staged_(staging) {
    const i64 row = warp_row + Staged::lane_row(), column = warp_column + Staged::lane_column();
    row_ = row, column_ = column;
    from_ = static_cast<const Unit*>(p.residual) + row * p.residual_row_stride + residual_column(column);
    rows_ = clamp_left(p.m - row);
    columns_ = clamp_left(p.n - column);
    active_ = clamp_left(p.act_columns - warp_column - 2 * (prim::lane_id() % 4));
    activates_ = warp_column < p.act_columns;
    if constexpr (kQuantises) multiplier_ = 1.0f / *p.out_descale;
  }

  // Whether the warp's part has columns under the activation; the same in all lanes.
  HSTU_PRIM bool activates() const { return activates_; }

  template <bool kActivate>
  HSTU_PRIM void run(ProductAccumulators<Shape>& acc) {
    load_residual(0);
#pragma unroll
    for (int block = 0; block < Shape::kBlocksM; ++block) {
      stage_residual();
      if (block + 1 < Shape::kBlocksM) load_residual(block + 1);
      stage<kActivate>(acc[block]);
      __syncwarp();
      store(block);
      __syncwarp();
    }
  }

 private:
  using Element = typename Config::Element;
  using Unit = typename UnitOf<Shape::kElementBytes>::type;
  using Stored = typename StoredOf<Config>::type;
  using StoredUnit = typename UnitOf<static_cast<int>(sizeof(Stored))>::type;
  enum : bool { kHasResidual = (Config::kBias & kResidual) != 0, kQuantises = sizeof(Stored) == 1 };

  HSTU_PRIM static int clamp_left(i64 left) { return static_cast<int>(max(min(left, i64{1} << 30), i64{-1} << 30)); }
  HSTU_PRIM int columns_of(int block, int pass) const {
    return 16 * block + pass * Staged::kRowsPerPass < rows_ ? columns_ : 0;
  }

  HSTU_PRIM i64 residual_column(i64 column) const {
    if constexpr (Config::kGatherY)
      return column * p_.residual_column_stride;
    else
      return column;
  }
  HSTU_PRIM void load_residual(int block) {
    if constexpr (kHasResidual) {
#pragma unroll
      for (int pass = 0; pass < Staged::kPasses; ++pass)
        residual_[pass] =
            load_residual(from_ + pass * Staged::kRowsPerPass * p_.residual_row_stride, columns_of(block, pass));
      from_ += 16 * p_.residual_row_stride;
    }
  }

  HSTU_PRIM prim::Quad load_residual(const Unit* from, int valid) const {
    if constexpr (Config::kGatherY)
      return gather_row(from, p_.residual_column_stride, valid);
    else
      return load_chunk<Config::kVectorZ>(from, valid);
  }

  HSTU_PRIM void stage_residual() {
    if constexpr (kHasResidual) {
#pragma unroll
      for (int pass = 0; pass < Staged::kPasses; ++pass) prim::st_shared(staged_.row(pass), residual_[pass]);
      __syncwarp();
    }
  }

  // The lane's pairs of 16 rows, where the residual's lie.
  template <bool kActivate>
  HSTU_PRIM void stage(const float (&acc)[2 * Shape::kBlocksN][4]) {
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
      for (int j = 0; j < 2 * Shape::kBlocksN; ++j) {
        float lo = acc[j][2 * half], hi = acc[j][2 * half + 1];
        if constexpr (kHasResidual) add_staged_pair<Element>(lo, hi, staged_.pair(half, j));
        if constexpr (kActivate) {
          lo = 8 * j < active_ ? activate<Config::kActivation, Element>(lo) : lo;
          hi = 8 * j + 1 < active_ ? activate<Config::kActivation, Element>(hi) : hi;
        }
        if constexpr (kQuantises)
          stage_fp8_pair<Stored>(staged_.pair(half, j), lo * multiplier_, hi * multiplier_);
        else
          stage_pair<Element>(staged_.pair(half, j), lo, hi);
      }
  }

  // Element by element into several matrices is many addresses: those of one pass at a time fit the registers.
  HSTU_PRIM void store(int block) {
    constexpr int kUnroll = Config::kSplitColumns && Config::kVectorZ < Staged::kChunkElements ? 1 : Staged::kPasses;
#pragma unroll kUnroll
    for (int pass = 0; pass < Staged::kPasses; ++pass)
      store(row_ + 16 * block + pass * Staged::kRowsPerPass, prim::ld_shared(staged_.row(pass)),
            columns_of(block, pass));
  }
  HSTU_PRIM void store(i64 row, const prim::Quad& staged, int valid) const {
    prim::Quad q = staged;
    if constexpr (kQuantises) q = packed_fp8_pairs<Shape::kElementBytes>(staged);
    if constexpr (!Config::kSplitColumns && !kQuantises) {
      store_chunk<Config::kVectorZ>(static_cast<Unit*>(p_.out[0]) + row * p_.out_row_stride[0] + column_, q, valid);
    } else {
      constexpr int kAccesses = Staged::kChunkElements / Config::kVectorZ;
#pragma unroll
      for (int i = 0; i < kAccesses; ++i)
        store_access<Config::kVectorZ>(at(row, column_ + i * Config::kVectorZ), q, i, valid);
    }
  }
  // Where an element of the result lies.
  HSTU_PRIM StoredUnit* at(i64 row, i64 column) const {
    int part = 0;
    if constexpr (Config::kSplitColumns)
      part = (column >= p_.out_first[1]) + (column >= p_.out_first[2]) + (column >= p_.out_first[3]);
    return static_cast<StoredUnit*>(p_.out[part]) + row * p_.out_row_stride[part] +
           (Config::kSplitColumns ? column - p_.out_first[part] : column);
  }

  const Params& p_;
  const Staged staged_;
  i64 row_, column_;    // of the lane's 16 bytes, in the first pass of the first block
  const Unit* from_;    // of the residual
  int rows_, columns_;  // left from the lane's first row, from its first column
  int active_;          // columns left of the activation, from the lane's first accumulator
  bool activates_;
  float multiplier_;  // of results in FP8
  prim::Quad residual_[Staged::kPasses];
};

}  // namespace hstu::tile
