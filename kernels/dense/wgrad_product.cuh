// The products of a weight's gradient, a^T b: what tile/product.cuh has, with the sums of an operand's columns beside
// them. A bias's gradient is the sums of dout's columns, and dout's elements pass through the registers of a block
// anyway.
#pragma once
#include "prim/cp_async.cuh"
#include "prim/lanes.cuh"
#include "prim/memory.cuh"
#include "tile/product.cuh"

namespace hstu::tile {

// Whose columns are summed: Config::kSums.
enum : int { kNoSums = 0, kSumsOfB = 1, kSumsOfA = 2 };

// Sums over the rows for a warp's part of an operand, 16 kBlocks along its extent. A lane adds up what its fragments
// have, the rows 2t, 2t + 1 and these + 8 of each 16; in f32 t and t + 4 of each 8.
template <class Element, class Fragments, int kBlocks, bool kLeft>
class ExtentSums {
 public:
  HSTU_PRIM void add(const Fragments& fragments) {
#pragma unroll
    for (int block = 0; block < kBlocks; ++block)
#pragma unroll
      for (int word = 0; word < 4; ++word) {
        const int half = kLeft ? word % 2 : word / 2;  // of the 16 along the extent
        add(sum_[2 * block + half], fragments.word[block][word]);
      }
  }
  // Over the four lanes that share an element of the extent; to(i, sum) of element i of the warp's part, by one of
  // them.
  template <class To>
  HSTU_PRIM void join(const To& to) const {
    const u32 lane = prim::lane_id();
#pragma unroll
    for (int i = 0; i < 2 * kBlocks; ++i) {
      float sum = sum_[i];
      sum += __shfl_xor_sync(prim::kFullWarp, sum, 1);
      sum += __shfl_xor_sync(prim::kFullWarp, sum, 2);
      if (lane % 4 == 0) to(8 * i + static_cast<int>(lane / 4), sum);
    }
  }

 private:
  HSTU_PRIM static void add(float& sum, u32 word) {
    if constexpr (sizeof(Element) == 4)
      sum += __uint_as_float(word);
    else
      sum += prim::unpack_lo<Element>(word) + prim::unpack_hi<Element>(word);
  }

  float sum_[2 * kBlocks] = {};
};
struct NoSums {
  template <class Fragments>
  HSTU_PRIM void add(const Fragments&) {}
  template <class To>
  HSTU_PRIM void join(const To&) const {}
};

template <class Shape, int kSums>
struct SumsOf {
  using type = NoSums;
};
template <class Shape>
struct SumsOf<Shape, kSumsOfB> {
  using type = ExtentSums<typename Shape::Config::Element, typename Shape::FragmentsW, Shape::kBlocksN, false>;
};
template <class Shape>
struct SumsOf<Shape, kSumsOfA> {
  using type = ExtentSums<typename Shape::Config::Element, typename Shape::FragmentsX, Shape::kBlocksM, true>;
};

// ProductConsumer of tile/product.cuh, which also sums an operand's columns where `sums` says so.
template <class Shape>
class WgradConsumer {
 public:
  using Sums = typename SumsOf<Shape, Shape::Config::kSums>::type;

  HSTU_PRIM WgradConsumer(u32 smem, const ProductWarp<Shape>& warp, bool sums)
      : smem_(smem),
        lane_x_(Shape::FragmentsX::lane_offset(warp.m)),
        lane_w_(Shape::TileX::kBytes + Shape::FragmentsW::lane_offset(warp.n)),
        adds_(sums) {}

  // acc += a^T b over `slices` slices. kCopy: with copies between the products.
  template <bool kCopy>
  HSTU_PRIM void run(ProductAccumulators<Shape>& acc, u32 slices, ProductProducer<Shape>& producer) {
    if constexpr (Shape::kPromotes) {
      ProductAccumulators<Shape> sums = {};
      for (u32 slice = 0; slice < slices; ++slice) {
        run_slice<kCopy>(sums, producer);
        promote(acc, sums);
      }
    } else {
      for (u32 slice = 0; slice < slices; ++slice) run_slice<kCopy>(acc, producer);
    }
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

  HSTU_PRIM const Sums& sums() const { return sums_; }

 private:
  template <bool kCopy>
  HSTU_PRIM void run_slice(ProductAccumulators<Shape>& acc, ProductProducer<Shape>& producer) {
#pragma unroll
    for (int step = 0; step < Shape::kSteps; ++step) {
      fetch(step + 1);
      if constexpr (Shape::Config::kSums != kNoSums) {
        if (adds_) add(step);
      }
      multiply<kCopy>(acc, step, producer);
    }
    if (kCopy) producer.next_slice();
  }

  HSTU_PRIM void add(int step) {
    if constexpr (Shape::Config::kSums == kSumsOfA)
      sums_.add(x_[step % 2]);
    else
      sums_.add(w_[step % 2]);
  }

  // acc += a^T b for one step, with the step's shares of copying in between.
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

  typename Shape::FragmentsX x_[2];
  typename Shape::FragmentsW w_[2];
  Sums sums_;
  u32 smem_, lane_x_, lane_w_;
  bool adds_;
  int stage_ = Shape::Config::kStages - 1;
};

}  // namespace hstu::tile
