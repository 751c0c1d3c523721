// Gated products, sm_80 generation: out = (x gate) * act(x up), or act(x gate) * (x up), f32 inside, rounded once. Both
// products share the slices of x, so x is read once and neither product touches memory.
//
// The pipeline is addmm_sm80's (tile/product.cuh) on a tile of w that is two: kBlockN / 2 columns of gate, then the
// same columns of up. A warp computes the same kWarpTileN / 2 columns of both, so that one lane has both factors of a
// result; the epilogue multiplies them and writes whole rows through a staging area per warp.
//
// What runs, and the file behind each line, in tile/ unless a folder is named; other names are of this file:
//   block      its tile; the first kStages - 1 slices to the ring  raster.cuh, product.cuh
//   warp       for each slice of k: wait, one __syncthreads        product.cuh, multiply_tile
//                for each step: fragments of x, gate and up        operand.cuh, GatedFragments
//                  mma.sync; copies of a later slice in between    product.cuh, GatedLoader
//              for each 16 rows: act(x gate) * (x up), or reverse  dense/gated.cuh, gated_store
//                rounding, or quantising; to the staging area      epilogue.cuh
//                whole rows to out                                 epilogue.cuh
//
// Shared memory  kStages x (x tile | gate tile | up tile), swizzled | a staging area per warp (tile/epilogue.cuh)
// Registers      accumulators kWarpTileM kWarpTileN / 32, twice that where they are promoted (float)
//
// Config, problem facts
//   Element             bf16, f16 or float
//   kTf32               float operands are rounded to tf32
//   kActivation         tile/activation.cuh
//   kActOnGate          else on up
//   kXAlongK, kWAlongK, kVectorX, kVectorW, kTailK  as in addmm_sm80.cuh; W for gate and up
//   kVectorZ            for out
//   Fp8                 e4m3 or e5m2: out; left out where that is of Element
// Config, knobs         as in addmm_sm80.cuh; kBlockN counts columns of both
#pragma once
#include "dense/gated.cuh"
#include "dense/gated_mlp.h"
#include "prim/cp_async.cuh"
#include "prim/lanes.cuh"
#include "prim/memory.cuh"
#include "prim/mma.cuh"
#include "tile/epilogue.cuh"
#include "tile/product.cuh"
#include "tile/stored.cuh"

namespace hstu {

// Two operand tiles of one form, one behind the other: the loader of gate, then that of up.
template <class Loader, class Tile>
struct GatedLoader {
  enum : int { kPasses = 2 * Loader::kPasses };
  HSTU_PRIM void end() {
    gate.end();
    up.end();
  }
  Loader gate, up;
};

// Fragments of the same columns of both: first those of gate.
template <class Tile, int kBlocks>
struct GatedFragments {
  using Half = tile::Fragments<Tile, kBlocks / 2, false>;
  HSTU_PRIM static u32 lane_offset(u32 begin) { return Half::lane_offset(begin / 2); }
  HSTU_PRIM void load(u32 tile, u32 lane_offset, int step) {
    Half gate, up;
    gate.load(tile, lane_offset, step);
    up.load(tile + Tile::kBytes, lane_offset, step);
#pragma unroll
    for (int block = 0; block < kBlocks / 2; ++block)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        word[block][i] = gate.word[block][i];
        word[kBlocks / 2 + block][i] = up.word[block][i];
      }
  }
  u32 word[kBlocks][4];
};

// Everything that follows from a Config.
template <class Config_>
struct GatedShape {
  using Config = Config_;
  using Params = GatedMlpParams;
  using Element = typename Config::Element;
  enum : int { kThreads = Config::kThreads };
  enum : int { kWarpTileM = Config::kBlockM / Config::kWarpsM, kWarpTileN = Config::kBlockN / Config::kWarpsN };
  enum : int { kBlocksM = kWarpTileM / 16, kBlocksN = kWarpTileN / 16 };
  enum : int { kElementBytes = static_cast<int>(sizeof(Element)) };
  enum : bool { kPromotes = kElementBytes == 4 };
  enum : int { kSteps = Config::kBlockK * kElementBytes / 32, kTileColumns = Config::kBlockN / 2 };
  static_assert(kThreads == 32 * Config::kWarpsM * Config::kWarpsN, "kThreads counts the threads of all warps");
  static_assert(kWarpTileM % 16 == 0 && kWarpTileN % 64 == 0,
                "a warp's part is 16 rows by 2 x 32 columns, or multiples");
  static_assert(kSteps % 2 == 0, "the two sets of fragments alternate over an even number of steps");

  using TileX = tile::OperandTile<Config::kBlockM, Config::kBlockK, Config::kXAlongK, kElementBytes>;
  using HalfW = tile::OperandTile<kTileColumns, Config::kBlockK, Config::kWAlongK, kElementBytes>;
  using LoaderX = tile::OperandLoader<TileX, Config::kBlockK, kThreads, Config::kVectorX, Config::kTailK>;
  using HalfLoader = tile::OperandLoader<HalfW, Config::kBlockK, kThreads, Config::kVectorW, Config::kTailK>;
  using LoaderW = GatedLoader<HalfLoader, HalfW>;
  enum : int { kStageBytes = TileX::kBytes + 2 * HalfW::kBytes };
  using Staged = tile::StagedRows<kWarpTileN / 2, kElementBytes>;
  using FragmentsX = tile::Fragments<TileX, kBlocksM, true>;
  using FragmentsW = GatedFragments<HalfW, kBlocksN>;
  using Multiplier = typename tile::MultiplierOf<Element, Config::kTf32, FragmentsX, FragmentsW>::type;
  enum : int { kSmemBytes = Config::kStages * kStageBytes + kThreads / 32 * Staged::kBytes };

