// Products of FP8 matrices, sm_90: out = a bT with both operands' scales, plus a bias row, on wgmma's FP8 products.
//
// The pipeline is tile/tma_product.cuh's: a slice has 128 k. The tensor cores add FP8 products up with 14 bits, so the
// sums of each slice are promoted: scaled, where scales change along k, and added to accumulators in f32. While one
// warpgroup does so the other multiplies: both halve each tile along m.
//
// Scales of tensors and rows, and the bias, wait for the epilogue.
//
// Shared memory  kStages x (a slice | b slice) | boxes of every warp | scales and bias of every warpgroup's columns |
//                barriers
// Registers      producer 40, consumers 232: kBlockM / 2 x kBlockN / 128 accumulators, and the sums of 64 rows,
//                kBlockN / 2
//
// Config, problem facts
//   A, B                e4m3 or e5m2
//   Element             of out: bf16 or f16
//   Bias, kHasBias      element type of the bias row
//   kScalingA, kScalingB  kPerTensor, kPerRow, kPerGroup (a only), kPerBlock (tile/fp8_row.cuh)
// Config, knobs         as in addmm_sm90.cuh; kXAlongK and kWAlongK are true, kPingPong and kResident false
#pragma once
#include "params/fp8_gemm_sm90.h"
#include "tile/bias_row.cuh"
#include "tile/fp8_row.cuh"
#include "tile/tma_product.cuh"
#include "tile/warp_boxes.cuh"

namespace hstu {

// The epilogue's shared memory, from its beginning.
template <class Config>
struct Fp8Boxes {
  static constexpr int kAtOnce = 2;  // groups of 16 columns; the registers that are left
  static constexpr bool kScaledColumns = Config::kScalingB == tile::kPerRow;
  using Boxes = tile::WarpBoxes<Config::kBoxes>;
  using Scales = tile::BiasRow<float, Config::kBlockN, kAtOnce>;
  using Bias = tile::BiasRow<typename Config::Bias, Config::kBlockN, kAtOnce>;
  static constexpr int kScalesAt = 8 * Boxes::kBytes;
  static constexpr int kBiasAt = kScalesAt + (kScaledColumns ? 2 * Scales::kBytes : 0);
  static constexpr int kBytes = kBiasAt + (Config::kHasBias ? 2 * Bias::kBytes : 0);
};

template <class Config>
struct Fp8TmaShape : tile::TmaProductShape<Config, typename Config::A, typename Config::B, Fp8Boxes<Config>::kBytes>,
                     Fp8Boxes<Config> {
  using Product = tile::TmaProductShape<Config, typename Config::A, typename Config::B, Fp8Boxes<Config>::kBytes>;
  using Params = Fp8GemmTmaParams;
  static constexpr int kTileColumns = Config::kBlockN;
  static_assert(!Config::kPingPong && !Config::kResident, "both warpgroups are at work on every slice");
  static_assert(Product::kBlockK == tile::kScaleSpan, "a slice has one scale along k");
  static_assert(Config::kScalingB != tile::kPerGroup, "scales that change along k and by column are not covered");
  static_assert(Config::kScalingB != tile::kPerBlock || tile::kScaleSpan % Config::kBlockN == 0,
                "a tile's columns have one block's scale");

  HSTU_PRIM static void load_x(u32 to, const Params& p, u32 barrier, i32 row, i32 k) {
    Product::TileX::load(to, &p.a, barrier, row, k, 0);
  }
  HSTU_PRIM static void prefetch_x(const Params& p, i32 row, i32 k) { Product::TileX::prefetch(&p.a, row, k); }
  HSTU_PRIM static void load_w(u32 to, const Params& p, u32 barrier, i32 column, i32 k, u32 rank) {
    Product::TileW::load(to, &p.b, barrier, column, k, rank);
  }
};

template <class Config>
constexpr int fp8_gemm_sm90_smem_bytes = Fp8TmaShape<Config>::kSmemBytes;

// Scales of a thread's rows, g and g + 8 of each fragment, and of the tile's columns where these have one: of a slice
// if they change along k, otherwise of the tile.
template <class Config>
class Fp8Scales {
 public:
  static constexpr int kRows = 2 * Fp8TmaShape<Config>::kFragments;
  static constexpr bool kSlicesA = Config::kScalingA == tile::kPerGroup || Config::kScalingA == tile::kPerBlock;
  static constexpr bool kSlicesB = Config::kScalingB == tile::kPerBlock;

