// What jagged_to_padded_dense and dense_to_jagged share: the key, checks and cost.
#pragma once

#include "operators/jagged/jagged_checks.hpp"
#include "operators/key_fields.hpp"

namespace hstujit {

#define HSTUJIT_PADDED_FIELDS(X)       \
  X(kAccessBytes, access_bytes, exact) \
  X(kRowBytes, row_bytes, exact)       \
  X(kOffsetDtype, offset_dtype, dtype) \
  X(kBatch, batch, bucket)             \
  X(kRows, rows, bucket) /* of what is written */
HSTUJIT_KEY_FIELDS(padded, HSTUJIT_PADDED_FIELDS)

}  // namespace hstujit

namespace hstujit::padded {

/// Checks the two forms of one tensor, and that `to` is apart from what is read; returns the key.
Problem check(Op op, const checks::Tensor& jagged, const checks::Tensor& dense, hstu_tensor& offsets, bool to_dense);

/// Rows written, and as many read where they exist.
Cost cost_of(const hstu_tensor& jagged, const hstu_tensor& dense, const hstu_tensor& offsets, bool to_dense);

}  // namespace hstujit::padded
