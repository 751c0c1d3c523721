// The pipeline of a matrix product on mma.sync: slices of both operands run through a ring in shared memory, fragments
// one step ahead of the products. What is multiplied and how is the Shape's business.
//
// A Shape names
//   Config                 the kernel's, with kBlockM, kBlockN, kBlockK, kWarpsM, kWarpsN, kStages, kGroup, kPersistent
//   Params                 m, n, k, and whatever begin() and the copies read
//   kWarpTileM, kWarpTileN, kBlocksM, kBlocksN  a warp's part, and the same in blocks of 16
//   kSteps                 of 32 bytes along k in a slice: 16 elements of 16 bits
//   kTileColumns           columns of the result that a block's tile has
//   TileX, TileW, kStageBytes; LoaderX, LoaderW; FragmentsX, FragmentsW  tile/operand.cuh, or of the same form
//   kPromotes              whether each slice has sums of its own, added up in f32 behind it
//   Multiplier             made of a step's fragments; (acc, i, j) adds the product of 16 rows i and 8 columns j
//   begin(), copy_x(), copy_w()  how loaders find the operands in Params
#pragma once
#include "prim/cp_async.cuh"
#include "prim/lanes.cuh"
#include "tile/operand.cuh"
#include "tile/raster.cuh"

namespace hstu::tile {

// The grid of output tiles, and which of them this block computes.
template <class Shape>
struct ProductSchedule {
  HSTU_PRIM explicit ProductSchedule(const typename Shape::Params& p)
      : tiles_m(count(p.m, Shape::Config::kBlockM)),
        tiles_n(count(p.n, Shape::kTileColumns)),
        slices(count(p.k, Shape::Config::kBlockK)) {}

  HSTU_PRIM bool valid(u32 tile) const { return tile < tiles_m * tiles_n; }
  HSTU_PRIM u32 next(u32 tile) const { return Shape::Config::kPersistent ? tile + gridDim.x : ~0u; }
  HSTU_PRIM TilePosition position(u32 tile) const {
    return grouped_raster<Shape::Config::kGroup>(tile, tiles_m, tiles_n);
  }

  u32 tiles_m, tiles_n, slices;

 private:
  HSTU_PRIM static u32 count(i64 extent, u32 block) {
    return static_cast<u32>((static_cast<u64>(extent) + block - 1) / block);
  }
};

// Copies slice after slice into the ring: a slice is kShares calls of copy_share(), to be spread between products, and
// then next_slice(). With kPersistent, tile after tile.
template <class Shape>
class ProductProducer {
 public:
  // A share per 8 columns of products, in all steps but the last: that one waits for a slice first.
  enum : int { kShares = (Shape::kSteps - 1) * 2 * Shape::kBlocksN };

  // Starts with this block's first tile, which lies at `first`.
  HSTU_PRIM ProductProducer(const typename Shape::Params& p, const ProductSchedule<Shape>& schedule, TilePosition first,
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
    stage_ = stage_ + 1 == Shape::Config::kStages ? 0 : stage_ + 1;
    if (!Shape::Config::kPersistent || ++slice_ != schedule_.slices) return;
    tile_ = schedule_.next(tile_);
    if (schedule_.valid(tile_))
      begin_tile(schedule_.position(tile_));
    else
      end();
  }

 private:
  enum : int { kPassesX = Shape::LoaderX::kPasses, kPasses = kPassesX + Shape::LoaderW::kPasses };

  HSTU_PRIM void copy(int pass) {
    const u32 stage = smem_ + stage_ * Shape::kStageBytes;
    if (pass < kPassesX)
      Shape::copy_x(x_, p_, pass, stage);
    else
      Shape::copy_w(w_, p_, pass - kPassesX, stage + Shape::TileX::kBytes);
  }

  HSTU_PRIM void begin_tile(TilePosition at) {
    slice_ = 0;
    Shape::begin(x_, w_, p_, at);
  }
  // No tile is left: copies write zeros.
  HSTU_PRIM void end() {
    x_.end();
    w_.end();
  }

