// Gated products, sm_90: out = (x gate) * act(x up), or act(x gate) * (x up), f32 inside, rounded once. x is read once,
// and neither product touches memory.
//
// The pipeline is tile/tma_product.cuh's on a tile of w that is two: kBlockN / 2 columns of gate, then the same columns
// of up. So one thread has both factors of a result, kBlockN / 4 accumulators apart.
//
// What runs, and the file behind each line, in tile/ unless a folder is named; other names are of this file:
//   block      barriers; wait for the kernels before; warps to their roles  tma_product.cuh, dependent_launch.cuh
//   producer   for each tile of the block                                   tma_product.cuh, raster.cuh
//                for each slice of k: acquire a stage                       tma_product.cuh, tma_ring.cuh
//                  x, gate and up to the stage                              GatedTmaShape, wgmma_operand.cuh
//   consumer   for each tile, of the block or of the warpgroup              GatedRoles::consume
//                ping-pong: wait for the other's mainloop                   tma_product.cuh, PingPongBarrier
//                for each slice: wait for its stage, acc += x [gate | up]   tma_product.cuh, wgmma_operand.cuh
//                  release the stage before                                 tma_ring.cuh
//                act(x gate) * (x up), or reverse; rounding                 GatedRows, dense/gated.cuh
//                boxes to out by TMA                                        warp_boxes.cuh
//
// Shared memory  w, if resident | kStages x (x slice | gate slice | up slice) | boxes of every warp | barriers
// Registers      producer 40, consumers 232, of them rows kBlockN / 128 accumulators, rows = kBlockM, or half of it
//
// Config, problem facts
//   Element             bf16 or f16
//   Fp8                 e4m3 or e5m2: out; left out where that is of Element
//   kActivation, kActOnGate  dense/gated.cuh
//   kXAlongK, kWAlongK  whether memory is contiguous along k: x row-major; gate and up column-major
// Config, knobs         as in addmm_sm90.cuh; kBlockN counts columns of both
#pragma once
#include "dense/gated.cuh"
#include "dense/gated_mlp_sm90.h"
#include "prim/fp8.cuh"
#include "tile/stored.cuh"
#include "tile/tma_product.cuh"
#include "tile/warp_boxes.cuh"

namespace hstu {

template <class Config>
struct GatedTmaShape : tile::TmaProductShape<Config, typename Config::Element, typename Config::Element,
                                             8 * tile::WarpBoxes<Config::kBoxes>::kBytes> {
  using Element = typename Config::Element;
  using Product = tile::TmaProductShape<Config, Element, Element, 8 * tile::WarpBoxes<Config::kBoxes>::kBytes>;
  using Params = GatedMlpTmaParams;
  using Boxes = tile::WarpBoxes<Config::kBoxes>;
  enum : int { kTileColumns = Config::kBlockN / 2 };
  using Half = tile::WgmmaOperand<Element, kTileColumns, Config::kWAlongK, Config::kCluster>;
  static_assert(kTileColumns % 64 == 0, "a tile has whole boxes of columns");

  HSTU_PRIM static void load_x(u32 to, const Params& p, u32 barrier, i32 row, i32 k) {
    Product::TileX::load(to, &p.x, barrier, row, k, 0);
  }
  HSTU_PRIM static void prefetch_x(const Params& p, i32 row, i32 k) { Product::TileX::prefetch(&p.x, row, k); }
  HSTU_PRIM static void load_w(u32 to, const Params& p, u32 barrier, i32 column, i32 k, u32 rank) {
    Half::load(to, &p.gate, barrier, column, k, rank);
    Half::load(to + Half::kBytes, &p.up, barrier, column, k, rank);
  }
};

template <class Config>
constexpr int gated_mlp_sm90_smem_bytes = GatedTmaShape<Config>::kSmemBytes;

// Results from a warp's accumulators; see tile/warp_boxes.cuh.
template <class Config>
struct GatedRows {
  using Shape = GatedTmaShape<Config>;
  using Stored = typename tile::StoredOf<Config>::type;
  enum : bool { kOfBytes = sizeof(Stored) == 1 };
  enum : int { kLineBoxes = Shape::kTileColumns / 64, kUp = Config::kBlockN / 4 };

  HSTU_PRIM void make(u32 (&word)[4], int, int box, int group) const {
    const float(&of)[Config::kBlockN / 2] = acc[box / kLineBoxes];
    const int first = 32 * (box % kLineBoxes) + 8 * group;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int at = first + 2 * i;
      const float lo = tile::gated<Config>(of[at], of[kUp + at]),
                  hi = tile::gated<Config>(of[at + 1], of[kUp + at + 1]);
      if constexpr (kOfBytes)
        word[i] = prim::pack2_fp8<Stored>(lo * multiplier, hi * multiplier);
      else
        word[i] = prim::pack2<Stored>(lo, hi);
    }
  }
  HSTU_PRIM static void next(int, int) {}

  const typename Shape::Accumulators& acc;
  const float multiplier;  // of results in FP8
};

template <class Config>
struct GatedRoles {
  using Shape = GatedTmaShape<Config>;

  HSTU_PRIM static void init(u32) {}

  // A warpgroup that multiplies.
  HSTU_PRIM static void consume(const GatedMlpTmaParams& p, const tile::TmaSchedule<Shape>& schedule, u32 smem,
                                u32 warp) {
    constexpr int kLineBoxes = GatedRows<Config>::kLineBoxes, kTileBoxes = Shape::kFragments * kLineBoxes;
    constexpr int kAtOnce = Shape::kFragments * Config::kBlockN > 256 ? 1 : 2;  // groups; the registers that are left
    const float multiplier = GatedRows<Config>::kOfBytes ? 1.0f / *p.out_descale : 1.0f;
    tile::TmaConsumer<Shape> consumer(smem, warp / 4, schedule.slices);
    const typename Shape::Boxes boxes(smem + Shape::kEpilogueAt + warp * Shape::Boxes::kBytes);
    for (u32 i = consumer.first_tile; i < schedule.count; i += consumer.kTileStep) {
      const tile::TilePosition tile = schedule.position(i);
      typename Shape::Accumulators acc;
      consumer.issue(acc);
      consumer.finish(acc);
      GatedRows<Config> rows{acc, multiplier};
      tile::write_boxes<kTileBoxes, kLineBoxes, kAtOnce, GatedRows<Config>::kOfBytes>(
          boxes, &p.out, schedule.column(tile), schedule.row(tile) + static_cast<i32>(consumer.row + warp % 4 * 16),
          rows);
    }
    boxes.wait_for_all();
  }
};

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    gated_mlp_sm90(const __grid_constant__ GatedMlpTmaParams p) {
  extern __shared__ __align__(1024) unsigned char smem_storage[];
  tile::run_roles<GatedRoles<Config>>(p, prim::smem_addr(smem_storage));
}

}  // namespace hstu
