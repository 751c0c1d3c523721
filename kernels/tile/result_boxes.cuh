// From a product's wgmma accumulators to its results (sm_90), box by box (tile/warp_boxes.cuh): a residual is added,
// which TMA fetches into the boxes while the tile's products run, an activation applied to the first columns, and what
// is rounded then goes to one matrix or to several, whole boxes each.
#pragma once
#include "prim/fp8.cuh"
#include "prim/mbarrier.cuh"
#include "tile/activation.cuh"
#include "tile/addmm_terms.h"
#include "tile/stored.cuh"
#include "tile/tma_product.cuh"
#include "tile/warp_boxes.cuh"

namespace hstu::tile {

enum class Activated { kNothing, kAll, kSome };  // of columns side by side

// A warp's 16 rows of each fragment of a tile. A Shape of tile/tma_product.cuh, with its boxes at kEpilogueAt, names
//   Config  with Element, Fp8 if any, kBias, kActivation, kActivatesPart, kSplitColumns, kBlockN, kBoxes as in
//           addmm_sm90.cuh
//   Params  with residual, out, out_first, act_columns as in dense/addmm_sm90.h
//   kResultColumns  of the accumulators
//   Boxes, kAtOnce (groups of 16 columns that are made at a time), kResidualsAt (from kEpilogueAt: a barrier a warp)
template <class Shape>
class ResultBoxes {
 public:
  using Config = typename Shape::Config;
  using Params = typename Shape::Params;
  enum : bool { kHasResidual = (Config::kBias & kResidual) != 0 };
  enum : int { kLineBoxes = Shape::kResultColumns / 64, kTileBoxes = Shape::kFragments * kLineBoxes };
  static_assert(!kHasResidual || Config::kBoxes == kTileBoxes, "a warp's whole residual is fetched ahead");
  using Stored = typename StoredOf<Config>::type;
  enum : bool { kQuantises = sizeof(Stored) == 1 };
  // Results in FP8 take the first half of the box in which their residual lies, which is read before.
  enum : bool { kReadsAhead = kHasResidual && kQuantises };

  HSTU_PRIM ResultBoxes(const Params& p, u32 smem, u32 warp)
      : p_(p),
        boxes_(smem + Shape::kEpilogueAt + warp * Shape::Boxes::kBytes),
        residual_(barrier(smem, warp)),
        panel_stride_(tile::panel_stride<Shape>(p.n)) {
    if constexpr (kQuantises) multiplier_ = 1.0f / *p.out_descale;
  }
  HSTU_PRIM static void init(u32 smem) {
    if constexpr (kHasResidual)
      for (u32 warp = 0; warp < Shape::kConsumerWarps; ++warp) prim::mbarrier_init(barrier(smem, warp), 1);
  }

  // Before the products of the tile at `column`, of which the warp has the rows from `row` on.
  HSTU_PRIM void begin(i32 row, i32 column) {
    row_ = row;
    column_ = column;
    if constexpr (kHasResidual) fetch_residual();
  }

  // After them. source.value(fragment, i, held) is the i-th of a fragment's accumulators, scaled and biased, in the
  // held-th of kAtOnce groups; source.next(box, group) tells which groups come then, up to box kTileBoxes.
  template <class Source>
  HSTU_PRIM void run(Source& source) {
    if constexpr (kHasResidual) {
      prim::mbarrier_wait(residual_, parity_);
      parity_ ^= 1;
    }
    if constexpr (Shape::kSpread) {
#pragma unroll
      for (int box = 0; box < kTileBoxes; ++box) run_boxes<1>(source, box);
    } else {
      run_boxes<kTileBoxes>(source, 0);
    }
  }

 private:
  using Element = typename Config::Element;
  HSTU_PRIM static u32 barrier(u32 smem, u32 warp) {
    return smem + Shape::kEpilogueAt + Shape::kResidualsAt + 8 * warp;
  }
  HSTU_PRIM i32 row_of(int box) const { return row_ + box / kLineBoxes * 64; }
  HSTU_PRIM i32 column_of(int box) const { return column_ + box % kLineBoxes * panel_stride_; }

  HSTU_PRIM void fetch_residual() {
    boxes_.wait_for_all();
    if (boxes_.leads()) {
      prim::mbarrier_arrive_expect_tx(residual_, Shape::Boxes::kBytes);
#pragma unroll
      for (int box = 0; box < kTileBoxes; ++box)
        prim::tma_load_2d(boxes_.at(box), &p_.residual, residual_, column_of(box), row_of(box));
    }
    __syncwarp();
  }

