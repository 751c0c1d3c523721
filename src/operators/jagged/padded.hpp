// What jagged_to_padded_dense and dense_to_jagged have in common as problems.
#pragma once

#include "operators/jagged/jagged_checks.hpp"

#include <span>

namespace hstujit::padded {

std::span<const FieldInfo> fields();

/// Checks the two forms of one tensor, and that `to` is apart from what is read; returns the key.
Problem check(Op op, const checks::Tensor& jagged, const checks::Tensor& dense, hstu_tensor& offsets, bool to_dense);

/// Rows written, and as many read where they exist.
Work work_of(const hstu_tensor& jagged, const hstu_tensor& dense, const hstu_tensor& offsets, bool to_dense);

}  // namespace hstujit::padded
