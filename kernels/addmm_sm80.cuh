// Matrix product with bias, residual and activation, sm_80 generation: z = act(x w + y), f32 inside, rounded once.
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
// Registers      accumulators kWarpTileM kWarpTileN / 32, two sets of fragments (kWarpTileM + kWarpTileN) / 4 each
// Barriers       one __syncthreads per slice: it publishes the next slice and frees the one just read
//
// Config, problem facts
//   Element             bf16 or f16: x, w, z, a residual
//   Bias                element type of a bias row
//   kBias               0 none, 1 row [n], 2 residual [m, n] (kNoBias, kRowBias, kResidual)
//   kActivation         0 none, 1 SiLU, on columns below params.act_columns
//   kXAlongK, kWAlongK  whether memory is contiguous along k: x row-major; w column-major
//   kVectorX, kVectorW, kVectorZ  elements per aligned access, 8, 4, 2 or 1: they divide address, row stride and row
//                       length; Z also for a residual
//   kTailK              k is not a multiple of kBlockK
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
#include "prim/cp_async.cuh"
#include "prim/lanes.cuh"
#include "prim/memory.cuh"
#include "prim/mma.cuh"
#include "tile/activation.cuh"
#include "tile/epilogue.cuh"
#include "tile/operand.cuh"
#include "tile/raster.cuh"

namespace hstu {

constexpr int kNoBias = 0, kRowBias = 1, kResidual = 2;

// Everything that follows from a Config.
template <class Config>
struct AddmmShape {
  static constexpr int kThreads = Config::kThreads;
  static constexpr int kWarpTileM = Config::kBlockM / Config::kWarpsM, kWarpTileN = Config::kBlockN / Config::kWarpsN;
  static constexpr int kBlocksM = kWarpTileM / 16, kBlocksN = kWarpTileN / 16;  // of 16 rows, of 16 columns
  static constexpr int kSteps = Config::kBlockK / 16;
  static_assert(kThreads == 32 * Config::kWarpsM * Config::kWarpsN, "kThreads counts the threads of all warps");
  static_assert(kWarpTileM % 16 == 0 && kWarpTileN % 32 == 0, "a warp's part is 16 rows by 32 columns, or multiples");
  static_assert(kSteps % 2 == 0, "the two sets of fragments alternate over an even number of k16 steps");
  static_assert(Config::kStages >= 2, "copying and computing need a slice each");

  using TileX = tile::OperandTile<Config::kBlockM, Config::kBlockK, Config::kXAlongK>;
  using TileW = tile::OperandTile<Config::kBlockN, Config::kBlockK, Config::kWAlongK>;
  using LoaderX = tile::OperandLoader<TileX, Config::kBlockK, kThreads, Config::kVectorX, Config::kTailK>;
  using LoaderW = tile::OperandLoader<TileW, Config::kBlockK, kThreads, Config::kVectorW, Config::kTailK>;
  static constexpr int kStageBytes = TileX::kBytes + TileW::kBytes;
  using Staged = tile::StagedRows<kWarpTileN>;
  using FragmentsX = tile::Fragments<TileX, kBlocksM, true>;
  using FragmentsW = tile::Fragments<TileW, kBlocksN, false>;
  static constexpr int kSmemBytes = Config::kStages * kStageBytes + kThreads / 32 * Staged::kBytes;
};

template <class Config>
constexpr int addmm_sm80_smem_bytes = AddmmShape<Config>::kSmemBytes;

// The grid of output tiles, and which of them this block computes.
template <class Config>
struct AddmmSchedule {
  HSTU_PRIM explicit AddmmSchedule(const AddmmParams& p)
      : tiles_m(count(p.m, Config::kBlockM)),
        tiles_n(count(p.n, Config::kBlockN)),
        slices(count(p.k, Config::kBlockK)) {}

  HSTU_PRIM bool valid(u32 tile) const { return tile < tiles_m * tiles_n; }
  HSTU_PRIM u32 next(u32 tile) const { return Config::kPersistent ? tile + gridDim.x : ~0u; }
  HSTU_PRIM tile::TilePosition position(u32 tile) const {
    return tile::grouped_raster<Config::kGroup>(tile, tiles_m, tiles_n);
  }

  u32 tiles_m, tiles_n, slices;