  // kCount boxes from `first` on: one, or all of a tile whose columns lie side by side.
  template <int kCount, class Source>
  HSTU_PRIM void run_boxes(Source& source, int first) {
    constexpr int kColumns = kCount == 1 ? 64 : Shape::kResultColumns;
    const i64 active = p_.act_columns - column_of(first);
    if (Config::kActivation == 0 || active <= 0)
      run_boxes<kCount, Activated::kNothing>(source, first);
    else if (!Config::kActivatesPart || active >= kColumns)
      run_boxes<kCount, Activated::kAll>(source, first);
    else
      run_boxes<kCount, Activated::kSome>(source, first);
  }
  template <int kCount, Activated kActivated, class Source>
  HSTU_PRIM void run_boxes(Source& source, int first) {
#pragma unroll
    for (int box = first; box < first + kCount; ++box) {
      u32 ahead[4][4];
      if constexpr (kReadsAhead) {
#pragma unroll
        for (int group = 0; group < 4; ++group) boxes_.read(box % Config::kBoxes, group, ahead[group]);
        __syncwarp();  // what lanes write lies where others read
      }
#pragma unroll
      for (int group = 0; group < 4; group += Shape::kAtOnce) run<kActivated>(source, box, group, ahead);
      store(box % Config::kBoxes, column_of(box), row_of(box));
    }
  }
  HSTU_PRIM void store(int slot, i32 column, i32 row) const {
    int part = 0;
    if constexpr (Config::kSplitColumns)
      part = (column >= p_.out_first[1]) + (column >= p_.out_first[2]) + (column >= p_.out_first[3]);
    boxes_.store(&p_.out[part], slot, Config::kSplitColumns ? column - p_.out_first[part] : column, row);
  }

  // kAtOnce groups of 16 columns from 16 group of a box on.
  template <Activated kActivated, class Source>
  HSTU_PRIM void run(Source& source, int box, int group, const u32 (&ahead)[4][4]) {
    const int slot = box % Config::kBoxes;
    u32 word[Shape::kAtOnce][4];
#pragma unroll
    for (int i = 0; i < Shape::kAtOnce; ++i) {
      if constexpr (kReadsAhead)
#pragma unroll
        for (int j = 0; j < 4; ++j) word[i][j] = ahead[group + i][j];
      else if constexpr (kHasResidual)
        boxes_.read(slot, group + i, word[i]);
      convert<kActivated>(word[i], source, box, group + i, i);
    }
    source.next(box + (group + Shape::kAtOnce) / 4, (group + Shape::kAtOnce) % 4);
    if (!kHasResidual && group == 0) boxes_.template wait_for<kTileBoxes>(box);
#pragma unroll
    for (int i = 0; i < Shape::kAtOnce; ++i) {
      if constexpr (kQuantises)
        boxes_.write_bytes(slot, group + i, word[i]);
      else
        boxes_.write(slot, group + i, word[i]);
    }
  }

  // 16 columns: pairs of rows g, g + 8, then 8 columns further; what `word` holds of a residual is added.
  template <Activated kActivated, class Source>
  HSTU_PRIM void convert(u32 (&word)[4], const Source& source, int box, int group, int held) const {
    const int in_line = box % kLineBoxes * 4 + group;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      float lo = source.value(box / kLineBoxes, 8 * in_line + 2 * i, held);
      float hi = source.value(box / kLineBoxes, 8 * in_line + 2 * i + 1, held);
      if constexpr (kHasResidual) {
        lo += prim::unpack_lo<Element>(word[i]);
        hi += prim::unpack_hi<Element>(word[i]);
      }
      const i32 column = column_of(box) + 16 * group + 8 * (i / 2) + 2 * static_cast<i32>(prim::lane_id() % 4);
      lo = activate<kActivated>(lo, column);
      hi = activate<kActivated>(hi, column + 1);
      if constexpr (kQuantises)
        word[i] = prim::pack2_fp8<Stored>(lo * multiplier_, hi * multiplier_);
      else
        word[i] = prim::pack2<Element>(lo, hi);
    }
  }

  template <Activated kActivated>
  HSTU_PRIM float activate(float x, i32 column) const {
    if constexpr (kActivated == Activated::kNothing)
      return x;
    else if constexpr (kActivated == Activated::kAll)
      return tile::activate<Config::kActivation, Element>(x);
    else
      return column < static_cast<i32>(p_.act_columns) ? tile::activate<Config::kActivation, Element>(x) : x;
  }

  const Params& p_;
  const typename Shape::Boxes boxes_;
  const u32 residual_;
  const i32 panel_stride_;
  float multiplier_;  // of results in FP8
  u32 parity_ = 0;
  i32 row_, column_;
};

}  // namespace hstu::tile