  const typename Shape::Params& p_;
  const ProductSchedule<Shape>& schedule_;
  typename Shape::LoaderX x_;
  typename Shape::LoaderW w_;
  u32 smem_, tile_, slice_ = 0;
  int stage_ = 0;
};

// The accumulators of a warp: 16x8 tiles in mma.sync's layout.
template <class Shape>
using ProductAccumulators = float[Shape::kBlocksM][2 * Shape::kBlocksN][4];

// A warp's place in its block, and in its output tile.
template <class Shape>
struct ProductWarp {
  HSTU_PRIM ProductWarp() {
    const u32 warp = prim::warp_id();
    m = warp % Shape::Config::kWarpsM * Shape::kWarpTileM;
    n = warp / Shape::Config::kWarpsM * Shape::kWarpTileN;
  }
  HSTU_PRIM i64 row(TilePosition at) const { return static_cast<i64>(at.m) * Shape::Config::kBlockM + m; }
  HSTU_PRIM i64 column(TilePosition at) const {
    return static_cast<i64>(at.n) * Shape::kTileColumns + n * Shape::kTileColumns / Shape::Config::kBlockN;
  }
  u32 m, n;
};

// Reads fragments from the ring and multiplies them.
template <class Shape>
class ProductConsumer {
 public:
  HSTU_PRIM ProductConsumer(u32 smem, const ProductWarp<Shape>& warp)
      : smem_(smem),
        lane_x_(Shape::FragmentsX::lane_offset(warp.m)),
        lane_w_(Shape::TileX::kBytes + Shape::FragmentsW::lane_offset(warp.n)) {}

  // acc += x w over `slices` slices. kCopy: with copies between the products.
  template <bool kCopy>
  HSTU_PRIM void run(ProductAccumulators<Shape>& acc, u32 slices, ProductProducer<Shape>& producer) {
    for (u32 slice = 0; slice < slices; ++slice) run_slice<kCopy>(acc, producer);
  }

  template <bool kCopy>
  HSTU_PRIM void run_slice(ProductAccumulators<Shape>& acc, ProductProducer<Shape>& producer) {
#pragma unroll
    for (int step = 0; step < Shape::kSteps; ++step) {
      fetch(step + 1);
      multiply<kCopy>(acc, step, producer);
    }
    if (kCopy) producer.next_slice();
  }

  // Reads the fragments of a step. Step kSteps is the next slice's first, for which it waits, as does step 0 of the
  // very first; the barrier also tells that every warp has read the slice before, whose stage the next copies fill.
  HSTU_PRIM void fetch(int step) {
    if (step % Shape::kSteps == 0) {
      prim::cp_async_wait<Shape::Config::kStages - 2>();
      __syncthreads();
      stage_ = stage_ + 1 == Shape::Config::kStages ? 0 : stage_ + 1;
    }
    const u32 slice = smem_ + stage_ * Shape::kStageBytes;
    x_[step % 2].load(slice, lane_x_, step % Shape::kSteps);
    w_[step % 2].load(slice, lane_w_, step % Shape::kSteps);
  }

  // acc += x w for one step, with the step's shares of copying in between. Rows alternate direction so that
  // neighbouring products share an operand.
  template <bool kCopy>
  HSTU_PRIM void multiply(ProductAccumulators<Shape>& acc, int step, ProductProducer<Shape>& producer) const {
    constexpr int kColumns = 2 * Shape::kBlocksN;
    const typename Shape::Multiplier multiplier(x_[step % 2], w_[step % 2]);
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      if (step + 1 < Shape::kSteps) producer.template copy_share<kCopy>(step * kColumns + j);
#pragma unroll
      for (int row = 0; row < Shape::kBlocksM; ++row) {
        const int i = j % 2 ? Shape::kBlocksM - 1 - row : row;
        multiplier(acc[i][j], i, j);
      }
    }
  }

 private:
  typename Shape::FragmentsX x_[2];
  typename Shape::FragmentsW w_[2];
  u32 smem_, lane_x_, lane_w_;
  int stage_ = Shape::Config::kStages - 1;
};

// The multiplier of 16-bit elements.
template <class Element, class FragmentsX, class FragmentsW>
struct Multiply16 {
  HSTU_PRIM Multiply16(const FragmentsX& x, const FragmentsW& w) : x(x), w(w) {}
  HSTU_PRIM void operator()(float (&acc)[4], int i, int j) const {
    prim::mma_m16n8k16<Element>(acc, x.word[i], w.word[j / 2][j % 2 * 2], w.word[j / 2][j % 2 * 2 + 1]);
  }
  const FragmentsX& x;
  const FragmentsW& w;
};

