// The inverse of concat_2d_jagged_sm80: each row of the combined tensor goes back to the left or right part, sm80. Rows
// are read at once; their sequence is found while they come. See tile/jagged_copy.cuh for the work of a block.
//
// Config    facts and knobs of tile/jagged_copy.cuh.
// Sources   meta-recsys/generative-recommenders, split_2D_jagged.
#pragma once
#include "tile/jagged_copy.cuh"

namespace hstu {

namespace split_2d_jagged {

template <class Config, class Left, class Right>
struct Copier {
  enum : bool { kReadsAtOnce = true };

  HSTU_PRIM i64 rows() const { return p.combined_rows; }
  HSTU_PRIM auto starts() const { return tile::sum_of_starts(left.starts, right.starts); }
  HSTU_PRIM const char* source(i64 row) const {
    return static_cast<const char*>(p.combined) + row * p.combined_row_stride;
  }
  HSTU_PRIM tile::SequenceParts parts(int sequence) const { return {left.starts, right.starts, sequence}; }
  HSTU_PRIM static i64 begin(const tile::SequenceParts& s) { return s.combined_start(); }
  HSTU_PRIM static i64 count(const tile::SequenceParts& s) { return s.left_rows + s.right_rows; }
  HSTU_PRIM tile::RowEnds ends(const tile::SequenceParts& s, i64 row) const {
    return {nullptr, part_row(s, row - begin(s))};
  }

  // Where row `local` of the sequence goes.
  HSTU_PRIM char* part_row(const tile::SequenceParts& s, i64 local) const {
    const i64 prefix = Config::kPrefix ? min(p.prefix, s.right_rows) : 0;
    if (local < prefix) return right.row(s.sequence, s.right_start, local);
    if (local < prefix + s.left_rows) return left.row(s.sequence, s.left_start, local - prefix);
    return right.row(s.sequence, s.right_start, local - s.left_rows);
  }

  const JaggedCopyParams& p;
  const Left& left;
  const Right& right;
};

}  // namespace split_2d_jagged

template <class Config>
constexpr int split_2d_jagged_sm80_smem_bytes = tile::kJaggedCopySmemBytes<Config>;

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    split_2d_jagged_sm80(const __grid_constant__ JaggedCopyParams p) {
  extern __shared__ __align__(1024) unsigned char smem[];
  const tile::Part<typename Config::LeftOffset> left(p.left);
  const tile::Part<typename Config::RightOffset> right(p.right);
  const split_2d_jagged::Copier<Config, decltype(left), decltype(right)> copier{p, left, right};
  tile::copy_block<Config>(copier, blockIdx.x, smem);
}

}  // namespace hstu
