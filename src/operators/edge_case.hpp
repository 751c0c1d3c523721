// The steps that every make_edge_case() is made of, see Operator::edge_case.
#pragma once

#include <hstujit/hstujit.h>

#include <cstdint>
#include <initializer_list>
#include <vector>

namespace hstujit::edge_case {

/// Somewhat fewer rows, and an odd number of them: no multiple of any tile. Stays in the bucket of `rows`.
int64_t ragged(int64_t rows);

/// Sets the first extent of the tensors that are there.
void shorten_rows(int64_t rows, std::initializer_list<hstu_tensor*> tensors);

/// Length of sequence `index` of `batch`, at most `length`: every fourth is empty, the next has one row, the next a
/// ragged part of its rows, the next all of them; of fewer than four sequences each keeps a ragged part.
int64_t ragged_length(size_t index, size_t batch, int64_t length);

/// Offsets of sequences with ragged lengths; targets, unless empty, stay within them.
void make_ragged(std::vector<int64_t>& offsets, std::vector<int64_t>& targets);

}  // namespace hstujit::edge_case