 private:
  HSTU_PRIM static u32 count(i64 extent, u32 block) {
    return static_cast<u32>((static_cast<u64>(extent) + block - 1) / block);
  }
};

// Copies slice after slice into the ring: a slice is kShares calls of copy_share(), to be spread between products, and
// then next_slice(). With kPersistent, tile after tile.
template <class Config>
class AddmmProducer {
 public:
  using Shape = AddmmShape<Config>;
  // A share per 8 columns of products, in all k16 steps but the last: that one waits for a slice first.
  static constexpr int kShares = (Shape::kSteps - 1) * 2 * Shape::kBlocksN;

  // Starts with this block's first tile, which lies at `first`.
  HSTU_PRIM AddmmProducer(const AddmmParams& p, const AddmmSchedule<Config>& schedule, tile::TilePosition first,
                          u32 smem)
      : p_(p), schedule_(schedule), smem_(smem), tile_(blockIdx.x) {
    if (schedule_.slices > 0)
      begin_tile(first);
    else
      end();
  }

  // kCopy: otherwise only the commit, which keeps the count of groups.
  template <bool kCopy>
  HSTU_PRIM void copy_share(int share) {
#pragma unroll
    for (int pass = share * kPasses / kShares; kCopy && pass < (share + 1) * kPasses / kShares; ++pass) copy(pass);
    if (share + 1 == kShares) prim::cp_async_commit();
  }

  template <bool kCopy>
  HSTU_PRIM void copy_slice() {
#pragma unroll
    for (int share = 0; share < kShares; ++share) copy_share<kCopy>(share);
  }

  HSTU_PRIM void next_slice() {
    stage_ = stage_ + 1 == Config::kStages ? 0 : stage_ + 1;
    if (!Config::kPersistent || ++slice_ != schedule_.slices) return;
    tile_ = schedule_.next(tile_);
    if (schedule_.valid(tile_))
      begin_tile(schedule_.position(tile_));
    else
      end();
  }

 private:
  static constexpr int kPassesX = Shape::LoaderX::kPasses, kPasses = kPassesX + Shape::LoaderW::kPasses;

  HSTU_PRIM void copy(int pass) {
    const u32 stage = smem_ + stage_ * Shape::kStageBytes;
    if (pass < kPassesX)
      x_.copy(pass, stage, p_.x_row_stride);
    else
      w_.copy(pass - kPassesX, stage + Shape::TileX::kBytes, p_.w_row_stride);
  }

  HSTU_PRIM void begin_tile(tile::TilePosition at) {
    slice_ = 0;
    x_.begin(p_.x, p_.x_row_stride, static_cast<i64>(at.m) * Config::kBlockM, p_.m, p_.k);
    w_.begin(p_.w, p_.w_row_stride, static_cast<i64>(at.n) * Config::kBlockN, p_.n, p_.k);
  }
  // No tile is left: copies write zeros.
  HSTU_PRIM void end() {
    x_.end();
    w_.end();
  }

  const AddmmParams& p_;
  const AddmmSchedule<Config>& schedule_;
  typename Shape::LoaderX x_;
  typename Shape::LoaderW w_;
  u32 smem_, tile_, slice_ = 0;
  int stage_ = 0;
};

// The accumulators of a warp: 16x8 tiles in mma.sync's layout.
template <class Config>
using AddmmAccumulators = float[AddmmShape<Config>::kBlocksM][2 * AddmmShape<Config>::kBlocksN][4];

// A warp's place in its block, and in its output tile.
template <class Config>
struct AddmmWarp {
  using Shape = AddmmShape<Config>;
  HSTU_PRIM AddmmWarp() {
    const u32 warp = prim::warp_id();
    m = warp % Config::kWarpsM * Shape::kWarpTileM;
    n = warp / Config::kWarpsM * Shape::kWarpTileN;
  }
  HSTU_PRIM i64 row(tile::TilePosition at) const { return static_cast<i64>(at.m) * Config::kBlockM + m; }
  HSTU_PRIM i64 column(tile::TilePosition at) const { return static_cast<i64>(at.n) * Config::kBlockN + n; }
  u32 m, n;
};

// The bias of the lane's columns, 2t and 2t + 1 of each 8: what the accumulators start from.
template <class Config>
struct AddmmRowBias {
  using Shape = AddmmShape<Config>;

