// Matrix product with bias, residual and activation, sm_80 generation: out = act(x w + bias + residual), f32 inside,
// rounded once. Operands of 16 bits in any layout; of 32 bits too, as tf32, or nearly exact as three products of tf32.
//
//   x, w slices ──cp.async──► ring of kStages in smem ──ldmatrix──► fragments ──mma.sync──► sums (from the bias)
//                                                                residual, act, round ──► staging ──► out, whole rows
//
// A block computes kBlockM x kBlockN tiles, kWarpsM x kWarpsN warps each a part of it. The slices along k of all of a
// block's tiles form one stream: copies run kStages - 1 slices ahead, and fragments one k16 step ahead, across tile
// boundaries, so with kPersistent the next tile's operands arrive during the epilogue. Each warp writes its part of out
// by itself, through a small staging area of its own, from which whole rows are stored.
//
// What runs, and the file behind each line, in tile/ unless a folder is named; other names are of this file:
//   block      the first kStages - 1 slices to the ring              product.cuh, fill_ring
//   warp       for each tile                                         raster.cuh
//                accumulators from the bias row                      AddmmRowBias
//                prefetch the residual to L2                         result_rows.cuh
//                for each slice of k: wait, one __syncthreads        product.cuh, multiply_tile
//                  for each k16 step: fragments of the next one      operand.cuh
//                    mma.sync; copies of a later slice in between    product.cuh, operand.cuh
//                  float: add the slice's sums to the accumulators   product.cuh, promote
//                for each 16 rows: + residual, activation, rounding  result_rows.cuh, activation.cuh
//                  whole rows to out through the staging area        epilogue.cuh
//
// Shared memory  kStages x (x tile | w tile), swizzled (tile/operand.cuh) | a staging area per warp (tile/epilogue.cuh)
// Registers      accumulators kWarpTileM kWarpTileN / 32 (float: twice that, a slice has sums of its own), two sets of
//                fragments (kWarpTileM + kWarpTileN) / 4 each
// Barriers       one __syncthreads per slice: it publishes the next slice and frees the one just read
//
// Config, problem facts
//   Element             bf16, f16 or float: x, w, out, a residual
//   kTf32               float operands are rounded to tf32
//   Bias                element type of a bias row
//   kBias               a row [n], a residual [m, n], both or none (tile/addmm_terms.h)
//   kActivation         0 none, or tile/activation.cuh's, on columns below params.act_columns
//   kXAlongK, kWAlongK  whether memory is contiguous along k: x row-major; w column-major
//   kVectorX, kVectorW, kVectorZ  elements per aligned access, 8, 4, 2 or 1: they divide address, row stride and row
//                       length; Z of out and a residual. 0 for X or W: contiguous along neither dimension
//   kGatherY            elements of the residual's rows, or of the bias row, lie apart
//   kTailK              k is not a multiple of kBlockK
//   kSplitColumns       out is several matrices, each with a part of the columns
//   Fp8                 e4m3 or e5m2: out, which has kVectorZ bytes an access then; left out where out is of Element
// Config, knobs
//   kBlockM, kBlockN, kBlockK  tile of a block; k per slice
//   kWarpsM, kWarpsN    warps along m and n; 64x64 per warp gives the most mma per byte read from shared memory
//   kStages             slices in the ring
//   kGroup              tile rows walked together (tile/raster.cuh)
//   kPersistent         a block walks tiles at the stride of the grid, instead of one tile a block
//   kMinBlocks          blocks per SM to leave registers for
// Sources: PTX ISA "mma", "ldmatrix", "cp.async"; the pipeline's order follows the multi-stage loop of CUTLASS 2.
#pragma once
#include "prim/cp_async.cuh"
#include "prim/lanes.cuh"
#include "prim/memory.cuh"
#include "prim/mma.cuh"
#include "tile/addmm.h"
#include "tile/addmm_terms.h"
#include "tile/product.cuh"
#include "tile/result_rows.cuh"

namespace hstu {

// Everything that follows from a Config.
template <class Config_>
struct AddmmShape {
  using Config = Config_;
  using Params = AddmmParams;
  enum : int { kThreads = Config::kThreads };
  enum : int { kWarpTileM = Config::kBlockM / Config::kWarpsM, kWarpTileN = Config::kBlockN / Config::kWarpsN };
  enum : int { kBlocksM = kWarpTileM / 16, kBlocksN = kWarpTileN / 16 };  // of 16 rows, of 16 columns
  enum : int { kElementBytes = static_cast<int>(sizeof(typename Config::Element)) };
  enum : bool { kPromotes = kElementBytes == 4 };
  enum : int { kSteps = Config::kBlockK * kElementBytes / 32, kTileColumns = Config::kBlockN };
  static_assert(kThreads == 32 * Config::kWarpsM * Config::kWarpsN, "kThreads counts the threads of all warps");
  static_assert(kWarpTileM % 16 == 0 && kWarpTileN % 32 == 0, "a warp's part is 16 rows by 32 columns, or multiples");
  static_assert(kSteps % 2 == 0, "the two sets of fragments alternate over an even number of steps");
  static_assert(Config::kStages >= 2, "copying and computing need a slice each");

