// A second shape of the same problem for checking candidates: what a tuned record must survive besides the batch it was
// measured on. Ragged tails everywhere; in jagged operators also empty sequences and sequences of one row.
#pragma once

#include "problem/operators.hpp"

#include <cstdint>
#include <vector>

namespace hstujit {

/// Contents of the integer tensors, in the order of Operator::tensors; empty for the others.
using Integers = std::vector<std::vector<int64_t>>;

/// Changes prepared args and their integers in place. No tensor grows, so buffers made for the original do; shapes
/// change in their first dimension only and strides stay.
void make_edge_case(const Operator& op, void* args, Integers& integers);

}  // namespace hstujit
