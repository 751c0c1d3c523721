// Concatenation of two jagged tensors sequence by sequence, or replacement of the last rows of each sequence, sm80. See
// jagged/runs/jagged_copy.cuh.
//
//   concatenation  a block reads left or right: each row is read at once and written where it belongs. Right's blocks
//                  are spread among left's, so that both write near the same place, as a plain copy does.
//   replacement    out has left's rows; of sequence b the last ones are right's (its tail, where it is the longer one).
//                  Rows are found first: those of left that are replaced are not read.
//
// Config    facts and knobs of jagged/runs/jagged_copy.cuh; kReplace.
// Sources   meta-recsys/generative-recommenders, concat_2D_jagged and replace_last_n_with_jagged.
#pragma once
#include "jagged/runs/jagged_copy.cuh"

namespace hstu {

namespace concat_2d_jagged {

// One part, left or right: its rows go where they belong.
template <class Config, bool kLeft, class From, class Left, class Right>
struct PartCopier : tile::JaggedCopier<Config, Left, Right> {
  using Base = tile::JaggedCopier<Config, Left, Right>;
  enum : bool { kReadsAtOnce = !From::Starts::kDense };

  HSTU_PRIM i64 rows() const { return from.p.rows; }
  HSTU_PRIM u64 density() const { return from.p.density; }
  HSTU_PRIM const auto& starts() const { return from.starts; }
  HSTU_PRIM const char* source(i64 row) const { return from.row(row); }

  HSTU_PRIM tile::CopiedSequence sequence(int index) const {
    const tile::SequenceParts s = Base::parts(index);
    return kLeft ? tile::CopiedSequence{s, s.left_start, s.left_rows}
                 : tile::CopiedSequence{s, s.right_start, s.right_rows};
  }
  HSTU_PRIM tile::RowAddresses addresses(const tile::CopiedSequence& s, i64 row) const {
    const i64 local = row - s.first, to = s.combined_start() + combined_row(s, local);
    return {from.row(s.sequence, s.first, local),
            static_cast<char*>(Base::p.combined) + to * Base::p.combined_row_stride};
  }
  // Where row `local` of the part's sequence goes in the combined one.
  HSTU_PRIM i64 combined_row(const tile::CopiedSequence& s, i64 local) const {
    const i64 prefix = Base::prefix(s);
    return kLeft ? prefix + local : local < prefix ? local : local + s.left_rows;
  }

  const From& from;
};

// Rows of out, each read from where it comes.
template <class Config, class Left, class Right>
struct Replacer : tile::JaggedCopier<Config, Left, Right> {
  using Base = tile::JaggedCopier<Config, Left, Right>;
  enum : bool { kReadsAtOnce = false };

  HSTU_PRIM i64 rows() const { return Base::p.combined_rows; }
  HSTU_PRIM u64 density() const { return Base::left.p.density; }
  HSTU_PRIM const auto& starts() const { return Base::left.starts; }

  HSTU_PRIM tile::CopiedSequence sequence(int index) const {
    const tile::SequenceParts s = Base::parts(index);
    return {s, s.left_start, s.left_rows};
  }
  HSTU_PRIM tile::RowAddresses addresses(const tile::CopiedSequence& s, i64 row) const {
    const i64 local = row - s.left_start, in_right = local - (s.left_rows - s.right_rows);
    return {in_right >= 0 ? Base::right.row(s.sequence, s.right_start, in_right)
                          : Base::left.row(s.sequence, s.left_start, local),
            static_cast<char*>(Base::p.combined) + row * Base::p.combined_row_stride};
  }
};

template <class Config, bool kLeft, class From, class Left, class Right>
HSTU_PRIM void copy_part(const JaggedCopyParams& p, const From& from, const Left& left, const Right& right, u32 block) {
  const PartCopier<Config, kLeft, From, Left, Right> copier{{p, left, right}, from};
  tile::copy_block(copier, block);
}

}  // namespace concat_2d_jagged

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, 1)
    concat_2d_jagged_sm80(const __grid_constant__ JaggedCopyParams p) {
  using namespace concat_2d_jagged;
  const tile::Part<typename Config::LeftOffset> left(p.left);
  const tile::Part<typename Config::RightOffset> right(p.right);
  if constexpr (Config::kReplace) {
    const Replacer<Config, decltype(left), decltype(right)> copier{{p, left, right}};
    tile::copy_block(copier, blockIdx.x);
  } else {
    const u32 right_before = static_cast<u32>(blockIdx.x * static_cast<u64>(p.right_share) >> 32),
              right_here = static_cast<u32>((blockIdx.x + u64{1}) * static_cast<u64>(p.right_share) >> 32);
    if (right_before == right_here)
      copy_part<Config, true>(p, left, left, right, blockIdx.x - right_before);
    else
      copy_part<Config, false>(p, right, left, right, right_before);
  }
}

}  // namespace hstu
