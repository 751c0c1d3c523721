// Offsets, lengths and numbers of targets in the references, with the checks that devices cannot make.
#pragma once

#include "problem/operators.hpp"
#include "support/element.hpp"

#include <cstdint>
#include <vector>

namespace hstujit::reference {

/// The offsets as numbers. Throws Error unless they start at 0, never decrease and stay within `rows`.
std::vector<int64_t> read_offsets(const char* name, const hstu_tensor& t, int64_t rows);

/// Throws Error unless they start at 0, never decrease and stay within `total`, which messages call `what`.
void check_offsets(const char* name, const hstu_tensor& t, int64_t total, const char* what);

/// Prefix sums, from 0, of lengths. Throws Error unless these are not negative and add up to `rows`.
std::vector<int64_t> sum_lengths(const char* name, const hstu_tensor& t, int64_t rows);

/// Offsets of `batch` sequences of `length` rows each.
std::vector<int64_t> dense_offsets(int64_t batch, int64_t length);

/// num_targets[b], or 0 where it is absent. Throws Error when it is negative.
int64_t targets_at(const hstu_tensor& num_targets, int64_t b);

}  // namespace hstujit::reference