  HSTU_PRIM void load(const AddmmParams& p, i64 warp_column) {
    if constexpr (Config::kBias != kRowBias) return;
    using Bias = typename Config::Bias;
    const i64 column = warp_column + 2 * (prim::lane_id() & 3);
    const Bias* bias = static_cast<const Bias*>(p.y) + column;
    if (warp_column + Shape::kWarpTileN <= p.n) {
      load(bias, 8 * Shape::kBlocksN * 2);
    } else {
      load(bias, p.n - column);
    }
  }

  HSTU_PRIM void start(AddmmAccumulators<Config>& acc) const {
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
  HSTU_PRIM void load(const Bias* bias, i64 left) {
#pragma unroll
    for (int j = 0; j < 2 * Shape::kBlocksN; ++j)
#pragma unroll
      for (int e = 0; e < 2; ++e) value[j][e] = 8 * j + e < left ? prim::to_float(bias[8 * j + e]) : 0.0f;
  }
};

// Reads fragments from the ring and multiplies them.
template <class Config>
class AddmmConsumer {
 public:
  using Shape = AddmmShape<Config>;

  HSTU_PRIM AddmmConsumer(u32 smem, const AddmmWarp<Config>& warp)
      : smem_(smem),
        lane_x_(Shape::FragmentsX::lane_offset(warp.m)),
        lane_w_(Shape::TileX::kBytes + Shape::FragmentsW::lane_offset(warp.n)) {}

  // acc += x w over `slices` slices. kCopy: with copies between the products.
  template <bool kCopy>
  HSTU_PRIM void run(AddmmAccumulators<Config>& acc, u32 slices, AddmmProducer<Config>& producer) {
    for (u32 slice = 0; slice < slices; ++slice) {
#pragma unroll
      for (int step = 0; step < Shape::kSteps; ++step) {
        fetch(step + 1);
        multiply<kCopy>(acc, step, producer);
      }
      if (kCopy) producer.next_slice();
    }
  }

  // Reads the fragments of a k16 step. Step kSteps is the next slice's first, for which it waits, as does step 0 of the
  // very first; the barrier also tells that every warp has read the slice before, whose stage the next copies fill.
  HSTU_PRIM void fetch(int step) {
    if (step % Shape::kSteps == 0) {
      prim::cp_async_wait<Config::kStages - 2>();
      __syncthreads();
      stage_ = stage_ + 1 == Config::kStages ? 0 : stage_ + 1;
    }
    const u32 slice = smem_ + stage_ * Shape::kStageBytes;
    x_[step % 2].load(slice, lane_x_, step % Shape::kSteps);
    w_[step % 2].load(slice, lane_w_, step % Shape::kSteps);
  }

  // acc += x w for one k16 step, with the step's shares of copying in between. Rows alternate direction so that
  // neighbouring products share an operand.
  template <bool kCopy>
  HSTU_PRIM void multiply(AddmmAccumulators<Config>& acc, int step, AddmmProducer<Config>& producer) const {
    constexpr int kColumns = 2 * Shape::kBlocksN;
    const auto& x = x_[step % 2];
    const auto& w = w_[step % 2];
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      if (step + 1 < Shape::kSteps) producer.template copy_share<kCopy>(step * kColumns + j);
#pragma unroll
      for (int row = 0; row < Shape::kBlocksM; ++row) {
        const int i = j % 2 ? Shape::kBlocksM - 1 - row : row;
        prim::mma_m16n8k16<typename Config::Element>(acc[i][j], x.word[i], w.word[j / 2][j % 2 * 2],
                                                     w.word[j / 2][j % 2 * 2 + 1]);
      }
    }
  }

