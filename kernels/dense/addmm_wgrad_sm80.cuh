// Gradient of a product's weight, sm_80 generation: out = a^T b over the rows of both, a = x and b = dout, or the other
// way round for a weight that is stored transposed; and the bias's, the sums of dout's columns. f32 inside, rounded
// once. Operands of 16 bits in any layout; of 32 bits too, as tf32, or nearly exact as three products of tf32.
//
//   a, b slices ──cp.async──► ring of kStages in smem ──ldmatrix(.trans)──► fragments ──mma.sync──► sums ──► out
//                                                                              └──► sums of dout's columns ──► bias
//   split:   sums ──► partials[part] in the workspace ──► last blocks: all parts' in order ──► out, bias
//
// A weight's gradient has few tiles and many rows: a block computes a kBlockM x kBlockN tile over one of params.split
// parts of the rows. Each block leaves its sums in the workspace, and those that end last add the parts up in their
// order, so that results are the same in every run of the same grid. Tensor cores cut off what they add up, so sums of
// more than kRowsInTensorCores rows are put to the workspace in between and added there in f32.
//
// What runs, and the file behind each line, in tile/ unless a folder is named; other names are of this file:
//   block      its part of the rows, as far as they are valid        WgradPart
//              the first kStages - 1 slices to the ring              product.cuh, fill_ring
//   warp       for each slice of rows: wait, one __syncthreads       dense/wgrad_product.cuh
//                for each k16 step: fragments of the next one        operand.cuh
//                  sums of dout's columns, in the first tile's warps dense/wgrad_product.cuh: ExtentSums
//                  mma.sync; copies of a later slice in between      product.cuh, operand.cuh
//                float: add the slice's sums to the accumulators     product.cuh, promote
//                kRowsInTensorCores: sums to the workspace           WgradPartials
//   one part   for each 16 rows: + what is there, rounding           WgradRows, epilogue.cuh
//   parts      sums to the workspace                                 WgradPartials
//              the last blocks: a piece of 16 kWarpsM rows a time    last_blocks.cuh, WgradPartials, WgradRows
//
// Shared memory  kStages x (a tile | b tile), swizzled (tile/operand.cuh); in the same place, when they are read: a
//                word of the last blocks | a staging area per warp (tile/epilogue.cuh)
// Registers      accumulators kWarpTileM kWarpTileN / 32 (float: twice that, a slice has sums of its own), two sets of
//                fragments (kWarpTileM + kWarpTileN) / 4 each, a sum for each 8 of dout's columns
// Barriers       one __syncthreads per slice: it publishes the next slice and frees the one just read
//
// Config, problem facts
//   Element             bf16, f16 or float: x and dout
//   kTf32               float operands are rounded to tf32
//   Gradient, Bias      element types of out and bias: Element or float; any
//   kSums               0 none, 1 of b's columns, 2 of a's (dense/wgrad_product.cuh)
//   kAAlongK, kBAlongK  whether memory is contiguous along the rows summed over
//   kVectorA, kVectorB, kVectorOut  elements per aligned access, 8, 4, 2 or 1: they divide address, line stride and
//   line
//                       length. 0 for A or B: contiguous along neither dimension
// Config, knobs
//   kBlockM, kBlockN, kBlockK  tile of a block; rows per slice
//   kWarpsM, kWarpsN    warps along m and n; 64x64 per warp gives the most mma per byte read from shared memory
//   kStages             slices in the ring
//   kGroup              tile rows walked together (tile/raster.cuh)
//   kMinBlocks          blocks per SM to leave registers for
// Sources: PTX ISA "mma", "ldmatrix", "cp.async"; split of the summed dimension: the serial and parallel modes of
// Dao-AILab/quack, with the order fixed.
#pragma once
#include "dense/addmm_wgrad.h"
#include "dense/wgrad_product.cuh"
#include "prim/cp_async.cuh"
#include "prim/lanes.cuh"
#include "prim/memory.cuh"
#include "prim/mma.cuh"
#include "tile/epilogue.cuh"
#include "tile/last_blocks.cuh"
#include "tile/product.cuh"

