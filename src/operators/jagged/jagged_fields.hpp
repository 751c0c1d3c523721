// Key fields of the jagged operators: indices into Problem::field, in the order of fields_of(op).
#pragma once

namespace hstujit {

/// concat_2d_jagged and split_2d_jagged.
namespace jagged_copy {
enum : int {
  kAccessBytes /* of an aligned access to all tensors: 16, 8, 4, 2 or 1 */,
  kRowBytes,
  kLeftOffset /* NONE: a dense part */,
  kRightOffset,
  kPrefix /* 0|1 */,
  kReplace /* 0|1 */,
  kBatch,
  kRows /* of the combined tensor */
};
}  // namespace jagged_copy

namespace jagged_bmm {
enum : int {
  kDtype,
  kOffsetDtype,
  kN,
  kK,
  kBias /* 0 none, 1 a row a sequence, 2 a row a row */,
  kBiasDtype,
  kDenseTransposed,
  kVectorX /* jagged */,
  kVectorW /* dense */,
  kVectorZ /* out and a bias of rows */,
  kBatch,
  kRows
};
}

/// concat_1d_jagged, split_1d_jagged, jagged_remove_first_or_last_1d, replace_last_n_with_jagged and
/// jagged_transpose_1d.
namespace jagged_lengths {
enum : int {
  kAccessBytes /* of an aligned access to all tensors of elements: 16, 8, 4, 2 or 1 */,
  kRowBytes,
  kLeftLength,
  kRightLength /* NONE: one part */,
  kOffset /* NONE, but of a transposition */,
  kBatch,
  kRows
};
}

namespace jagged_reduce {
enum : int { kDtype, kOutDtype, kOffsetDtype, kDim, kVector, kBatch, kRows };
}

/// jagged_to_padded_dense and dense_to_jagged.
namespace padded {
enum : int { kAccessBytes, kRowBytes, kOffsetDtype, kBatch, kRows /* of what is written */ };
}

namespace sort {
enum : int { kKeyDtype, kValueBytes, kCount };
/// sort_kv_pairs_sm80 and sort_by_length_sm80 take so many elements and fewer, sort_kv_parts_sm80 and
/// sort_by_length_parts_sm80 more.
constexpr int kMostByRank = 1 << 9;
}  // namespace sort
namespace sort_by_length {
enum : int { kOffsetDtype, kOutDtype, kCount };
}

namespace cumsum {
enum : int { kDtype, kOutDtype, kCount };
/// complete_cumsum_sm80 takes so many values and fewer, cumsum_tiles_sm80 more.
constexpr int kMostByBlocks = 1 << 15;
}  // namespace cumsum

namespace expand {
enum : int { kElementBytes, kOffsetDtype, kBatch, kMaxLen };
}

}  // namespace hstujit
