// The order of rows in a combined jagged tensor, for its references.
#pragma once

#include "problem/jagged/jagged_copy.hpp"
#include "reference/jagged/jagged_rows.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace hstujit::reference {

/// Where the sequences of both parts begin. Throws Error where offsets are impossible.
struct PartOffsets {
  std::vector<int64_t> left, right;

  int64_t rows(const std::vector<int64_t>& part, size_t sequence) const { return part[sequence + 1] - part[sequence]; }
};
PartOffsets part_offsets(const jagged_copy::Parts& parts, const hstu_tensor& offsets_left,
                         const hstu_tensor& offsets_right);

/// Calls body(combined row, is right, row of that part) for every row of every sequence.
void for_each_combined_row(const PartOffsets& offsets, int64_t prefix,
                           const std::function<void(int64_t, bool, int64_t)>& body);

/// The last rows of each of left's sequences become right's: all of them, or as many of the last as there is room for.
void replace_last_rows(const PartOffsets& offsets, const hstu_tensor& left, const hstu_tensor& right, int64_t dim,
                       const RowCopies& out);

}  // namespace hstujit::reference