namespace hstu {
namespace tile {

// What a block computes: a tile, over a part of the rows. Its m, n and k are a product's of tile/product.cuh.
template <class Config>
struct WgradPart {
  HSTU_PRIM explicit WgradPart(const AddmmWgradParams& params)
      : p(params),
        m(params.m),
        n(params.n),
        tiles(count(params.m, Config::kBlockM) * count(params.n, Config::kBlockN)) {
    tile = blockIdx.x % tiles;
    index = blockIdx.x / tiles;
    const i64 rows = valid_rows(), slices = (rows + Config::kBlockK - 1) / Config::kBlockK;
    const i64 each = (slices + p.split - 1) / p.split * Config::kBlockK;
    first_row = min(index * each, rows);
    k = min(rows - first_row, each);
  }

  const AddmmWgradParams& p;
  i64 m, n, k, first_row;
  u32 tiles, tile, index;

 private:
  HSTU_PRIM static u32 count(i64 extent, u32 block) {
    return static_cast<u32>((static_cast<u64>(extent) + block - 1) / block);
  }
  HSTU_PRIM i64 valid_rows() const {
    if (!p.valid_rows) return p.k;
    const i64 valid =
        p.valid_rows_i64 ? *static_cast<const i64*>(p.valid_rows) : i64{*static_cast<const i32*>(p.valid_rows)};
    return max(min(valid, i64{p.k}), i64{0});
  }
};

// Everything that follows from a Config, as tile/product.cuh wants it: x is a, w is b.
template <class Config_>
struct WgradShape {
  using Config = Config_;
  using Params = WgradPart<Config>;
  using Gradient = typename Config::Gradient;
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

  using TileX = OperandTile<Config::kBlockM, Config::kBlockK, Config::kAAlongK, kElementBytes>;
  using TileW = OperandTile<Config::kBlockN, Config::kBlockK, Config::kBAlongK, kElementBytes>;
  using LoaderX = OperandLoader<TileX, Config::kBlockK, kThreads, Config::kVectorA, true>;
  using LoaderW = OperandLoader<TileW, Config::kBlockK, kThreads, Config::kVectorB, true>;
  enum : int { kStageBytes = TileX::kBytes + TileW::kBytes };
  using FragmentsX = Fragments<TileX, kBlocksM, true>;
  using FragmentsW = Fragments<TileW, kBlocksN, false>;
  using Multiplier = typename MultiplierOf<typename Config::Element, Config::kTf32, FragmentsX, FragmentsW>::type;

  using Staged = StagedRows<kWarpTileN, static_cast<int>(sizeof(Gradient))>;
  enum : int { kRingBytes = Config::kStages * kStageBytes, kWordBytes = 128 };
  enum : int { kEndBytes = kWordBytes + kThreads / 32 * Staged::kBytes };
  enum : int { kSmemBytes = kRingBytes > kEndBytes ? kRingBytes : kEndBytes };

  HSTU_PRIM static void begin(LoaderX& x, LoaderW& w, const Params& part, TilePosition at) {
    const AddmmWgradParams& p = part.p;
    x.begin(from_row<Config::kAAlongK>(p.a, p.a_line_stride, p.a_element_stride, Config::kVectorA, part.first_row),
            p.a_line_stride, static_cast<i64>(at.m) * Config::kBlockM, p.m, part.k, p.a_element_stride);
    w.begin(from_row<Config::kBAlongK>(p.b, p.b_line_stride, p.b_element_stride, Config::kVectorB, part.first_row),
            p.b_line_stride, static_cast<i64>(at.n) * Config::kBlockN, p.n, part.k, p.b_element_stride);
  }
  HSTU_PRIM static void copy_x(LoaderX& x, const Params& part, int pass, u32 tile) {
    x.copy(pass, tile, part.p.a_line_stride, part.p.a_element_stride);
  }
  HSTU_PRIM static void copy_w(LoaderW& w, const Params& part, int pass, u32 tile) {
    w.copy(pass, tile, part.p.b_line_stride, part.p.b_element_stride);
  }

