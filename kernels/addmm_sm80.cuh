// Matrix product with bias, residual and activation, sm_80 generation: z = act(x w + y), f32 inside, rounded once.
//
//   x, w slices ──cp.async──► ring of kStages in smem ──ldmatrix──► fragments ──mma.sync──► accumulators (from y's row)
//                                                                         residual, act, round ──► z, 16 bytes a lane
//
// A block computes kBlockM x kBlockN tiles, kWarpsM x kWarpsN warps each a part of it. The slices along k of all of a
// block's tiles form one stream: copies run kStages - 1 slices ahead, and fragments one k16 step ahead, across tile
// boundaries, so with kPersistent the next tile's operands arrive during the epilogue. No shared memory in the
// epilogue: quads of lanes exchange pairs until each holds 16 contiguous bytes.
//
// Shared memory  kStages x (x tile | w tile), swizzled (tile/operand.cuh)
// Registers      accumulators kWarpTileM kWarpTileN / 32, kFragmentSets sets of (kWarpTileM + kWarpTileN) / 4
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
//   kFragmentSets       2: fragments are read a k16 step ahead; 1: fewer registers, for more warps per SM
//   kPersistent         a block walks tiles at the stride of the grid, instead of one tile a block
//   kMinBlocks          blocks per SM to leave registers for
// Sources: PTX ISA "mma", "ldmatrix", "cp.async"; the pipeline's order follows the multi-stage loop of CUTLASS 2.
#pragma once
#include "params.h"
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
  static_assert(kSteps % Config::kFragmentSets == 0, "the sets of fragments alternate over the k16 steps of a slice");
  static_assert(Config::kStages >= 2, "copying and computing need a slice each");

  using TileX = OperandTile<Config::kBlockM, Config::kBlockK, Config::kXAlongK>;
  using TileW = OperandTile<Config::kBlockN, Config::kBlockK, Config::kWAlongK>;
  using LoaderX = OperandLoader<TileX, Config::kBlockK, kThreads, Config::kVectorX, Config::kTailK>;
  using LoaderW = OperandLoader<TileW, Config::kBlockK, kThreads, Config::kVectorW, Config::kTailK>;
  static constexpr int kStageBytes = TileX::kBytes + TileW::kBytes;
};

template <class Config>
constexpr int addmm_sm80_smem_bytes = Config::kStages* AddmmShape<Config>::kStageBytes;

// The grid of output tiles, and which of them this block computes.
template <class Config>
struct AddmmSchedule {
  HSTU_PRIM explicit AddmmSchedule(const AddmmParams& p)
      : tiles_m(static_cast<u32>((p.m + Config::kBlockM - 1) / Config::kBlockM)),
        tiles_n(static_cast<u32>((p.n + Config::kBlockN - 1) / Config::kBlockN)),
        slices(static_cast<u32>((p.k + Config::kBlockK - 1) / Config::kBlockK)) {}

  HSTU_PRIM bool valid(u32 tile) const { return tile < tiles_m * tiles_n; }
  HSTU_PRIM u32 next(u32 tile) const { return Config::kPersistent ? tile + gridDim.x : ~0u; }
  HSTU_PRIM TilePosition position(u32 tile) const { return grouped_raster(tile, tiles_m, tiles_n, Config::kGroup); }

  u32 tiles_m, tiles_n, slices;
};

// Issues the copies of slice after slice, tile after tile, a commit group each.
template <class Config>
class AddmmProducer {
 public:
  HSTU_PRIM AddmmProducer(const AddmmParams& p, const AddmmSchedule<Config>& schedule, u32 smem)
      : p_(p), schedule_(schedule), smem_(smem), tile_(blockIdx.x) {
    if (schedule_.slices == 0) tile_ = ~0u;
    begin_tile();
  }

  HSTU_PRIM void issue() {
    if (schedule_.valid(tile_)) {
      const u32 stage = smem_ + stage_ * Shape::kStageBytes;
      x_.load(stage, p_.x_row_stride);
      w_.load(stage + Shape::TileX::kBytes, p_.w_row_stride);
      stage_ = stage_ + 1 == Config::kStages ? 0 : stage_ + 1;
      if (++slice_ == schedule_.slices) {
        tile_ = schedule_.next(tile_);
        begin_tile();
      } else {
        x_.advance(p_.x_row_stride);
        w_.advance(p_.w_row_stride);
      }
    }
    prim::cp_async_commit();
  }

 private:
  using Shape = AddmmShape<Config>;

