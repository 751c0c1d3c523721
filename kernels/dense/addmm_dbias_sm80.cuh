// Gradient of a product's bias alone, the sums of dout's columns over its rows, in one launch bound by memory.
//
//   dout rows ──► sums in registers ──smem──► the block's sums ──► bias
//   split:   the block's sums ──► partials[part] in the workspace ──► last blocks: all parts' in order ──► bias
//
// Work    a block takes some columns of one of params.split parts of the rows. Rows that are contiguous in memory: a
//         team of kThreadsPerRow threads takes a row at a time, an access a thread, kRowsAhead rows in flight. Columns
//         that are contiguous, or elements apart: a warp takes a column, a lane every 32nd row of it.
// Order   rows are dealt to teams by their number alone, and all sums are joined in the order of teams and parts: the
//         same bits in every run of the same grid.
// Memory  a word of the last blocks | sums of the block's teams
// Config  facts: Element (of dout), Bias (of bias), kAlongK (contiguous along the rows summed over, or gathered),
//         kVector (elements an access, 0 gathered). knobs: kThreads, kThreadsPerRow, kRowsAhead.
// Source  derived.
#pragma once
#include "dense/addmm_wgrad.h"
#include "prim/lanes.cuh"
#include "prim/memory.cuh"
#include "tile/last_blocks.cuh"
#include "tile/row_pack.cuh"

