// Sums over the rows of a matrix for each of its columns, as gradients of weights are, in one launch and in one order:
//
//   registers of a thread ──► the block's teams, through shared memory ──► partials[block] ──► last blocks: results
//
// A thread sums its columns over the rows of its team; rows are assigned to teams by their number alone, and all sums
// are joined in the order of teams and blocks, so that results are the same in every run of the same grid. Rows too
// long for registers are summed in shared memory, or where that is too small in the block's partials.
#pragma once
#include "norm/layer_norm_bwd.h"
#include "norm/rows/row_norm.cuh"
#include "tile/last_blocks.cuh"

namespace hstu::tile {

// kSums sums of each column. Shape: a RowShape whose teams take one row at a time.
template <class Shape, int kSums>
class HeldColumnSums {
  enum : int { kValues = kSums * Shape::kAccesses * Shape::kVector };
  float sum_[kSums][Shape::kAccesses][Shape::kVector] = {};

 public:
  // Value i of thread t lies at i * kPitch + t, so that neither a thread's values nor those of a column of one team
  // meet in a bank.
  enum : int { kPitch = Shape::kThreads + (Shape::kVector < 32 ? 32 / Shape::kVector : 1) };
  enum : int { kSmemBytes = kValues * kPitch * 4 };

  HSTU_PRIM void add(int sum, int access, const float (&x)[Shape::kVector]) {
#pragma unroll
    for (int v = 0; v < Shape::kVector; ++v) sum_[sum][access][v] += x[v];
  }
  HSTU_PRIM void add_products(int sum, int access, const float (&x)[Shape::kVector], const float (&y)[Shape::kVector]) {
#pragma unroll
    for (int v = 0; v < Shape::kVector; ++v) sum_[sum][access][v] = __fmaf_rn(x[v], y[v], sum_[sum][access][v]);
  }

  // To `to` [kSums, pitch], all teams' in their order. By all threads; smem: kSmemBytes, which others may read until
  // then.
  HSTU_PRIM void store_block(float* to, i64 pitch, unsigned char* smem) const {
    float* const place = reinterpret_cast<float*>(smem);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kValues; ++i) place[i * kPitch + static_cast<int>(threadIdx.x)] = (&sum_[0][0][0])[i];
    __syncthreads();
#pragma unroll 1
    for (int at = static_cast<int>(threadIdx.x); at < kSums * Shape::kDim; at += Shape::kThreads) {
      const int sum = at / Shape::kDim, column = at % Shape::kDim;
      const int access = column / Shape::kStep, lane = column % Shape::kStep / Shape::kVector;
      const int value = (sum * Shape::kAccesses + access) * Shape::kVector + column % Shape::kVector;
      float total = 0.0f;
#pragma unroll
      for (int team = 0; team < Shape::kRowsAtOnce; ++team)
        total += place[value * kPitch + team * Shape::kThreadsPerRow + lane];
      to[sum * pitch + column] = total;
    }
  }
};

enum : int { kPieceColumns = kPartialsLine };  // of a sum: a line of each block's partials

// Bytes of shared memory that add_partials() takes.
template <int kThreads>
constexpr int add_partials_smem_bytes = (kThreads / 8 < 16 ? kThreads / 8 : 16) * kPieceColumns * 4;

// One piece of the columns of a sum over all blocks' partials, by all threads: column(c, total) for each of its first
// `columns`. kAtOnce: partials that a thread asks for before it adds them up, in the order of the blocks.
template <int kThreads, int kAtOnce, class Column>
HSTU_PRIM void add_partials(const float* partials, i64 block_pitch, int columns, float* smem, const Column& column) {
  constexpr int kGroups = kThreads / 8 < 16 ? kThreads / 8 : 16;  // of 8 threads with 4 columns each
  const int thread = static_cast<int>(threadIdx.x), group = thread / 8, first = thread % 8 * 4;
  float sum[4] = {};
  const auto add = [&](const prim::Quad& quad) {
#pragma unroll
    for (int i = 0; i < 4; ++i) sum[i] += __uint_as_float(quad.word[i]);
  };
#pragma unroll 1
  for (u32 block = static_cast<u32>(group); group < kGroups && block < gridDim.x; block += kAtOnce * kGroups) {
    prim::Quad quads[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i)
      quads[i] = prim::ld_global(partials + min(block + i * kGroups, gridDim.x - 1) * block_pitch + first);
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i)
      if (block + i * kGroups < gridDim.x) add(quads[i]);
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
    if (group < kGroups) smem[group * kPieceColumns + first + i] = sum[i];
  __syncthreads();
  if (thread >= columns) return;
  float total = 0.0f;
#pragma unroll
  for (int g = 0; g < kGroups; ++g) total += smem[g * kPieceColumns + thread];
  column(thread, total);
}

}  // namespace hstu::tile