  HSTU_PRIM Fp8Scales(const Fp8GemmTmaParams& p, i32 row, i32 column) : p_(p), row_(row), column_(column) {}

  // Whichever of them are of this kind; `slice` counts for those that change along k.
  template <bool kOfSlice>
  HSTU_PRIM void load(float (&scale)[kRows], u32 slice) const {
    const float columns = kOfSlice == kSlicesB ? of_columns(slice) : 1.0f;
#pragma unroll
    for (int i = 0; i < kRows; ++i) scale[i] = kOfSlice == kSlicesA ? of_row(i, slice) * columns : columns;
  }

 private:
  HSTU_PRIM float of_row(int i, u32 slice) const {
    const i64 row = min(static_cast<i64>(row_) + i / 2 * 64 + i % 2 * 8 + prim::lane_id() / 4, p_.m - 1);
    const i64 unit = Config::kScalingA == tile::kPerBlock ? row / tile::kScaleSpan : row;
    return p_.a_descale[unit * p_.a_descale_row_stride + slice * p_.a_descale_column_stride];
  }
  HSTU_PRIM float of_columns(u32 slice) const {
    if constexpr (Config::kScalingB == tile::kPerRow) return 1.0f;
    return p_.b_descale[column_ / tile::kScaleSpan * p_.b_descale_row_stride + slice * p_.b_descale_column_stride];
  }

  const Fp8GemmTmaParams& p_;
  i32 row_, column_;
};

// A warpgroup's products, promoted slice by slice.
template <class Config>
class Fp8Consumer {
 public:
  using Shape = Fp8TmaShape<Config>;
  using Scales = Fp8Scales<Config>;
  static constexpr bool kScaled = Scales::kSlicesA || Scales::kSlicesB;

  HSTU_PRIM Fp8Consumer(u32 smem, u32 warpgroup, u32 slices)
      : smem_(smem), slices_(slices), row(warpgroup * Shape::kRows) {}

  // acc = a bT of the next tile, descaled by what changes along k.
  HSTU_PRIM void run(typename Shape::Accumulators& acc, const Scales& scales) {
    float scale[Scales::kRows], next[Scales::kRows];
    if constexpr (kScaled) scales.template load<true>(next, 0);
    for (u32 slice = 0; slice < slices_; ++slice) {
      if constexpr (kScaled) {
#pragma unroll
        for (int i = 0; i < Scales::kRows; ++i) scale[i] = next[i];
        if (slice + 1 < slices_) scales.template load<true>(next, slice + 1);
      }
      Shape::ring(smem_).wait(at_);
#pragma unroll
      for (int f = 0; f < Shape::kFragments; ++f) {
        float sums[Config::kBlockN / 2];
        multiply(sums, f);
        if (f + 1 == Shape::kFragments) Shape::ring(smem_).release(at_);
        promote(acc[f], sums, slice == 0, scale[2 * f], scale[2 * f + 1]);
      }
      at_.advance();
    }
  }

 private:
  using TileX = typename Shape::TileX;
  using TileW = typename Shape::TileW;

  HSTU_PRIM void multiply(float (&sums)[Config::kBlockN / 2], int f) const {
    const u32 stage = smem_ + Shape::kRingAt + at_.stage * Shape::kStageBytes;
    const u64 x = TileX::descriptor(stage, static_cast<int>(row) + 64 * f);
    const u64 w = TileW::descriptor(stage + TileX::kBytes, 0);
    prim::wgmma_fence();
#pragma unroll
    for (int step = 0; step < TileX::kSteps; ++step)
      Shape::Wgmma::template ss<typename Config::A, typename Config::B>(sums, TileX::at_step(x, step),
                                                                        TileW::at_step(w, step), step > 0);
    prim::wgmma_commit();
    prim::wgmma_wait<0>();
    prim::wgmma_keep(sums);
  }

  HSTU_PRIM static void promote(float (&acc)[Config::kBlockN / 2], const float (&sums)[Config::kBlockN / 2], bool first,
                                float scale_low, float scale_high) {
#pragma unroll
    for (int i = 0; i < Config::kBlockN / 2; ++i) {
      const float before = first ? 0.0f : acc[i];
      if constexpr (kScaled)
        acc[i] = __fmaf_rn(sums[i], i & 2 ? scale_high : scale_low, before);
      else
        acc[i] = before + sums[i];
    }
  }

  const u32 smem_, slices_;

 public:
  const u32 row;  // the warpgroup's first in a tile

