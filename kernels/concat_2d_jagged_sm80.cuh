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

// Reads one part, `from`, which is left or right, and writes its rows where they belong.
template <class Config, bool kLeft, class From, class Left, class Right>
struct PartCopier {
  static constexpr bool kReadsAtOnce = !From::Starts::kDense;
  using Piece = tile::Piece<Config::kAccessBytes>;

  HSTU_PRIM void find() { sequences.find(from.starts, left, right, p.batch, pieces, from.p.rows); }

  HSTU_PRIM void load(Piece& piece, int access) const {
    const i64 row = pieces.row(access);
    if (row >= from.p.rows) return;
    if constexpr (kReadsAtOnce) {
      piece.load(from.row(row) + pieces.byte(access));
    } else {
      tile::SequenceParts parts;
      sequences.of(parts, from.starts, left, right, row);
      const i64 start = kLeft ? parts.left_start : parts.right_start;
      if (row - start < rows_of(parts)) piece.load(from.row(parts.sequence, start, row - start) + pieces.byte(access));
    }
  }

  HSTU_PRIM void store(const Piece& piece, int access) const {
    const i64 row = pieces.row(access);
    if (row >= from.p.rows) return;
    tile::SequenceParts parts;
    sequences.of(parts, from.starts, left, right, row);
    const i64 local = row - (kLeft ? parts.left_start : parts.right_start);
    if (local >= rows_of(parts)) return;  // behind the last sequence
    char* to = static_cast<char*>(p.combined) + combined_row<Config, kLeft>(p, parts, local) * p.combined_row_stride;
    piece.store(to + pieces.byte(access));
  }

  HSTU_PRIM static i64 rows_of(const tile::SequenceParts& parts) { return kLeft ? parts.left_rows : parts.right_rows; }

  const JaggedCopyParams& p;
  const From& from;
  const Left& left;
  const Right& right;
  tile::BlockSequences& sequences;
  tile::RowPieces<Config> pieces;
};

template <class Config, bool kLeft, class From, class Left, class Right>
HSTU_PRIM void copy_part(const JaggedCopyParams& p, const From& from, const Left& left, const Right& right,
                         tile::BlockSequences& sequences, i64 block) {
  PartCopier<Config, kLeft, From, Left, Right> copier{p, from, left, right, sequences, tile::RowPieces<Config>(block)};
  tile::copy_rounds<Config>(copier);
}

// Writes rows of out, each found and then read from where it comes.
template <class Config, class Left, class Right>
struct Replacer {
  static constexpr bool kReadsAtOnce = false;
  using Piece = tile::Piece<Config::kAccessBytes>;

  HSTU_PRIM void find() { sequences.find(left.starts, left, right, p.batch, pieces, p.combined_rows); }

  HSTU_PRIM void load(Piece& piece, int access) const {
    tile::SequenceParts parts;
    const i64 local = locate(parts, pieces.row(access));
    if (local < 0) return;
    const i64 in_right = local - (parts.left_rows - parts.right_rows);
    const char* from = in_right >= 0 ? right.row(parts.sequence, parts.right_start, in_right)
                                     : left.row(parts.sequence, parts.left_start, local);
    piece.load(from + pieces.byte(access));
  }

  HSTU_PRIM void store(const Piece& piece, int access) const {
    tile::SequenceParts parts;
    const i64 row = pieces.row(access);
    if (locate(parts, row) < 0) return;
    piece.store(static_cast<char*>(p.combined) + row * p.combined_row_stride + pieces.byte(access));
  }

  // The row's place in its sequence; negative if it is in none.
  HSTU_PRIM i64 locate(tile::SequenceParts& parts, i64 row) const {
    if (row >= p.combined_rows) return -1;
    sequences.of(parts, left.starts, left, right, row);
    const i64 local = row - parts.left_start;
    return local < parts.left_rows ? local : -1;
  }

  const JaggedCopyParams& p;
  const Left& left;
  const Right& right;
  tile::BlockSequences& sequences;
  tile::RowPieces<Config> pieces;
};

}  // namespace concat_2d_jagged

template <class Config>
constexpr int concat_2d_jagged_sm80_smem_bytes = tile::kJaggedCopySmemBytes;

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kMinBlocks)
    concat_2d_jagged_sm80(const __grid_constant__ JaggedCopyParams p) {
  extern __shared__ __align__(1024) unsigned char smem[];
  auto& sequences = *reinterpret_cast<tile::BlockSequences*>(smem);
  const tile::Part<typename Config::LeftOffset> left(p.left);
  const tile::Part<typename Config::RightOffset> right(p.right);
  if constexpr (Config::kReplace) {
    using Copier = concat_2d_jagged::Replacer<Config, decltype(left), decltype(right)>;
    Copier copier{p, left, right, sequences, tile::RowPieces<Config>(blockIdx.x)};
    tile::copy_rounds<Config>(copier);
  } else if (blockIdx.x < p.left_blocks) {
    concat_2d_jagged::copy_part<Config, true>(p, left, left, right, sequences, blockIdx.x);
  } else {
    concat_2d_jagged::copy_part<Config, false>(p, right, left, right, sequences, blockIdx.x - p.left_blocks);
  }
}

}  // namespace hstu
