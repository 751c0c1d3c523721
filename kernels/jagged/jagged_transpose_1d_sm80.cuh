// Transposition of a matrix of jagged segments, sm80: segment i * columns + j becomes j * segment_rows + i. New offsets
// and lengths, where they are asked for, are written as the lengths are added up, each by one block. See
// jagged/runs/runs_by_lengths.cuh; "left" are the segments in their old order.
//
// Config    facts and knobs of jagged/runs/runs_by_lengths.cuh, RightLength tile::Dense; Offset (of offsets, old and
// new). Sources   meta-recsys/generative-recommenders, jagged_transpose_1d.
#pragma once
#include "jagged/runs/runs_by_lengths.cuh"

namespace hstu {

namespace jagged_transpose_1d {

template <class Config>
struct Copy : tile::VectorCopy<Config> {
  using Row = typename Config::Row;
  using Sums = tile::RowSums<Row>;
  enum : int { kRunsASequence = 1, kOutputs = 1 };
  enum : bool { kOther = true, kGivenOther = true, kReordered = true };
  using Length = typename Config::LeftLength;
  using Offset = typename Config::Offset;
  HSTU_PRIM explicit Copy(const JaggedLengthsParams& p) : p(p) {}

  HSTU_PRIM char* out(int) const { return static_cast<char*>(p.combined); }
  HSTU_PRIM Row rows_of(int) const { return static_cast<Row>(p.rows); }
  HSTU_PRIM u64 density(int) const { return static_cast<u64>(p.density); }
  HSTU_PRIM Sums lengths(u32 segment) const {
    const u32 rows = static_cast<u32>(p.segment_rows), columns = static_cast<u32>(p.columns);
    return lengths_at(segment % rows * columns + segment / rows);
  }
  HSTU_PRIM Sums lengths_at(u32 source) const {
    const Offset* offset = static_cast<const Offset*>(p.offsets) + source;
    const Row from = static_cast<Row>(*offset);
    // The same choice for all threads; without lengths, offsets say them.
    if (p.left_lengths == nullptr) return {static_cast<Row>(offset[1]) - from, from};
    return {static_cast<Row>(static_cast<const Length*>(p.left_lengths)[source]), from};
  }
  // Of the source-th length, and of those `step` further each.
  struct Sequences {
    const u32 rows, columns, rows_on, columns_on;
    u32 row, column;
    HSTU_PRIM u32 sequence() const { return column * rows + row; }
    HSTU_PRIM void go_on() {
      row += rows_on;
      column += columns_on;
      if (column < columns) return;
      column -= columns;
      ++row;
    }
  };
  HSTU_PRIM Sequences sequences_at(u32 source, u32 step) const {
    const u32 columns = static_cast<u32>(p.columns);
    return {
        static_cast<u32>(p.segment_rows), columns, step / columns, step % columns, source / columns, source % columns};
  }
  HSTU_PRIM static Row key(int, const Sums& sums) { return sums.out; }
  HSTU_PRIM void finish(u32 segment, const Sums& before, const Sums& rows) const {
    if (p.out_lengths) static_cast<Length*>(p.out_lengths)[segment] = static_cast<Length>(rows.out);
    if (!p.out_offsets) return;
    static_cast<Offset*>(p.out_offsets)[segment] = static_cast<Offset>(before.out);
    if (segment + 1 == static_cast<u32>(p.batch))
      static_cast<Offset*>(p.out_offsets)[p.batch] = static_cast<Offset>(before.out + rows.out);
  }

  HSTU_PRIM const void* read() const { return p.left; }
  HSTU_PRIM i64 rows_read() const { return p.rows; }
  // The first segments of each row of the matrix.
  HSTU_PRIM i64 prefetch_base(u32 warp) const {
    const u32 rows = static_cast<u32>(p.segment_rows), columns = static_cast<u32>(p.columns);
    return static_cast<i64>(static_cast<const Offset*>(p.offsets)[warp % rows * columns]);
  }
  HSTU_PRIM i64 prefetch_row(u32 warp, i64 each) const { return warp / static_cast<u32>(p.segment_rows) * each; }

  template <class Before>
  struct Runs {
    using Row = typename Config::Row;
    const JaggedLengthsParams& p;
    const Before& sums;
    HSTU_PRIM Runs(const JaggedLengthsParams& p, int, const Before& sums) : p(p), sums(sums) {}
    HSTU_PRIM Row start(int run) const { return sums.out(run); }
    HSTU_PRIM u64 from(int run) const { return Copy::address(p.left, sums.other(run) - sums.out(run)); }
    HSTU_PRIM u64 begin(int) const { return reinterpret_cast<u64>(p.left); }
    HSTU_PRIM u64 end(int) const { return Copy::address(p.left, p.rows); }
  };
  const JaggedLengthsParams& p;
};

}  // namespace jagged_transpose_1d

template <class Config>
constexpr int jagged_transpose_1d_sm80_smem_bytes = tile::runs_by_lengths_smem_bytes<Config>;

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    jagged_transpose_1d_sm80(const __grid_constant__ JaggedLengthsParams p) {
  extern __shared__ __align__(1024) unsigned char smem[];
  if (p.batch == 0 && threadIdx.x == 0 && p.out_offsets) static_cast<typename Config::Offset*>(p.out_offsets)[0] = 0;
  tile::RunsByLengths<Config, jagged_transpose_1d::Copy<Config>>(p, smem).run();
}

}  // namespace hstu