 private:
  typename Shape::Ring::Place at_;
};

// The columns' scales and bias, and results from a warp's accumulators; see tile/warp_boxes.cuh.
template <class Config>
class Fp8Rows {
 public:
  using Shape = Fp8TmaShape<Config>;
  using Scales = Fp8Scales<Config>;
  static constexpr int kLineBoxes = Config::kBlockN / 64;

  HSTU_PRIM Fp8Rows(const Fp8GemmTmaParams& p, u32 smem, u32 warpgroup)
      : p_(p),
        scales_(smem + Shape::kEpilogueAt + Shape::kScalesAt, warpgroup),
        bias_(smem + Shape::kEpilogueAt + Shape::kBiasAt, warpgroup) {}

  // Before the tile's products.
  HSTU_PRIM void fetch(const Scales& scales, i32 column) {
    scales.template load<false>(scale_, 0);
    if constexpr (Shape::kScaledColumns) scales_.fetch(p_.b_descale, p_.b_descale_row_stride, column, p_.n);
    if constexpr (Config::kHasBias) bias_.fetch(p_.bias, 1, column, p_.n);
  }
  // After them.
  HSTU_PRIM void share(const typename Shape::Accumulators& acc) {
    acc_ = &acc;
    if constexpr (Shape::kScaledColumns) scales_.share();
    if constexpr (Config::kHasBias) bias_.share();
    next(0, 0);
  }

  HSTU_PRIM void make(u32 (&word)[4], int held, int box, int group) const {
    const int fragment = box / kLineBoxes, first = 32 * (box % kLineBoxes) + 8 * group;
#pragma unroll
    for (int i = 0; i < 4; ++i)
      word[i] = prim::pack2<typename Config::Element>(value(fragment, first + 2 * i, held),
                                                      value(fragment, first + 2 * i + 1, held));
  }
  HSTU_PRIM void next(int box, int group) {
    if (box == Shape::kFragments * kLineBoxes) return;
    if constexpr (Shape::kScaledColumns) scales_.read(box % kLineBoxes * 4 + group);
    if constexpr (Config::kHasBias) bias_.read(box % kLineBoxes * 4 + group);
  }

 private:
  HSTU_PRIM float value(int fragment, int i, int held) const {
    float x = (*acc_)[fragment][i] * scale_[2 * fragment + (i >> 1 & 1)];
    if constexpr (Shape::kScaledColumns) x *= scales_.value(held, i >> 2 & 1, i & 1);
    if constexpr (Config::kHasBias) x += bias_.value(held, i >> 2 & 1, i & 1);
    return x;
  }

  const Fp8GemmTmaParams& p_;
  typename Shape::Scales scales_;
  typename Shape::Bias bias_;
  float scale_[Scales::kRows];
  const typename Shape::Accumulators* acc_;
};

template <class Config>
struct Fp8Roles {
  using Shape = Fp8TmaShape<Config>;

  HSTU_PRIM static void init(u32) {}

  // A warpgroup that multiplies.
  HSTU_PRIM static void consume(const Fp8GemmTmaParams& p, const tile::TmaSchedule<Shape>& schedule, u32 smem,
                                u32 warp) {
    constexpr int kLineBoxes = Fp8Rows<Config>::kLineBoxes, kTileBoxes = Shape::kFragments * kLineBoxes;
    Fp8Consumer<Config> consumer(smem, warp / 4, schedule.slices);
    const typename Shape::Boxes boxes(smem + Shape::kEpilogueAt + warp * Shape::Boxes::kBytes);
    Fp8Rows<Config> rows(p, smem, warp / 4);
    for (u32 i = 0; i < schedule.count; ++i) {
      const tile::TilePosition tile = schedule.position(i);
      const i32 row = schedule.row(tile) + static_cast<i32>(consumer.row + warp % 4 * 16);
      const Fp8Scales<Config> scales(p, row, schedule.column(tile));
      rows.fetch(scales, schedule.column(tile));
      typename Shape::Accumulators acc;
      consumer.run(acc, scales);
      rows.share(acc);
      tile::write_boxes<kTileBoxes, kLineBoxes, Shape::kAtOnce>(boxes, &p.out, schedule.column(tile), row, rows);
    }
    boxes.wait_for_all();
  }
};

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    fp8_gemm_sm90(const __grid_constant__ Fp8GemmTmaParams p) {
  extern __shared__ __align__(1024) unsigned char smem_storage[];
  tile::run_roles<Fp8Roles<Config>>(p, prim::smem_addr(smem_storage));
}

}  // namespace hstu