 private:
  // The operand from this row on.
  template <bool kAlongK>
  HSTU_PRIM static const void* from_row(const void* operand, i64 line_stride, i64 element_stride, int vector, i64 row) {
    const i64 stride = !kAlongK ? line_stride : vector == 0 ? element_stride : 1;
    return static_cast<const typename Config::Element*>(operand) + row * stride;
  }
};

// The sums that blocks leave in the workspace, as their threads have them.
template <class Shape>
class WgradPartials {
  enum : int { kColumns = 2 * Shape::kBlocksN, kFloats = 4 * Shape::kThreads };  // of a pair of 16 rows and 8 columns

 public:
  using Config = typename Shape::Config;

  HSTU_PRIM explicit WgradPartials(const WgradPart<Config>& part)
      : first_(part.p.partials), tiles_(part.tiles), split_(static_cast<u32>(part.p.split)) {}

  HSTU_PRIM float* tile(u32 part, u32 tile) const {
    return first_ + (static_cast<i64>(part) * tiles_ + tile) * (Config::kBlockM * Config::kBlockN) + threadIdx.x * 4;
  }
  // Of the bias, all parts', behind all tiles; extent: of the sums, padded.
  HSTU_PRIM float* bias(u32 part, i64 extent) const {
    return first_ + static_cast<i64>(split_) * tiles_ * (Config::kBlockM * Config::kBlockN) + part * extent;
  }

  // acc to `to`, where `added` beside what is there. 16 rows at a time: few loads are under way beside all of acc.
  HSTU_PRIM static void put(ProductAccumulators<Shape>& acc, float* to, bool added) {
#pragma unroll
    for (int i = 0; i < Shape::kBlocksM; ++i) {
      if (added) add_rows(acc[i], to, i);
#pragma unroll
      for (int j = 0; j < kColumns; ++j) {
        const float(&sum)[4] = acc[i][j];
        prim::st_global(to + (i * kColumns + j) * kFloats, {{__float_as_uint(sum[0]), __float_as_uint(sum[1]),
                                                             __float_as_uint(sum[2]), __float_as_uint(sum[3])}});
      }
    }
  }
  // acc += what is there, of 16 rows of each warp.
  HSTU_PRIM static void add_rows(float (&acc)[kColumns][4], const float* from, int block) {
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      const prim::Quad there = prim::ld_global(from + (block * kColumns + j) * kFloats);
#pragma unroll
      for (int e = 0; e < 4; ++e) acc[j][e] += __uint_as_float(there.word[e]);
    }
  }
  // The sums of all parts for 16 rows of each warp, in the order of the parts.
  HSTU_PRIM void join(float (&acc)[kColumns][4], u32 tile_index, int block) const {
#pragma unroll
    for (int j = 0; j < kColumns; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e) acc[j][e] = 0.0f;
#pragma unroll 1
    for (u32 part = 0; part < split_; ++part) add_rows(acc, tile(part, tile_index), block);
  }

 private:
  float* first_;
  u32 tiles_, split_;
};

// Sums to out, 16 rows of a warp at a time through its staging area, whole rows, rounded; with accumulate, what is
// there is added before.
template <class Shape>
class WgradRows {
 public:
  using Config = typename Shape::Config;
  using Gradient = typename Shape::Gradient;
  using Staged = typename Shape::Staged;

  HSTU_PRIM WgradRows(const AddmmWgradParams& p, i64 warp_row, i64 warp_column, u32 staging)
      : staged_(staging), row_stride_(p.out_row_stride), accumulate_(p.accumulate != 0) {
    const i64 row = warp_row + Staged::lane_row(), column = warp_column + Staged::lane_column();
    to_ = static_cast<Unit*>(p.out) + row * row_stride_ + column;
    rows_ = clamp_left(p.m - row);
    columns_ = clamp_left(p.n - column);
  }

