// Copies between a combined jagged tensor and its two parts, for concat_2d_jagged_sm80 and split_2d_jagged_sm80: see
// tile/warp_copy.cuh for the work of a warp. Sequence b of the combined tensor is
//
//   right[0 : prefix] | left | right[prefix :]        prefix = min(params.prefix, rows of right)
//
// Config    facts: LeftOffset, RightOffset (i32, i64, or tile::Dense); kAccessBytes (16, 8, 4, 2, 1), kRowAccesses
//           (pieces of a row), kPrefix (params.prefix may be positive).
//           knobs: kThreads, kAccesses (pieces a thread).
#pragma once
#include "jagged/jagged_copy.h"
#include "tile/warp_copy.cuh"

namespace hstu::tile {

// One part: where its sequences start and its rows lie.
template <class Offset>
struct Part {
  using Starts = SequenceStarts<Offset>;
  HSTU_PRIM explicit Part(const JaggedPart& part) : p(part), starts(part.offsets, part.length) {}

  HSTU_PRIM char* row(i64 row) const { return static_cast<char*>(p.data) + row * p.row_stride; }
  // Row `local` of a sequence that begins at `start`.
  HSTU_PRIM char* row(int sequence, i64 start, i64 local) const {
    if constexpr (Starts::kDense) return static_cast<char*>(p.data) + sequence * p.batch_stride + local * p.row_stride;
    return row(start + local);
  }

  const JaggedPart& p;
  const Starts starts;
};

// A sequence, its starts in both parts, and how many rows it has in each.
struct SequenceParts {
  i64 left_start, right_start, left_rows, right_rows;
  int sequence;

  SequenceParts() = default;
  template <class LeftStarts, class RightStarts>
  HSTU_PRIM SequenceParts(const LeftStarts& left, const RightStarts& right, int sequence)
      : left_start(left.start(sequence)),
        right_start(right.start(sequence)),
        left_rows(left.start(sequence + 1) - left_start),
        right_rows(right.start(sequence + 1) - right_start),
        sequence(sequence) {}
  HSTU_PRIM i64 combined_start() const { return left_start + right_start; }
  HSTU_PRIM i64 combined_rows() const { return left_rows + right_rows; }
};
// The same, and its rows in the tensor whose rows the warps share out.
struct CopiedSequence : SequenceParts {
  i64 first, count;
  HSTU_PRIM i64 begin() const { return first; }
  HSTU_PRIM i64 end() const { return first + count; }
};

// What copies either way have in common.
template <class Config, class Left, class Right>
struct JaggedCopier {
  enum : int {
    kRowPieces = Config::kRowAccesses,
    kPieceBytes = Config::kAccessBytes,
    kThreads = Config::kThreads,
    kAccesses = Config::kAccesses
  };

  HSTU_PRIM int batch() const { return p.batch; }
  HSTU_PRIM SequenceParts parts(int sequence) const { return {left.starts, right.starts, sequence}; }
  HSTU_PRIM static i64 byte_from(u32 piece) { return i64{piece} * kPieceBytes; }
  HSTU_PRIM static i64 byte_to(u32 piece) { return i64{piece} * kPieceBytes; }
  // Rows of right before left.
  HSTU_PRIM i64 prefix(const SequenceParts& s) const { return Config::kPrefix ? min(p.prefix, s.right_rows) : 0; }

  const JaggedCopyParams& p;
  const Left& left;
  const Right& right;
};

}  // namespace hstu::tile
