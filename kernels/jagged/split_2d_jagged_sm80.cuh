// The inverse of concat_2d_jagged_sm80: each row of the combined tensor goes back to the left or right part, sm80. Rows
// are read at once; their sequence is found while they come. See jagged/runs/jagged_copy.cuh.
//
// Config    facts and knobs of jagged/runs/jagged_copy.cuh.
// Sources   meta-recsys/generative-recommenders, split_2D_jagged.
#pragma once
#include "jagged/runs/jagged_copy.cuh"

namespace hstu {

namespace split_2d_jagged {

template <class Config, class Left, class Right>
struct Copier : tile::JaggedCopier<Config, Left, Right> {
  using Base = tile::JaggedCopier<Config, Left, Right>;
  enum : bool { kReadsAtOnce = true };

  HSTU_PRIM i64 rows() const { return Base::p.combined_rows; }
  HSTU_PRIM u64 density() const { return Base::p.combined_density; }
  HSTU_PRIM auto starts() const { return tile::sum_of_starts(Base::left.starts, Base::right.starts); }
  HSTU_PRIM const char* source(i64 row) const {
    return static_cast<const char*>(Base::p.combined) + row * Base::p.combined_row_stride;
  }
  HSTU_PRIM tile::CopiedSequence sequence(int index) const {
    const tile::SequenceParts s = Base::parts(index);
    return {s, s.combined_start(), s.combined_rows()};
  }
  HSTU_PRIM tile::RowAddresses addresses(const tile::CopiedSequence& s, i64 row) const {
    return {nullptr, part_row(s, row - s.first)};
  }

  // Where row `local` of the sequence goes.
  HSTU_PRIM char* part_row(const tile::CopiedSequence& s, i64 local) const {
    const i64 prefix = Base::prefix(s);
    if (local < prefix) return Base::right.row(s.sequence, s.right_start, local);
    if (local < prefix + s.left_rows) return Base::left.row(s.sequence, s.left_start, local - prefix);
    return Base::right.row(s.sequence, s.right_start, local - s.left_rows);
  }
};

}  // namespace split_2d_jagged

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, 1)
    split_2d_jagged_sm80(const __grid_constant__ JaggedCopyParams p) {
  const tile::Part<typename Config::LeftOffset> left(p.left);
  const tile::Part<typename Config::RightOffset> right(p.right);
  const split_2d_jagged::Copier<Config, decltype(left), decltype(right)> copier{{p, left, right}};
  tile::copy_block(copier, blockIdx.x);
}

}  // namespace hstu
