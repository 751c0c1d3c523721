// Matrix product with bias, residual and activation, sm_80 generation: z = act(x w + y), f32 inside, rounded once.
// Operands of 16 bits in any layout; of 32 bits too, as tf32, or nearly exact as three products of tf32.
//
//   x, w slices ──cp.async──► ring of kStages in smem ──ldmatrix──► fragments ──mma.sync──► accumulators (from y's row)
//                                                                residual, act, round ──► staging ──► z, whole rows
//
// A block computes kBlockM x kBlockN tiles, kWarpsM x kWarpsN warps each a part of it. The slices along k of all of a
// block's tiles form one stream: copies run kStages - 1 slices ahead, and fragments one k16 step ahead, across tile
// boundaries, so with kPersistent the next tile's operands arrive during the epilogue. Each warp writes its part of z
// by itself, through a small staging area of its own that turns accumulators into whole rows.
//
// Shared memory  kStages x (x tile | w tile), swizzled (tile/operand.cuh) | a staging area per warp (tile/epilogue.cuh)
// Registers      accumulators kWarpTileM kWarpTileN / 32 (float: twice that, a slice has sums of its own), two sets of
//                fragments (kWarpTileM + kWarpTileN) / 4 each
// Barriers       one __syncthreads per slice: it publishes the next slice and frees the one just read
//
// Config, problem facts
//   Element             bf16, f16 or float: x, w, z, a residual
//   kTf32               float operands are rounded to tf32
//   Bias                element type of a bias row
//   kBias               0 none, 1 row [n], 2 residual [m, n] (kNoBias, kRowBias, kResidual)
//   kActivation         0 none, 1 SiLU, on columns below params.act_columns
//   kXAlongK, kWAlongK  whether memory is contiguous along k: x row-major; w column-major
//   kVectorX, kVectorW, kVectorZ  elements per aligned access, 8, 4, 2 or 1: they divide address, row stride and row
//                       length; Z also for a residual. 0 for X or W: contiguous along neither dimension
//   kGatherY            elements of a residual's row, or of the bias row, lie apart
//   kTailK              k is not a multiple of kBlockK
//   kSplitColumns       z is several matrices, each with a part of the columns
// Config, knobs
//   kBlockM, kBlockN, kBlockK  tile of a block; k per slice
//   kWarpsM, kWarpsN    warps along m and n; 64x64 per warp gives the most mma per byte read from shared memory
//   kStages             slices in the ring
//   kGroup              tile rows walked together (tile/raster.cuh)
//   kPersistent         a block walks tiles at the stride of the grid, instead of one tile a block
//   kMinBlocks          blocks per SM to leave registers for
// Sources: PTX ISA "mma", "ldmatrix", "cp.async"; the pipeline's order follows the multi-stage loop of CUTLASS 2.
#pragma once
#include "params/addmm.h"
#include "params/addmm_terms.h"
#include "prim/cp_async.cuh"
#include "prim/lanes.cuh"
#include "prim/memory.cuh"
#include "prim/mma.cuh"
#include "tile/activation.cuh"
#include "tile/epilogue.cuh"
#include "tile/product.cuh"

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

  HSTU_PRIM void load(const AddmmParams& p, i64 warp_column) {
    if constexpr (Config::kBias != kRowBias) return;
    using Bias = typename Config::Bias;
    const i64 column = warp_column + 2 * (prim::lane_id() & 3);
    const i64 stride = Config::kGatherY ? p.y_column_stride : 1;
    const Bias* bias = static_cast<const Bias*>(p.y) + column * stride;
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
        for (int e = 0; e < 4; ++e) acc[i][j][e] = Config::kBias == kRowBias ? value[j][e & 1] : 0.0f;
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

// Brings a tile's residual to L2 while its product is computed.
template <class Config>
HSTU_PRIM void addmm_prefetch_residual(const AddmmParams& p, tile::TilePosition at) {
  using Unit = typename tile::UnitOf<AddmmShape<Config>::kElementBytes>::type;
  constexpr int kLineElements = 128 / sizeof(Unit), kLines = (Config::kBlockN + kLineElements - 1) / kLineElements;
  const i64 row0 = static_cast<i64>(at.m) * Config::kBlockM, column0 = static_cast<i64>(at.n) * Config::kBlockN;
  for (int i = threadIdx.x; i < Config::kBlockM * kLines; i += Config::kThreads) {
    const i64 row = row0 + i / kLines, column = column0 + i % kLines * kLineElements;
    if (row < p.m && column < p.n) prim::prefetch_l2(static_cast<const Unit*>(p.y) + row * p.y_row_stride + column);
  }
}

// act(acc + residual), rounded, to z, 16 rows at a time through the warp's staging area: mma's layout touches 16 bytes
// of a row at once, which costs the memory pipe several times the bytes moved.
template <class Config>
class AddmmEpilogue {
 public:
  using Shape = AddmmShape<Config>;
  using Staged = typename Shape::Staged;

  HSTU_PRIM AddmmEpilogue(const AddmmParams& p, i64 warp_row, i64 warp_column, u32 staging) : p_(p), staged_(staging) {
    const i64 row = warp_row + Staged::lane_row(), column = warp_column + Staged::lane_column();
    row_ = row, column_ = column;
    y_ =
        static_cast<const Unit*>(p.y) + row * p.y_row_stride + (Config::kGatherY ? column * p.y_column_stride : column);
    rows_ = clamp_left(p.m - row);
    columns_ = clamp_left(p.n - column);
    active_ = clamp_left(p.act_columns - warp_column - 2 * (prim::lane_id() % 4));
    activates_ = warp_column < p.act_columns;
  }

  // Whether the warp's part has columns under the activation; the same in all lanes.
  HSTU_PRIM bool activates() const { return activates_; }

  template <bool kActivate>
  HSTU_PRIM void run(tile::ProductAccumulators<Shape>& acc) {
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
  using Unit = typename tile::UnitOf<Shape::kElementBytes>::type;
  enum : bool { kHasResidual = Config::kBias == kResidual };

  HSTU_PRIM static int clamp_left(i64 left) { return static_cast<int>(max(min(left, i64{1} << 30), i64{-1} << 30)); }
  HSTU_PRIM int columns_of(int block, int pass) const {
    return 16 * block + pass * Staged::kRowsPerPass < rows_ ? columns_ : 0;
  }

  HSTU_PRIM void load_residual(int block) {
    if constexpr (kHasResidual) {
#pragma unroll
      for (int pass = 0; pass < Staged::kPasses; ++pass)
        residual_[pass] = load_residual(y_ + pass * Staged::kRowsPerPass * p_.y_row_stride, columns_of(block, pass));
      y_ += 16 * p_.y_row_stride;
    }
  }

  HSTU_PRIM prim::Quad load_residual(const Unit* from, int valid) const {
    if constexpr (Config::kGatherY)
      return tile::gather_row(from, p_.y_column_stride, valid);
    else
      return tile::load_chunk<Config::kVectorZ>(from, valid);
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
        if constexpr (kHasResidual) tile::add_staged_pair<Element>(lo, hi, staged_.pair(half, j));
        if constexpr (kActivate) {
          lo = 8 * j < active_ ? tile::silu<Element>(lo) : lo;
          hi = 8 * j + 1 < active_ ? tile::silu<Element>(hi) : hi;
        }
        tile::stage_pair<Element>(staged_.pair(half, j), lo, hi);
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
  HSTU_PRIM void store(i64 row, const prim::Quad& q, int valid) const {
    if constexpr (!Config::kSplitColumns) {
      tile::store_chunk<Config::kVectorZ>(static_cast<Unit*>(p_.z[0]) + row * p_.z_row_stride[0] + column_, q, valid);
    } else {
      constexpr int kAccesses = Staged::kChunkElements / Config::kVectorZ;
#pragma unroll
      for (int i = 0; i < kAccesses; ++i)
        tile::store_access<Config::kVectorZ>(at(row, column_ + i * Config::kVectorZ), q, i, valid);
    }
  }
  // Where an element of the result lies.
  HSTU_PRIM Unit* at(i64 row, i64 column) const {
    const int part = (column >= p_.z_first[1]) + (column >= p_.z_first[2]) + (column >= p_.z_first[3]);
    return static_cast<Unit*>(p_.z[part]) + row * p_.z_row_stride[part] + (column - p_.z_first[part]);
  }

  const AddmmParams& p_;
  const Staged staged_;
  i64 row_, column_;  // of the lane's 16 bytes, in the first pass of the first block
  const Unit* y_;
  int rows_, columns_;  // left from the lane's first row, from its first column
  int active_;          // columns left of the activation, from the lane's first
                        // accumulator
  bool activates_;
  prim::Quad residual_[Staged::kPasses];
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
    if constexpr (Config::kBias == kResidual && !Config::kGatherY) addmm_prefetch_residual<Config>(p, at);
    tile::ProductAccumulators<Shape> acc;
    bias.start(acc);
    tile::multiply_tile(acc, consumer, producer, schedule);

    const u32 staging = smem + Config::kStages * Shape::kStageBytes + prim::warp_id() * Shape::Staged::kBytes;
    AddmmEpilogue<Config> epilogue(p, warp.row(at), warp.column(at), staging);
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