 private:
  typename Shape::FragmentsX x_[2];
  typename Shape::FragmentsW w_[2];
  u32 smem_, lane_x_, lane_w_;
  int stage_ = Config::kStages - 1;
};

// Brings a tile's residual to L2 while its product is computed.
template <class Config>
HSTU_PRIM void addmm_prefetch_residual(const AddmmParams& p, tile::TilePosition at) {
  constexpr int kLineElements = 64, kLines = (Config::kBlockN + kLineElements - 1) / kLineElements;  // of 128 bytes
  const i64 row0 = static_cast<i64>(at.m) * Config::kBlockM, column0 = static_cast<i64>(at.n) * Config::kBlockN;
  for (int i = threadIdx.x; i < Config::kBlockM * kLines; i += Config::kThreads) {
    const i64 row = row0 + i / kLines, column = column0 + i % kLines * kLineElements;
    if (row < p.m && column < p.n) prim::prefetch_l2(static_cast<const u16*>(p.y) + row * p.y_row_stride + column);
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
    z_ = static_cast<u16*>(p.z) + row * p.z_row_stride + column;
    y_ = static_cast<const u16*>(p.y) + row * p.y_row_stride + column;
    rows_ = clamp_left(p.m - row);
    columns_ = clamp_left(p.n - column);
    active_ = clamp_left(p.act_columns - warp_column - 2 * (prim::lane_id() % 4));
    activates_ = warp_column < p.act_columns;
  }

  // Whether the warp's part has columns under the activation; the same in all lanes.
  HSTU_PRIM bool activates() const { return activates_; }

  template <bool kActivate>
  HSTU_PRIM void run(AddmmAccumulators<Config>& acc) {
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
  static constexpr bool kHasResidual = Config::kBias == kResidual;

  HSTU_PRIM static int clamp_left(i64 left) { return static_cast<int>(max(min(left, i64{1} << 30), i64{-1} << 30)); }
  HSTU_PRIM int columns_of(int block, int pass) const {
    return 16 * block + pass * Staged::kRowsPerPass < rows_ ? columns_ : 0;
  }

  HSTU_PRIM void load_residual(int block) {
    if constexpr (kHasResidual) {
#pragma unroll
      for (int pass = 0; pass < Staged::kPasses; ++pass)
        residual_[pass] = tile::load_eight<Config::kVectorZ>(y_ + pass * Staged::kRowsPerPass * p_.y_row_stride,
                                                             columns_of(block, pass));
      y_ += 16 * p_.y_row_stride;
    }
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
        if constexpr (kHasResidual) {
          const u32 y = prim::ld_shared4(staged_.pair(half, j));
          lo += prim::unpack_lo<Element>(y);
          hi += prim::unpack_hi<Element>(y);
        }
        if constexpr (kActivate) {
          lo = 8 * j < active_ ? tile::silu<Element>(lo) : lo;
          hi = 8 * j + 1 < active_ ? tile::silu<Element>(hi) : hi;
        }
        prim::st_shared(staged_.pair(half, j), prim::pack2<Element>(lo, hi));
      }
  }

  HSTU_PRIM void store(int block) {
#pragma unroll
    for (int pass = 0; pass < Staged::kPasses; ++pass)
      tile::store_eight<Config::kVectorZ>(z_ + pass * Staged::kRowsPerPass * p_.z_row_stride,
                                          prim::ld_shared(staged_.row(pass)), columns_of(block, pass));
    z_ += 16 * p_.z_row_stride;
  }

  const AddmmParams& p_;
  const Staged staged_;
  u16* z_;  // the lane's 8 elements in its first row of the block
  const u16* y_;
  int rows_, columns_;  // left from the lane's first row, from its first column
  int active_;          // columns left of the activation, from the lane's first accumulator
  bool activates_;
  prim::Quad residual_[Staged::kPasses];
};

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    addmm_sm80(const __grid_constant__ AddmmParams p) {
  using Shape = AddmmShape<Config>;
  extern __shared__ __align__(1024) unsigned char smem_storage[];
  const u32 smem = prim::smem_addr(smem_storage);

  const AddmmSchedule<Config> schedule(p);
  tile::TilePosition at = schedule.position(blockIdx.x);
  AddmmProducer<Config> producer(p, schedule, at, smem);
#pragma unroll
  for (u32 stage = 0; stage < Config::kStages - 1; ++stage) {
    if (Config::kPersistent || stage < schedule.slices)
      producer.template copy_slice<true>();
    else
      producer.template copy_slice<false>();
    producer.next_slice();
  }

  const AddmmWarp<Config> warp;
  AddmmRowBias<Config> bias;
  bias.load(p, warp.column(at));
  AddmmConsumer<Config> consumer(smem, warp);
  consumer.fetch(0);

  for (u32 tile = blockIdx.x; schedule.valid(tile);) {
    if constexpr (Config::kBias == kResidual) addmm_prefetch_residual<Config>(p, at);
    AddmmAccumulators<Config> acc;
    bias.start(acc);
    if constexpr (Config::kPersistent) {
      consumer.template run<true>(acc, schedule.slices, producer);
    } else {
      const u32 copied = min(schedule.slices, Config::kStages - 1u);
      consumer.template run<true>(acc, schedule.slices - copied, producer);
      consumer.template run<false>(acc, copied, producer);
    }

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
