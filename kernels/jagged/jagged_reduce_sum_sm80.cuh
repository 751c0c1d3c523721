// Sums of each sequence's rows, sm80: out[b] = sum of jagged[r]. Bound by memory.
//
//   rows of a sequence ──► kThreads / kLanes sums a column, in registers ──► smem ──► one sum a column
//
// Work      A block takes kLanes pieces of the columns of one sequence; its threads share the rows, kUnroll of them on
//           their way at once. The order of the sums depends on the configuration alone.
// Limits    Sequences differ in length, and the longest ones' blocks end last: so a block has 256 bytes of columns, not
//           whole rows. It waits twice before its first sum: for the offsets, then for rows. 419584 rows of 512 bf16 in
//           512 sequences take 150.8 us on an H100; a plain kernel that reads as many bytes takes 148.7, a copy that
//           moves as many in all 144.4.
// Barriers  one __syncthreads: the threads' sums are in shared memory.
// Config    facts: Element, Result, Offset, kDim, kVector (elements of an aligned access).
//           knobs: kThreads, kUnroll; kLanes (pieces side by side, a power of two).
// Sources   meta-recsys/generative-recommenders, jagged_reduce_sum.
#pragma once
#include "jagged/jagged_reduce.h"
#include "tile/row_pack.cuh"

namespace hstu {

template <class Config>
constexpr int jagged_reduce_sum_sm80_smem_bytes = Config::kThreads * 4 * Config::kVector;

namespace jagged_reduce_sum {

// The sum of the rows row, row + step, ... before `end`, for the columns at `from`.
template <class Config>
HSTU_PRIM void sum_rows(float (&sum)[Config::kVector], const typename Config::Element* from, i64 row_stride, i64 row,
                        i64 end) {
  constexpr int kStep = Config::kThreads / Config::kLanes;
  for (; row < end; row += kStep * Config::kUnroll) {
    tile::RowPack<typename Config::Element, Config::kVector> pack[Config::kUnroll];
#pragma unroll
    for (int i = 0; i < Config::kUnroll; ++i) {
      tile::clear(pack[i]);
      if (row + i * kStep < end) tile::load(pack[i], from + (row + i * kStep) * row_stride);
    }
#pragma unroll
    for (int i = 0; i < Config::kUnroll; ++i) {
      float value[Config::kVector];
      tile::unpack(value, pack[i]);
#pragma unroll
      for (int v = 0; v < Config::kVector; ++v) sum[v] += value[v];
    }
  }
}

}  // namespace jagged_reduce_sum

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    jagged_reduce_sum_sm80(const __grid_constant__ JaggedReduceParams p) {
  using Result = typename Config::Result;
  constexpr int kVector = Config::kVector, kLanes = Config::kLanes, kColumns = kLanes * kVector;
  extern __shared__ __align__(1024) unsigned char smem[];
  float* sums = reinterpret_cast<float*>(smem);  // [kThreads / kLanes][kColumns]
  const u32 sequence = blockIdx.x / p.column_blocks, column_block = blockIdx.x - sequence * p.column_blocks;
  const int first_column = static_cast<int>(column_block) * kColumns;
  const int lane = static_cast<int>(threadIdx.x) % kLanes, group = static_cast<int>(threadIdx.x) / kLanes;
  const int column = first_column + lane * kVector;
  const auto* offsets = static_cast<const typename Config::Offset*>(p.seq_offsets);
  const i64 start = offsets[sequence], end = offsets[sequence + 1];

  float sum[kVector] = {};
  if (column < Config::kDim) {
    const auto* from = static_cast<const typename Config::Element*>(p.jagged) + column;
    jagged_reduce_sum::sum_rows<Config>(sum, from, p.jagged_row_stride, start + group, end);
  }
#pragma unroll
  for (int v = 0; v < kVector; ++v) sums[group * kColumns + lane * kVector + v] = sum[v];
  __syncthreads();
  Result* out = static_cast<Result*>(p.out) + sequence * p.out_row_stride + first_column;
  for (int c = threadIdx.x; c < kColumns && first_column + c < Config::kDim; c += Config::kThreads) {
    float total = 0;
    for (int g = 0; g < Config::kThreads / kLanes; ++g) total += sums[g * kColumns + c];
    out[c] = prim::from_float<Result>(total);
  }
}

}  // namespace hstu