  HSTU_PRIM void write(int block, const float (&acc)[2 * Shape::kBlocksN][4]) const {
    if (accumulate_) {
#pragma unroll
      for (int pass = 0; pass < Staged::kPasses; ++pass)
        prim::st_shared(staged_.row(pass), load_chunk<Config::kVectorOut>(at(block, pass), columns_of(block, pass)));
      __syncwarp();
    }
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
      for (int j = 0; j < 2 * Shape::kBlocksN; ++j) {
        float lo = acc[j][2 * half], hi = acc[j][2 * half + 1];
        if (accumulate_) add_staged_pair<Gradient>(lo, hi, staged_.pair(half, j));
        stage_pair<Gradient>(staged_.pair(half, j), lo, hi);
      }
    __syncwarp();
#pragma unroll
    for (int pass = 0; pass < Staged::kPasses; ++pass)
      store_chunk<Config::kVectorOut>(at(block, pass), prim::ld_shared(staged_.row(pass)), columns_of(block, pass));
    __syncwarp();
  }

 private:
  using Unit = typename UnitOf<static_cast<int>(sizeof(Gradient))>::type;

  HSTU_PRIM static int clamp_left(i64 left) { return static_cast<int>(max(min(left, i64{1} << 30), i64{-1} << 30)); }
  HSTU_PRIM Unit* at(int block, int pass) const {
    return to_ + (16 * block + pass * Staged::kRowsPerPass) * row_stride_;
  }
  HSTU_PRIM int columns_of(int block, int pass) const {
    return 16 * block + pass * Staged::kRowsPerPass < rows_ ? columns_ : 0;
  }

  const Staged staged_;
  const i64 row_stride_;
  const bool accumulate_;
  Unit* to_;            // of the lane's 16 bytes, in the first pass of the first block
  int rows_, columns_;  // left from there
};

// One of the bias's sums, rounded.
template <class Bias>
HSTU_PRIM void write_bias(const AddmmWgradParams& p, i64 at, float sum) {
  Bias* const to = static_cast<Bias*>(p.bias) + at;
  *to = prim::from_float<Bias>(p.accumulate ? sum + prim::to_float(*to) : sum);
}

// The bias's sums of this block's first tile, to the bias or to the part's place in the workspace.
template <class Shape>
HSTU_PRIM void finish_sums(const WgradPart<typename Shape::Config>& part, const WgradPartials<Shape>& partials,
                           const typename WgradConsumer<Shape>::Sums& sums, i64 first, i64 extent, i64 padded) {
  sums.join([&](int i, float sum) {
    if (part.p.split > 1)
      partials.bias(part.index, padded)[first + i] = sum;
    else if (first + i < extent)
      write_bias<typename Shape::Config::Bias>(part.p, first + i, sum);
  });
}

// The results of all parts, by the last blocks: pieces are blocks of 16 rows of each warp, then columns of the bias.
template <class Shape>
HSTU_PRIM void join_parts(const WgradPart<typename Shape::Config>& part, const ProductSchedule<Shape>& schedule,
                          const WgradPartials<Shape>& partials, LastBlocks& blocks, unsigned char* smem, u32 staging,
                          i64 extent, i64 padded) {
  using Config = typename Shape::Config;
  const u32 of_tiles = part.tiles * Shape::kBlocksM;
  const u32 of_bias = Config::kSums == kNoSums ? 0 : static_cast<u32>(padded / Shape::kThreads) + 1;
  share_among_last(blocks, of_tiles + of_bias, reinterpret_cast<volatile u32*>(smem), [&](u32 piece) {
    if (piece < of_tiles) {
      const u32 tile = piece / Shape::kBlocksM;
      const int block = static_cast<int>(piece % Shape::kBlocksM);
      const TilePosition at = schedule.position(tile);
      const ProductWarp<Shape> warp;
      float acc[2 * Shape::kBlocksN][4];
      partials.join(acc, tile, block);
      WgradRows<Shape>(part.p, warp.row(at) + 16 * block, warp.column(at), staging).write(0, acc);
    } else if constexpr (Config::kSums != kNoSums) {
      const i64 at = static_cast<i64>(piece - of_tiles) * Shape::kThreads + threadIdx.x;
      if (at >= extent) return;
      float sum = 0.0f;
#pragma unroll 4
      for (int index = 0; index < part.p.split; ++index) sum += partials.bias(static_cast<u32>(index), padded)[at];
      write_bias<typename Config::Bias>(part.p, at, sum);
    }
  });
}

}  // namespace tile