// The multiplier of f32 elements. kExact: as three products of tf32 halves, x w = X W + X w' + x' W with x = X + x';
// what is left out is 2^-22 of the product. The caller adds its sums up in f32, because the tensor cores' are cut off.
template <bool kExact, class FragmentsX, class FragmentsW>
struct Multiply32 {
  HSTU_PRIM Multiply32(const FragmentsX& x, const FragmentsW& w) {
    split(x_, x.word);
    split(w_, w.word);
  }
  HSTU_PRIM void operator()(float (&acc)[4], int i, int j) const {
    const int b = j % 2 * 2;
    if constexpr (kExact) {
      prim::mma_m16n8k8_tf32(acc, x_.rest[i], w_.high[j / 2][b], w_.high[j / 2][b + 1]);
      prim::mma_m16n8k8_tf32(acc, x_.high[i], w_.rest[j / 2][b], w_.rest[j / 2][b + 1]);
    }
    prim::mma_m16n8k8_tf32(acc, x_.high[i], w_.high[j / 2][b], w_.high[j / 2][b + 1]);
  }

 private:
  template <int kBlocks>
  struct Halves {
    u32 high[kBlocks][4], rest[kBlocks][4];
  };
  template <int kBlocks>
  HSTU_PRIM static void split(Halves<kBlocks>& to, const u32 (&word)[kBlocks][4]) {
#pragma unroll
    for (int i = 0; i < kBlocks; ++i)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const float x = __uint_as_float(word[i][e]);
        to.high[i][e] = prim::round_tf32(x);
        if constexpr (kExact) to.rest[i][e] = __float_as_uint(x - __uint_as_float(to.high[i][e]));
      }
  }

  Halves<static_cast<int>(sizeof(FragmentsX::word) / 16)> x_;
  Halves<static_cast<int>(sizeof(FragmentsW::word) / 16)> w_;
};

// acc += sums; sums = 0.
template <int kM, int kN>
HSTU_PRIM void promote(float (&acc)[kM][kN][4], float (&sums)[kM][kN][4]) {
#pragma unroll
  for (int i = 0; i < kM; ++i)
#pragma unroll
    for (int j = 0; j < kN; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        acc[i][j][e] += sums[i][j][e];
        sums[i][j][e] = 0.0f;
      }
}

template <class Element, bool kTf32, class FragmentsX, class FragmentsW>
struct MultiplierOf {
  using type = Multiply16<Element, FragmentsX, FragmentsW>;
};
template <bool kTf32, class FragmentsX, class FragmentsW>
struct MultiplierOf<float, kTf32, FragmentsX, FragmentsW> {
  using type = Multiply32<!kTf32, FragmentsX, FragmentsW>;
};

// The first kStages - 1 slices.
template <class Shape>
HSTU_PRIM void fill_ring(ProductProducer<Shape>& producer, const ProductSchedule<Shape>& schedule) {
#pragma unroll
  for (u32 stage = 0; stage < Shape::Config::kStages - 1; ++stage) {
    if (Shape::Config::kPersistent || stage < schedule.slices)
      producer.template copy_slice<true>();
    else
      producer.template copy_slice<false>();
    producer.next_slice();
  }
}

// acc += x w of a whole tile. With kPersistent the next tile's first slices are copied on the way.
template <class Shape>
HSTU_PRIM void multiply_tile(ProductAccumulators<Shape>& acc, ProductConsumer<Shape>& consumer,
                             ProductProducer<Shape>& producer, const ProductSchedule<Shape>& schedule) {
  const u32 copied = Shape::Config::kPersistent ? 0 : min(schedule.slices, Shape::Config::kStages - 1u);
  if constexpr (Shape::kPromotes) {
    ProductAccumulators<Shape> sums = {};
    for (u32 slice = 0; slice < schedule.slices - copied; ++slice) {
      consumer.template run_slice<true>(sums, producer);
      promote(acc, sums);
    }
    for (u32 slice = 0; slice < copied; ++slice) {
      consumer.template run_slice<false>(sums, producer);
      promote(acc, sums);
    }
  } else {
    consumer.template run<true>(acc, schedule.slices - copied, producer);
    if (!Shape::Config::kPersistent) consumer.template run<false>(acc, copied, producer);
  }
}

}  // namespace hstu::tile