  HSTU_PRIM void begin_tile() {
    slice_ = 0;
    if (!schedule_.valid(tile_)) return;
    const TilePosition at = schedule_.position(tile_);
    x_.begin(p_.x, p_.x_row_stride, static_cast<i64>(at.m) * Config::kBlockM, p_.m, p_.k);
    w_.begin(p_.w, p_.w_row_stride, static_cast<i64>(at.n) * Config::kBlockN, p_.n, p_.k);
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
  HSTU_PRIM i64 row(TilePosition at) const { return static_cast<i64>(at.m) * Config::kBlockM + m; }
  HSTU_PRIM i64 column(TilePosition at) const { return static_cast<i64>(at.n) * Config::kBlockN + n; }
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
    const i64 left = p.n - column;
#pragma unroll
    for (int j = 0; j < 2 * Shape::kBlocksN; ++j)
#pragma unroll
      for (int e = 0; e < 2; ++e) value[j][e] = 8 * j + e < left ? prim::to_float(bias[8 * j + e]) : 0.0f;
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
};

// acc += x w for one k16 step; rows alternate direction so that neighbouring products share an operand.
template <class Config, class FragmentsX, class FragmentsW>
HSTU_PRIM void addmm_multiply(AddmmAccumulators<Config>& acc, const FragmentsX& x, const FragmentsW& w) {
  using Shape = AddmmShape<Config>;
#pragma unroll
  for (int j = 0; j < 2 * Shape::kBlocksN; ++j)
#pragma unroll
    for (int row = 0; row < Shape::kBlocksM; ++row) {
      const int i = j % 2 ? Shape::kBlocksM - 1 - row : row;
      prim::mma_m16n8k16<typename Config::Element>(acc[i][j], x.word[i], w.word[j / 2][j % 2 * 2],
                                                   w.word[j / 2][j % 2 * 2 + 1]);
    }
}

// Brings a tile's residual to L2 while its product is computed.
template <class Config>
HSTU_PRIM void addmm_prefetch_residual(const AddmmParams& p, TilePosition at) {
  constexpr int kLineElements = 64, kLines = Config::kBlockN / kLineElements;  // 128 bytes
  const i64 row0 = static_cast<i64>(at.m) * Config::kBlockM, column0 = static_cast<i64>(at.n) * Config::kBlockN;
  for (int i = threadIdx.x; i < Config::kBlockM * kLines; i += Config::kThreads) {
    const i64 row = row0 + i / kLines, column = column0 + i % kLines * kLineElements;
    if (row < p.m && column < p.n) prim::prefetch_l2(static_cast<const u16*>(p.y) + row * p.y_row_stride + column);
  }
}

// act(acc + residual), rounded, to z, band after band of 8 rows. The lane has row g of each; after the exchange, 8
// columns of each 32.
template <class Config>
class AddmmEpilogue {
 public:
  HSTU_PRIM AddmmEpilogue(const AddmmParams& p, i64 warp_row, i64 warp_column) : p_(p) {
    const u32 g = prim::lane_id() / 4, t = prim::lane_id() % 4;
    const i64 row = warp_row + g, column = warp_column + 8 * t;
    z_ = static_cast<u16*>(p.z) + row * p.z_row_stride + column;
    y_ = static_cast<const u16*>(p.y) + row * p.y_row_stride + column;
    rows_ = clamp_left(p.m - row);
    columns_ = clamp_left(p.n - column);
    active_ = clamp_left(p.act_columns - warp_column - 2 * t);
  }

  // kActivate: the warp's part has columns under the activation. The residual is requested kLookahead bands ahead.
  template <bool kActivate>
  HSTU_PRIM void run(AddmmAccumulators<Config>& acc) {
    constexpr int kLookahead = 4, kBands = 2 * Shape::kBlocksM;
    prim::Quad residual[kLookahead][kGroups];
#pragma unroll
    for (int band = 0; band < kLookahead && band < kBands; ++band) load_residual(residual[band], band);
#pragma unroll
    for (int band = 0; band < kBands; ++band) {
      store_band<kActivate>(acc[band / 2], residual[band % kLookahead], band);
      if (band + kLookahead < kBands) load_residual(residual[band % kLookahead], band + kLookahead);
    }
  }

 private:
  using Shape = AddmmShape<Config>;
  using Element = typename Config::Element;
  static constexpr int kGroups = Shape::kWarpTileN / 32;  // of 32 columns

  HSTU_PRIM static int clamp_left(i64 left) { return static_cast<int>(max(min(left, i64{1} << 30), i64{-1} << 30)); }

  HSTU_PRIM void load_residual(prim::Quad (&residual)[kGroups], int band) {
    if constexpr (Config::kBias == kResidual) {
#pragma unroll
      for (int group = 0; group < kGroups; ++group)
        residual[group] = load_chunk<Config::kVectorZ>(y_ + 32 * group, 8 * band < rows_ ? columns_ - 32 * group : 0);
      y_ += 8 * p_.y_row_stride;
    }
  }

