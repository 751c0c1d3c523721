// What the jagged operators that take lengths share: concat_1d_jagged, split_1d_jagged, jagged_remove_first_or_last_1d,
// replace_last_n_with_jagged, jagged_transpose_1d and jagged_truncate_history: the key, checks, cost and edge case.
#pragma once

#include "operators/jagged/jagged_checks.hpp"
#include "operators/key_fields.hpp"

#include <initializer_list>

namespace hstujit {

#define HSTUJIT_JAGGED_LENGTHS_FIELDS(X)                                                                       \
  X(kAccessBytes, access_bytes, exact) /* of an aligned access to all tensors of elements: 16, 8, 4, 2 or 1 */ \
  X(kRowBytes, row_bytes, exact)                                                                               \
  X(kLeftLength, left_length, dtype)   /* of num_targets where history is truncated */                         \
  X(kRightLength, right_length, dtype) /* NONE: one part */                                                    \
  X(kOffset, offset, dtype)            /* NONE, but of a transposition or truncation */                        \
  X(kBatch, batch, bucket)                                                                                     \
  X(kRows, rows, bucket)
HSTUJIT_KEY_FIELDS(jagged_lengths, HSTUJIT_JAGGED_LENGTHS_FIELDS)

}  // namespace hstujit

namespace hstujit::jagged_lengths {

/// A vector of lengths, one a sequence, no more than kernels count.
checks::Tensor lengths(const char* name, hstu_tensor& t);
/// Throws unless both have a length for each sequence.
void same_batch(const checks::Tensor& lengths, const checks::Tensor& like);

/// The outputs overlap neither themselves, nor each other, nor the inputs.
void separate(std::initializer_list<const checks::Tensor*> outputs,
              std::initializer_list<const checks::Tensor*> inputs);

/// a + b rows or elements. INVALID_ARGUMENT where they overflow.
int64_t added(const checks::Tensor& a, const checks::Tensor& b);

/// The key: tensors of elements decide about accesses; combined has the rows that are walked.
Problem problem(Op op, std::initializer_list<const checks::Tensor*> tensors, const checks::Tensor& combined,
                const hstu_tensor& left_lengths, hstu_dtype right_length, hstu_dtype offset);

/// Elements once read and once written, and integers.
Cost cost_of(const hstu_tensor& combined, std::initializer_list<const hstu_tensor*> integers);

/// Ragged lengths; returns their sum.
int64_t make_ragged(std::vector<int64_t>& lengths);

}  // namespace hstujit::jagged_lengths
