// Offsets, lengths and numbers of targets on the host, and the checks of the references that devices cannot make:
// before anything else, so that a refused call has neither read nor written through them.
#pragma once

#include "operators/operators.hpp"
#include "support/element.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace hstujit {

/// num_targets[b] of a sequence of `rows` rows; 0 where the tensor is absent. A number beyond the rows, up to the
/// largest there is, stands for all of them: limited before anything is added to it.
inline int64_t targets_of(const hstu_tensor& num_targets, int64_t b, int64_t rows) {
  if (!present(num_targets)) return 0;
  return std::clamp<int64_t>(integer_at(num_targets, b), 0, std::max<int64_t>(rows, 0));
}

namespace reference {

/// The offsets as numbers. Throws Error unless they start at 0, never decrease and stay within `rows`.
std::vector<int64_t> read_offsets(const char* name, const hstu_tensor& t, int64_t rows);

/// Throws Error unless they start at 0, never decrease and stay within `total`, which messages call `what`.
void check_offsets(const char* name, const hstu_tensor& t, int64_t total, const char* what);

/// Prefix sums, from 0, of lengths. Throws Error unless each is `least` at least and they add up to `rows`.
std::vector<int64_t> sum_lengths(const char* name, const hstu_tensor& t, int64_t rows, int64_t least = 0);

/// Offsets of `batch` sequences of `length` rows each.
std::vector<int64_t> dense_offsets(int64_t batch, int64_t length);

/// Throws Error where numbers of rows, num_targets or num_contexts, are negative; the tensor may be absent.
void check_counts(const char* name, const hstu_tensor& t);

}  // namespace reference

}  // namespace hstujit
