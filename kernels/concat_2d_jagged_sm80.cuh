// Concatenation of two jagged tensors sequence by sequence, or replacement of the last rows of each sequence, sm80. See
// tile/jagged_copy.cuh for the work of a block.
//
//   concatenation  blocks [0, left_blocks) read left, the others right: each row is read at once and written where it
//                  belongs.
//   replacement    out has left's rows; of sequence b the last ones are right's (its tail, where it is the longer one).
//                  Rows are found first: those of left that are replaced are not read.
//
// Config    facts and knobs of tile/jagged_copy.cuh; kReplace.
// Sources   meta-recsys/generative-recommenders, concat_2D_jagged and replace_last_n_with_jagged.
#pragma once
#include "tile/jagged_copy.cuh"

namespace hstu {

namespace concat_2d_jagged {

// Where row `local` of the left or right part of a sequence goes.
template <class Config, bool kLeft>
HSTU_PRIM i64 combined_row(const JaggedCopyParams& p, const tile::SequenceParts& s, i64 local) {
  const i64 prefix = Config::kPrefix ? min(p.prefix, s.right_rows) : 0;
  if (kLeft) return s.combined_start() + prefix + local;
  return s.combined_start() + local + (local < prefix ? 0 : s.left_rows);
}

// One part, `from`, which is left or right: its rows go where they belong.
template <class Config, bool kLeft, class From, class Left, class Right>
struct PartCopier {
  enum : bool { kReadsAtOnce = !From::Starts::kDense };

  HSTU_PRIM i64 rows() const { return from.p.rows; }
  HSTU_PRIM const auto& starts() const { return from.starts; }
  HSTU_PRIM const char* source(i64 row) const { return from.row(row); }

  HSTU_PRIM tile::SequenceParts parts(int sequence) const { return {left.starts, right.starts, sequence}; }
  HSTU_PRIM static i64 begin(const tile::SequenceParts& s) { return kLeft ? s.left_start : s.right_start; }
  HSTU_PRIM static i64 count(const tile::SequenceParts& s) { return kLeft ? s.left_rows : s.right_rows; }

  HSTU_PRIM tile::RowEnds ends(const tile::SequenceParts& s, i64 row) const {
    const i64 local = row - begin(s), to = combined_row<Config, kLeft>(p, s, local);
    return {from.row(s.sequence, begin(s), local), static_cast<char*>(p.combined) + to * p.combined_row_stride};
  }

  const JaggedCopyParams& p;
  const From& from;
  const Left& left;
  const Right& right;
};

template <class Config, bool kLeft, class From, class Left, class Right>
HSTU_PRIM void copy_part(const JaggedCopyParams& p, const From& from, const Left& left, const Right& right, i64 block,
                         unsigned char* smem) {
  const PartCopier<Config, kLeft, From, Left, Right> copier{p, from, left, right};
  tile::copy_block<Config>(copier, block, smem);
}

// Rows of out, each read from where it comes.
template <class Config, class Left, class Right>
struct Replacer {
  enum : bool { kReadsAtOnce = false };

  HSTU_PRIM i64 rows() const { return p.combined_rows; }
  HSTU_PRIM const auto& starts() const { return left.starts; }

  HSTU_PRIM tile::SequenceParts parts(int sequence) const { return {left.starts, right.starts, sequence}; }
  HSTU_PRIM static i64 begin(const tile::SequenceParts& s) { return s.left_start; }
  HSTU_PRIM static i64 count(const tile::SequenceParts& s) { return s.left_rows; }

  HSTU_PRIM tile::RowEnds ends(const tile::SequenceParts& s, i64 row) const {
    const i64 local = row - s.left_start, in_right = local - (s.left_rows - s.right_rows);
    return {in_right >= 0 ? right.row(s.sequence, s.right_start, in_right) : left.row(s.sequence, s.left_start, local),
            static_cast<char*>(p.combined) + row * p.combined_row_stride};
  }

  const JaggedCopyParams& p;
  const Left& left;
  const Right& right;
};

}  // namespace concat_2d_jagged

template <class Config>
constexpr int concat_2d_jagged_sm80_smem_bytes = tile::kJaggedCopySmemBytes<Config>;

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    concat_2d_jagged_sm80(const __grid_constant__ JaggedCopyParams p) {
  extern __shared__ __align__(1024) unsigned char smem[];
  const tile::Part<typename Config::LeftOffset> left(p.left);
  const tile::Part<typename Config::RightOffset> right(p.right);
  if constexpr (Config::kReplace) {
    const concat_2d_jagged::Replacer<Config, decltype(left), decltype(right)> copier{p, left, right};
    tile::copy_block<Config>(copier, blockIdx.x, smem);
  } else if (blockIdx.x < p.left_blocks) {
    concat_2d_jagged::copy_part<Config, true>(p, left, left, right, blockIdx.x, smem);
  } else {
    concat_2d_jagged::copy_part<Config, false>(p, right, left, right, blockIdx.x - p.left_blocks, smem);
  }
}

}  // namespace hstu