  template <bool kActivate>
  HSTU_PRIM void store_band(const float (&acc)[2 * Shape::kBlocksN][4], prim::Quad (&residual)[kGroups], int band) {
#pragma unroll
    for (int group = 0; group < kGroups; ++group) {
      prim::Quad& y = residual[group];
      if constexpr (Config::kBias == kResidual) quad_transpose(y);
      prim::Quad q;
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        float lo = acc[4 * group + j][band % 2 * 2], hi = acc[4 * group + j][band % 2 * 2 + 1];
        if constexpr (Config::kBias == kResidual) {
          lo += prim::unpack_lo<Element>(y.word[j]);
          hi += prim::unpack_hi<Element>(y.word[j]);
        }
        if constexpr (kActivate) activate(lo, hi, 32 * group + 8 * j);
        q.word[j] = prim::pack2<Element>(lo, hi);
      }
      quad_transpose(q);
      store_chunk<Config::kVectorZ>(z_ + 32 * group, q, 8 * band < rows_ ? columns_ - 32 * group : 0);
    }
    z_ += 8 * p_.z_row_stride;
  }

  // Columns `column` and `column` + 1 past the lane's first accumulator, as far as the activation reaches.
  HSTU_PRIM void activate(float& lo, float& hi, int column) const {
    lo = column < active_ ? silu<Element>(lo) : lo;
    hi = column + 1 < active_ ? silu<Element>(hi) : hi;
  }

  const AddmmParams& p_;
  u16* z_;  // the lane's chunk of the band's first 32 columns
  const u16* y_;
  int rows_, columns_;  // left from the lane's first row, from its first chunk
  int active_;          // columns left of the activation, from the lane's first accumulator
};

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    addmm_sm80(const __grid_constant__ AddmmParams p) {
  using Shape = AddmmShape<Config>;
  extern __shared__ __align__(1024) unsigned char smem_storage[];
  const u32 smem = prim::smem_addr(smem_storage);

  const AddmmSchedule<Config> schedule(p);
  AddmmProducer<Config> producer(p, schedule, smem);
#pragma unroll
  for (int stage = 0; stage < Config::kStages - 1; ++stage) producer.issue();

  const AddmmWarp<Config> warp;
  AddmmRowBias<Config> bias;
  bias.load(p, warp.column(schedule.position(blockIdx.x)));

  using FragmentsX = Fragments<typename Shape::TileX, Shape::kBlocksM, true>;
  using FragmentsW = Fragments<typename Shape::TileW, Shape::kBlocksN, false>;
  FragmentsX x[Config::kFragmentSets];
  FragmentsW w[Config::kFragmentSets];
  const u32 lane_x = FragmentsX::lane_offset(warp.m);
  const u32 lane_w = FragmentsW::lane_offset(warp.n) + Shape::TileX::kBytes;
  u32 stage = Config::kStages - 1;
  // Reads the fragments of a step; past the slice's last: of the next slice's first, for which it waits. The barrier
  // also tells that every warp is done with the slice before, whose stage the next issue() fills.
  const auto fetch = [&](int step) {
    if (step % Shape::kSteps == 0) {
      prim::cp_async_wait<Config::kStages - 2>();
      __syncthreads();
      stage = stage + 1 == Config::kStages ? 0 : stage + 1;
    }
    x[step % Config::kFragmentSets].load(smem + stage * Shape::kStageBytes, lane_x, step % Shape::kSteps);
    w[step % Config::kFragmentSets].load(smem + stage * Shape::kStageBytes, lane_w, step % Shape::kSteps);
  };
  constexpr int kAhead = Config::kFragmentSets - 1;
  if (kAhead) fetch(0);

  for (u32 tile = blockIdx.x; schedule.valid(tile); tile = schedule.next(tile)) {
    const TilePosition at = schedule.position(tile);
    if constexpr (Config::kBias == kResidual) addmm_prefetch_residual<Config>(p, at);
    AddmmAccumulators<Config> acc;
    bias.start(acc);
    for (u32 slice = 0; slice < schedule.slices; ++slice) {
#pragma unroll
      for (int step = 0; step < Shape::kSteps; ++step) {
        fetch(step + kAhead);
        if (step == 0) producer.issue();
        addmm_multiply<Config>(acc, x[step % Config::kFragmentSets], w[step % Config::kFragmentSets]);
      }
    }
    const u32 next = schedule.next(tile);
    if (Config::kPersistent && schedule.valid(next)) bias.load(p, warp.column(schedule.position(next)));
    AddmmEpilogue<Config> epilogue(p, warp.row(at), warp.column(at));
    if (Config::kActivation && warp.column(at) < p.act_columns)
      epilogue.template run<Config::kActivation != 0>(acc);
    else
      epilogue.template run<false>(acc);
  }
  prim::cp_async_wait<0>();
}

}  // namespace hstu