namespace hstu {
namespace tile {

template <class Config_>
struct DbiasShape {
  using Config = Config_;
  enum : int { kTeams = Config::kThreads / Config::kThreadsPerRow };
  // Columns that a block sums.
  enum : int { kColumns = Config::kAlongK ? Config::kThreads / 32 : Config::kThreadsPerRow * Config::kVector };
  enum : int { kWordBytes = 128 };
  enum : int { kSmemBytes = kWordBytes + (Config::kAlongK ? 0 : Config::kThreads * Config::kVector * 4) };
};

// The rows of a block's part, as far as they are valid.
struct DbiasRows {
  HSTU_PRIM DbiasRows(const AddmmWgradParams& p, u32 part) {
    i64 rows = p.k;
    if (p.valid_rows) {
      const i64 valid =
          p.valid_rows_i64 ? *static_cast<const i64*>(p.valid_rows) : i64{*static_cast<const i32*>(p.valid_rows)};
      rows = max(min(valid, rows), i64{0});
    }
    const i64 each = (rows + p.split - 1) / p.split;
    first = min(part * each, rows);
    end = min(first + each, rows);
  }
  i64 first, end;
};

// The block's sums of its columns, of rows that are contiguous: column(c, sum) once for each.
template <class Shape, class Column>
HSTU_PRIM void sum_rows(const AddmmWgradParams& p, const DbiasRows& rows, i64 first_column, float* smem,
                        const Column& column) {
  using Config = typename Shape::Config;
  using Element = typename Config::Element;
  using Pack = RowPack<Element, Config::kVector>;
  const u32 team = threadIdx.x / Config::kThreadsPerRow, lane = threadIdx.x % Config::kThreadsPerRow;
  const i64 at = first_column + lane * Config::kVector, step = i64{Shape::kTeams} * p.b_line_stride;
  float sum[Config::kVector] = {};
  i64 row = at < p.n ? rows.first + team : rows.end;
  const Element* from = static_cast<const Element*>(p.b) + row * p.b_line_stride + at;
#pragma unroll 1
  for (; row < rows.end; row += Config::kRowsAhead * Shape::kTeams) {
    Pack packs[Config::kRowsAhead];
#pragma unroll
    for (int i = 0; i < Config::kRowsAhead; ++i) {
      clear(packs[i]);
      if (row + i * Shape::kTeams < rows.end) load(packs[i], from + i * step);
    }
#pragma unroll
    for (int i = 0; i < Config::kRowsAhead; ++i) {
      float value[Config::kVector];
      unpack(value, packs[i]);
#pragma unroll
      for (int v = 0; v < Config::kVector; ++v) sum[v] += value[v];
    }
    from += Config::kRowsAhead * step;
  }
#pragma unroll
  for (int v = 0; v < Config::kVector; ++v) smem[(team * Config::kThreadsPerRow + lane) * Config::kVector + v] = sum[v];
  __syncthreads();
#pragma unroll 1
  for (int c = static_cast<int>(threadIdx.x); c < Shape::kColumns; c += Config::kThreads) {
    float total = 0.0f;
#pragma unroll 8
    for (int t = 0; t < Shape::kTeams; ++t) total += smem[t * Shape::kColumns + c];
    column(c, total);
  }
}

// The same where columns are contiguous, or elements lie apart.
template <class Shape, class Column>
HSTU_PRIM void sum_columns(const AddmmWgradParams& p, const DbiasRows& rows, i64 first_column, const Column& column) {
  using Config = typename Shape::Config;
  using Element = typename Config::Element;
  const u32 lane = prim::lane_id();
  const int c = static_cast<int>(threadIdx.x / 32);
  const i64 stride = Config::kVector == 0 ? i64{p.b_element_stride} : i64{1};
  const bool inside = first_column + c < p.n;
  const Element* from =
      static_cast<const Element*>(p.b) + (first_column + c) * p.b_line_stride + (rows.first + lane) * stride;
  float sum = 0.0f;
#pragma unroll Config::kRowsAhead
  for (i64 row = inside ? rows.first + lane : rows.end; row < rows.end; row += 32) {
    sum += prim::to_float(*from);
    from += 32 * stride;
  }
#pragma unroll
  for (int other = 16; other > 0; other /= 2) sum += __shfl_xor_sync(prim::kFullWarp, sum, other);
  if (lane == 0) column(c, sum);
}

template <class Bias>
HSTU_PRIM void write_dbias(const AddmmWgradParams& p, i64 at, float sum) {
  Bias* const to = static_cast<Bias*>(p.bias) + at;
  *to = prim::from_float<Bias>(p.accumulate ? sum + prim::to_float(*to) : sum);
}

}  // namespace tile

template <class Config>
constexpr int addmm_dbias_sm80_smem_bytes = tile::DbiasShape<Config>::kSmemBytes;

template <class Config>
__global__ void __launch_bounds__(Config::kThreads) addmm_dbias_sm80(const __grid_constant__ AddmmWgradParams p) {
  using Shape = tile::DbiasShape<Config>;
  using Bias = typename Config::Bias;
  extern __shared__ __align__(1024) unsigned char smem[];
  const u32 blocks_of_columns = static_cast<u32>((p.n + Shape::kColumns - 1) / Shape::kColumns);
  const u32 part = blockIdx.x / blocks_of_columns;
  const i64 first_column = static_cast<i64>(blockIdx.x % blocks_of_columns) * Shape::kColumns;
  tile::LastBlocks blocks(p.counters);
  if (p.split > 1 && threadIdx.x == 0) blocks.start();

  const tile::DbiasRows rows(p, part);
  const auto column = [&](int c, float sum) {
    const i64 at = first_column + c;
    if (at >= p.n) return;
    if (p.split > 1)
      p.partials[part * p.n + at] = sum;
    else
      tile::write_dbias<Bias>(p, at, sum);
  };
  if constexpr (Config::kAlongK)
    tile::sum_columns<Shape>(p, rows, first_column, column);
  else
    tile::sum_rows<Shape>(p, rows, first_column, reinterpret_cast<float*>(smem + Shape::kWordBytes), column);
  if (p.split == 1) return;

  const u32 pieces = static_cast<u32>((p.n + Config::kThreads - 1) / Config::kThreads);
  tile::share_among_last(blocks, pieces, reinterpret_cast<volatile u32*>(smem), [&](u32 piece) {
    const i64 at = static_cast<i64>(piece) * Config::kThreads + threadIdx.x;
    if (at >= p.n) return;
    float sum = 0.0f;
#pragma unroll 8
    for (int index = 0; index < p.split; ++index) sum += p.partials[index * p.n + at];
    tile::write_dbias<Bias>(p, at, sum);
  });
}

}  // namespace hstu
