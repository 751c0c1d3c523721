// Key fields of attention: indices into Problem::field, in the order of fields_of(op).
#pragma once

namespace hstujit {

namespace attention {
enum : int {
  kDtype,
  kHeadDimQk,
  kHeadDimV,
  kNumHeads,
  kOffsetDtype,
  kTargetDtype /* NONE without targets */,
  kMask /* hstu_mask */,
  kContextual /* 0 none, 1 one length, 2 a length a sequence */,
  kMaxAttnLen /* 0|1 */,
  kMinFullAttn /* 0|1 */,
  kAttnScale /* 0 none, 1 scalar, 2 rows */,
  kVector,
  kBatch,
  kTotal,
  kMaxSeqLen,
  kTargetGroups /* 0|1 */,
  kIntervals /* how many; 0 unless the mask has them */,
  kSoftmaxHeads /* 0 none, 1 all, 2 some */,
  kLse /* 0|1 */,
  kRab /* attention_extras::kBias... */,
  kHeadsPerKv,
  kMoments /* 0|1 */
};
}

/// The fields of hstu_attention up to kIntervals, at the same places: dtype is out's, vector the bytes of an access to
/// q, k and v, up to 16.
namespace attention_fp8 {
enum : int {
  kScaling = attention::kIntervals + 1 /* hstu_fp8_attention_scaling */,
  kVectorOut,
  kFastSums,
  kHeadsPerKv
};
}

/// Of delta_hstu_attention and paged_hstu_attention alike.
namespace delta_attention {
enum : int {
  kDtype,
  kHeadDimQk,
  kHeadDimV,
  kNumHeads,
  kHeadsPerKv,
  kOffsetDtype /* NONE when paged */,
  kQOffsetDtype /* NONE: as many new rows in every sequence */,
  kTargetDtype /* NONE without targets */,
  kPageDtype /* NONE unless paged */,
  kPageSize,
  kMask /* hstu_mask */,
  kContextual /* 0 none, 1 one length, 2 a length a sequence */,
  kMaxAttnLen /* 0|1 */,
  kMinFullAttn /* 0|1 */,
  kTargetGroups /* 0|1 */,
  kIntervals /* how many; 0 unless the mask has them */,
  kAttnScale /* 0 none, 1 scalar, 2 rows */,
  kVector,
  kBatch,
  kMaxQLen,
  kMaxSeqLen,
  kRab /* attention_extras::kBias... */,
  kPageGaps /* 0|1: cache_pages::page_rows says 0 */
};
}

namespace rel_bias {
enum : int { kDtype /* of rab */, kTableDtype, kNumHeads, kVector, kBatch, kPositions };
}

namespace append_kv_cache {
enum : int {
  kElementBytes,
  kHeadDimQk,
  kHeadDimV,
  kNumHeads,
  kOffsetDtype /* NONE: as many new rows in every sequence */,
  kTargetDtype /* NONE without targets */,
  kPageDtype,
  kPageSize,
  kVector /* bytes an access */,
  kBatch,
  kTotal
};
}

namespace flash_attention {
enum : int {
  kDtype,
  kHeadDimQk,
  kHeadDimV,
  kNumHeads,
  kOffsetDtype /* NONE: dense */,
  kMask /* hstu_mask */,
  kLse /* 0|1 */,
  kVector,
  kBatch,
  kQueries /* of a sequence; jagged: of all */,
  kKeys /* of a sequence; jagged: max_seq_len */
};
}

}  // namespace hstujit
