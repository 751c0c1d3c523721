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
  kContextual /* 0|1 */,
  kMaxAttnLen /* 0|1 */,
  kMinFullAttn /* 0|1 */,
  kAttnScale /* 0 none, 1 scalar, 2 rows */,
  kVector,
  kBatch,
  kTotal,
  kMaxSeqLen
};
}

}  // namespace hstujit