  using TileX = tile::OperandTile<Config::kBlockM, Config::kBlockK, Config::kXAlongK, kElementBytes>;
  using TileW = tile::OperandTile<Config::kBlockN, Config::kBlockK, Config::kWAlongK, kElementBytes>;
  using LoaderX = tile::OperandLoader<TileX, Config::kBlockK, kThreads, Config::kVectorX, Config::kTailK>;
  using LoaderW = tile::OperandLoader<TileW, Config::kBlockK, kThreads, Config::kVectorW, Config::kTailK>;
  enum : int { kStageBytes = TileX::kBytes + TileW::kBytes };
  using Staged = tile::StagedRows<kWarpTileN, kElementBytes>;
  using FragmentsX = tile::Fragments<TileX, kBlocksM, true>;
  using FragmentsW = tile::Fragments<TileW, kBlocksN, false>;
  using Multiplier = typename tile::MultiplierOf<typename Config::Element, Config::kTf32, FragmentsX, FragmentsW>::type;
  enum : int { kSmemBytes = Config::kStages * kStageBytes + kThreads / 32 * Staged::kBytes };

  HSTU_PRIM static void begin(LoaderX& x, LoaderW& w, const Params& p, tile::TilePosition at) {
    x.begin(p.x, p.x_row_stride, static_cast<i64>(at.m) * Config::kBlockM, p.m, p.k, p.x_column_stride);
    w.begin(p.w, p.w_row_stride, static_cast<i64>(at.n) * Config::kBlockN, p.n, p.k, p.w_column_stride);
  }
  HSTU_PRIM static void copy_x(LoaderX& x, const Params& p, int pass, u32 tile) {
    x.copy(pass, tile, p.x_row_stride, p.x_column_stride);
  }
  HSTU_PRIM static void copy_w(LoaderW& w, const Params& p, int pass, u32 tile) {
    w.copy(pass, tile, p.w_row_stride, p.w_column_stride);
  }
};

template <class Config>
constexpr int addmm_sm80_smem_bytes = AddmmShape<Config>::kSmemBytes;

// The bias of the lane's columns, 2t and 2t + 1 of each 8: what the accumulators start from.
template <class Config>
struct AddmmRowBias {
  using Shape = AddmmShape<Config>;
  enum : bool { kHasRow = (Config::kBias & kRowBias) != 0 };

  HSTU_PRIM void load(const AddmmParams& p, i64 warp_column) {
    if constexpr (!kHasRow) return;
    using Bias = typename Config::Bias;
    const i64 column = warp_column + 2 * (prim::lane_id() & 3);
    const i64 stride = Config::kGatherY ? p.bias_stride : 1;
    const Bias* bias = static_cast<const Bias*>(p.bias) + column * stride;
    if (warp_column + Shape::kWarpTileN <= p.n) {
      load(bias, stride, 8 * Shape::kBlocksN * 2);
    } else {
      load(bias, stride, p.n - column);
    }
  }

  HSTU_PRIM void start(tile::ProductAccumulators<Shape>& acc) const {
#pragma unroll
    for (int i = 0; i < Shape::kBlocksM; ++i)
#pragma unroll
      for (int j = 0; j < 2 * Shape::kBlocksN; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e) acc[i][j][e] = kHasRow ? value[j][e & 1] : 0.0f;
  }

  float value[2 * Shape::kBlocksN][2];

 private:
  template <class Bias>
  HSTU_PRIM void load(const Bias* bias, i64 stride, i64 left) {
#pragma unroll
    for (int j = 0; j < 2 * Shape::kBlocksN; ++j)
#pragma unroll
      for (int e = 0; e < 2; ++e) value[j][e] = 8 * j + e < left ? prim::to_float(bias[(8 * j + e) * stride]) : 0.0f;
  }
};

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    addmm_sm80(const __grid_constant__ AddmmParams p) {
  using Shape = AddmmShape<Config>;
  extern __shared__ __align__(1024) unsigned char smem_storage[];
  const u32 smem = prim::smem_addr(smem_storage);

  const tile::ProductSchedule<Shape> schedule(p);
  tile::TilePosition at = schedule.position(blockIdx.x);
  tile::ProductProducer<Shape> producer(p, schedule, at, smem);
  tile::fill_ring(producer, schedule);

  const tile::ProductWarp<Shape> warp;
  AddmmRowBias<Config> bias;
  bias.load(p, warp.column(at));
  tile::ProductConsumer<Shape> consumer(smem, warp);
  consumer.fetch(0);

  for (u32 tile = blockIdx.x; schedule.valid(tile);) {
    if constexpr ((Config::kBias & kResidual) != 0 && !Config::kGatherY) tile::prefetch_residual<Shape>(p, at);
    tile::ProductAccumulators<Shape> acc;
    bias.start(acc);
    tile::multiply_tile(acc, consumer, producer, schedule);

    const u32 staging = smem + Config::kStages * Shape::kStageBytes + prim::warp_id() * Shape::Staged::kBytes;
    tile::ResultRows<Shape> epilogue(p, warp.row(at), warp.column(at), staging);
    tile = schedule.next(tile);
    if (schedule.valid(tile)) {
      at = schedule.position(tile);
      bias.load(p, warp.column(at));
    }
    if (Config::kActivation && epilogue.activates())
      epilogue.template run<Config::kActivation != 0>(acc);
    else
      epilogue.template run<false>(acc);
  }
  prim::cp_async_wait<0>();
}

}  // namespace hstu
