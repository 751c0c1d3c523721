// What the jagged operators that take lengths have in common as problems.
#pragma once

#include "operators/jagged/jagged_checks.hpp"

#include <initializer_list>
#include <span>

namespace hstujit::jagged_lengths {

std::span<const FieldInfo> fields();

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
Work work_of(const hstu_tensor& combined, std::initializer_list<const hstu_tensor*> integers);

/// Ragged lengths; returns their sum.
int64_t make_ragged(std::vector<int64_t>& lengths);

}  // namespace hstujit::jagged_lengths