template <class Config>
constexpr int addmm_wgrad_sm80_smem_bytes = tile::WgradShape<Config>::kSmemBytes;

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    addmm_wgrad_sm80(const __grid_constant__ AddmmWgradParams p) {
  using Shape = tile::WgradShape<Config>;
  constexpr u32 kSlicesHeld = kRowsInTensorCores / Config::kBlockK;
  constexpr bool kOfA = Config::kSums == tile::kSumsOfA;
  extern __shared__ __align__(1024) unsigned char smem_storage[];
  const u32 smem = prim::smem_addr(smem_storage);

  const tile::WgradPart<Config> part(p);
  const tile::ProductSchedule<Shape> schedule(part);
  const tile::TilePosition at = schedule.position(part.tile);
  tile::ProductProducer<Shape> producer(part, schedule, at, smem);
  tile::fill_ring(producer, schedule);
  tile::LastBlocks blocks(p.counters);
  if (p.split > 1 && threadIdx.x == 0) blocks.start();

  const tile::ProductWarp<Shape> warp;
  const bool sums = Config::kSums != tile::kNoSums && (kOfA ? at.n == 0 && warp.n == 0 : at.m == 0 && warp.m == 0);
  tile::WgradConsumer<Shape> consumer(smem, warp, sums);
  consumer.fetch(0);

  const tile::WgradPartials<Shape> partials(part);
  tile::ProductAccumulators<Shape> acc = {};
  const u32 copied = min(schedule.slices, Config::kStages - 1u);
  bool added = false;
  for (u32 left = schedule.slices - copied;;) {
    const u32 now = min(left, kSlicesHeld);
    consumer.template run<true>(acc, now, producer);
    left -= now;
    if (left == 0) break;
    float* const there = partials.tile(part.index, part.tile);
    partials.put(acc, there, added);
    added = true;
#pragma unroll
    for (int i = 0; i < Shape::kBlocksM; ++i)
#pragma unroll
      for (int j = 0; j < 2 * Shape::kBlocksN; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e) acc[i][j][e] = 0.0f;
  }
  consumer.template run<false>(acc, copied, producer);
  prim::cp_async_wait<0>();

  const i64 extent = kOfA ? p.m : p.n;
  const i64 padded = kOfA ? i64{schedule.tiles_m} * Config::kBlockM : i64{schedule.tiles_n} * Config::kBlockN;
  if (sums)
    tile::finish_sums<Shape>(part, partials, consumer.sums(), kOfA ? warp.row(at) : warp.column(at), extent, padded);
  const u32 staging = smem + Shape::kWordBytes + prim::warp_id() * Shape::Staged::kBytes;
  if (p.split > 1) {
    partials.put(acc, partials.tile(part.index, part.tile), added);
    tile::join_parts<Shape>(part, schedule, partials, blocks, smem_storage, staging, extent, padded);
  } else {
    __syncthreads();  // the ring is read: results are staged in its place
    const tile::WgradRows<Shape> rows(p, warp.row(at), warp.column(at), staging);
#pragma unroll
    for (int block = 0; block < Shape::kBlocksM; ++block) {
      if (added) partials.add_rows(acc[block], partials.tile(part.index, part.tile), block);
      rows.write(block, acc[block]);
    }
  }
}

}  // namespace hstu
