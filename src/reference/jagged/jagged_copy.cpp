#include "reference/jagged/jagged_copy.hpp"

#include "reference/integers.hpp"

#include <algorithm>

namespace hstujit::reference {

PartOffsets part_offsets(const jagged_copy::Parts& parts, const hstu_tensor& offsets_left,
                         const hstu_tensor& offsets_right) {
  const auto of = [&](const char* name, const JaggedPartFacts& part, const hstu_tensor& offsets) {
    return part.dense ? dense_offsets(parts.batch, part.length) : read_offsets(name, offsets, part.rows);
  };
  return {of("offsets_left", parts.left, offsets_left), of("offsets_right", parts.right, offsets_right)};
}

void for_each_combined_row(const PartOffsets& offsets, int64_t prefix,
                           const std::function<void(int64_t, bool, int64_t)>& body) {
  for (size_t b = 0; b + 1 < offsets.left.size(); ++b) {
    const int64_t a = offsets.rows(offsets.left, b), c = offsets.rows(offsets.right, b), p = std::min(prefix, c);
    int64_t row = offsets.left[b] + offsets.right[b];
    for (int64_t i = 0; i < p; ++i) body(row++, true, offsets.right[b] + i);
    for (int64_t i = 0; i < a; ++i) body(row++, false, offsets.left[b] + i);
    for (int64_t i = p; i < c; ++i) body(row++, true, offsets.right[b] + i);
  }
}

void replace_last_rows(const PartOffsets& offsets, const hstu_tensor& left, const hstu_tensor& right, int64_t dim,
                       const RowCopies& out) {
  for (size_t b = 0; b + 1 < offsets.left.size(); ++b) {
    const int64_t a = offsets.rows(offsets.left, b), c = offsets.rows(offsets.right, b);
    for (int64_t t = 0; t < a; ++t) {
      const bool from_right = t >= a - c;
      const hstu_tensor& from = from_right ? right : left;
      const int64_t row = from_right ? offsets.right[b] + t - (a - c) : offsets.left[b] + t;
      out.copy(offsets.left[b] + t, from, RowCopies::start_of(from, row), dim);
    }
  }
}

}  // namespace hstujit::reference
