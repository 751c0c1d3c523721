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
  static constexpr bool kReadsAtOnce = true;
  using Piece = tile::Piece<Config::kAccessBytes>;

  HSTU_PRIM void find() {
    sequences.find(tile::sum_of_starts(left.starts, right.starts), left, right, p.batch, pieces, p.combined_rows);
  }

  HSTU_PRIM void load(Piece& piece, int access) const {
    const i64 row = pieces.row(access);
    if (row < p.combined_rows)
      piece.load(static_cast<const char*>(p.combined) + row * p.combined_row_stride + pieces.byte(access));
  }

  HSTU_PRIM void store(const Piece& piece, int access) const {
    const i64 row = pieces.row(access);
    if (row >= p.combined_rows) return;
    tile::SequenceParts parts;
    sequences.of(parts, tile::sum_of_starts(left.starts, right.starts), left, right, row);
    char* to = part_row(parts, row - parts.combined_start());
    if (to) piece.store(to + pieces.byte(access));
  }

  // Where row `local` of the sequence goes; null if it lies behind the sequence's end.
  HSTU_PRIM char* part_row(const tile::SequenceParts& s, i64 local) const {
    const i64 prefix = Config::kPrefix ? min(p.prefix, s.right_rows) : 0;
    if (local >= s.left_rows + s.right_rows) return nullptr;
    if (local < prefix) return right.row(s.sequence, s.right_start, local);
    if (local < prefix + s.left_rows) return left.row(s.sequence, s.left_start, local - prefix);
    return right.row(s.sequence, s.right_start, local - s.left_rows);
  }

  const JaggedCopyParams& p;
  const Left& left;
  const Right& right;
  tile::BlockSequences& sequences;
  tile::RowPieces<Config> pieces;
};

}  // namespace split_2d_jagged

template <class Config>
constexpr int split_2d_jagged_sm80_smem_bytes = tile::kJaggedCopySmemBytes;

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    split_2d_jagged_sm80(const __grid_constant__ JaggedCopyParams p) {
  extern __shared__ __align__(1024) unsigned char smem[];
  const tile::Part<typename Config::LeftOffset> left(p.left);
  const tile::Part<typename Config::RightOffset> right(p.right);
  using Copier = split_2d_jagged::Copier<Config, decltype(left), decltype(right)>;
  Copier copier{p, left, right, *reinterpret_cast<tile::BlockSequences*>(smem), tile::RowPieces<Config>(blockIdx.x)};
  tile::copy_rounds<Config>(copier);
}

}  // namespace hstu