  HSTU_PRIM static void begin(LoaderX& x, LoaderW& w, const Params& p, tile::TilePosition at) {
    const i64 column = static_cast<i64>(at.n) * kTileColumns;
    x.begin(p.x, p.x_row_stride, static_cast<i64>(at.m) * Config::kBlockM, p.m, p.k, p.x_column_stride);
    w.gate.begin(p.gate, p.gate_row_stride, column, p.n, p.k, p.gate_column_stride);
    w.up.begin(p.up, p.up_row_stride, column, p.n, p.k, p.up_column_stride);
  }
  HSTU_PRIM static void copy_x(LoaderX& x, const Params& p, int pass, u32 tile) {
    x.copy(pass, tile, p.x_row_stride, p.x_column_stride);
  }
  HSTU_PRIM static void copy_w(LoaderW& w, const Params& p, int pass, u32 tile) {
    if (pass < HalfLoader::kPasses)
      w.gate.copy(pass, tile, p.gate_row_stride, p.gate_column_stride);
    else
      w.up.copy(pass - HalfLoader::kPasses, tile + HalfW::kBytes, p.up_row_stride, p.up_column_stride);
  }
};

template <class Config>
constexpr int gated_mlp_sm80_smem_bytes = GatedShape<Config>::kSmemBytes;

// The warp's part of out, from the accumulators of gate and up, 16 rows at a time.
template <class Config>
HSTU_PRIM void gated_store(const GatedMlpParams& p, const tile::ProductAccumulators<GatedShape<Config>>& acc,
                           i64 warp_row, i64 warp_column, u32 staging) {
  using Shape = GatedShape<Config>;
  using Staged = typename Shape::Staged;
  using Stored = typename tile::StoredOf<Config>::type;
  using Unit = typename tile::UnitOf<static_cast<int>(sizeof(Stored))>::type;
  constexpr bool kQuantises = sizeof(Stored) == 1;
  const float multiplier = kQuantises ? 1.0f / *p.out_descale : 1.0f;
  const Staged staged(staging);
  const i64 row = warp_row + Staged::lane_row(), column = warp_column + Staged::lane_column();
  Unit* out = static_cast<Unit*>(p.out) + row * p.out_row_stride + column;
  const i64 rows_left = p.m - row;
  const int columns_left = static_cast<int>(max(min(p.n - column, i64{1} << 30), i64{0}));
#pragma unroll
  for (int block = 0; block < Shape::kBlocksM; ++block) {
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
      for (int j = 0; j < Shape::kBlocksN; ++j) {
        float result[2];
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          const float gate = acc[block][j][2 * half + e], up = acc[block][Shape::kBlocksN + j][2 * half + e];
          result[e] = tile::gated<Config>(gate, up);
        }
        if constexpr (kQuantises)
          tile::stage_fp8_pair<Stored>(staged.pair(half, j), result[0] * multiplier, result[1] * multiplier);
        else
          tile::stage_pair<typename Config::Element>(staged.pair(half, j), result[0], result[1]);
      }
    __syncwarp();
#pragma unroll
    for (int pass = 0; pass < Staged::kPasses; ++pass) {
      const int in_block = pass * Staged::kRowsPerPass;
      const int valid = 16 * block + in_block < rows_left ? columns_left : 0;
      prim::Quad q = prim::ld_shared(staged.row(pass));
      if constexpr (kQuantises) q = tile::packed_fp8_pairs<Shape::kElementBytes>(q);
#pragma unroll
      for (int i = 0; i < Staged::kChunkElements / Config::kVectorZ; ++i)
        tile::store_access<Config::kVectorZ>(out + in_block * p.out_row_stride + i * Config::kVectorZ, q, i, valid);
    }
    out += 16 * p.out_row_stride;
    __syncwarp();
  }
}

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    gated_mlp_sm80(const __grid_constant__ GatedMlpParams p) {
  using Shape = GatedShape<Config>;
  extern __shared__ __align__(1024) unsigned char smem_storage[];
  const u32 smem = prim::smem_addr(smem_storage);
  const tile::ProductSchedule<Shape> schedule(p);
  const tile::TilePosition at = schedule.position(blockIdx.x);
  tile::ProductProducer<Shape> producer(p, schedule, at, smem);
  tile::fill_ring(producer, schedule);

  const tile::ProductWarp<Shape> warp;
  tile::ProductConsumer<Shape> consumer(smem, warp);
  consumer.fetch(0);
  tile::ProductAccumulators<Shape> acc = {};
  tile::multiply_tile(acc, consumer, producer, schedule);
  const u32 staging = smem + Config::kStages * Shape::kStageBytes + prim::warp_id() * Shape::Staged::kBytes;
  gated_store<Config>(p, acc, warp.row(at), warp.column(at), staging);
  prim::cp_async_wait<0>();
}

}  // namespace hstu
