// Results of the jagged references: rows copied, bits unchanged into a tensor or values into a buffer of doubles; and
// integers.
#pragma once

#include "operators/operators.hpp"
#include "operators/reference.hpp"
#include "support/element.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace hstujit::reference {

/// Where rows of an output go. exact: as Operator::reference takes it; output: index among the operator's outputs.
class RowCopies {
 public:
  RowCopies(const hstu_tensor& to, double* const* exact, int output = 0)
      : to_(to), exact_(exact ? exact[output] : nullptr), skipped_(exact && !exact_) {}

  /// Row `row` of the output, counted over all dimensions but the last, becomes the `count` elements of `from` that
  /// begin `offset` elements after its data. Rows of a vector are elements.
  void copy(int64_t row, const hstu_tensor& from, int64_t offset, int64_t count) const {
    copy_at(row, 0, from, offset, count);
  }

  /// The same for elements from column `column` on.
  void copy_at(int64_t row, int64_t column, const hstu_tensor& from, int64_t offset, int64_t count) const {
    if (skipped_ || count == 0) return;
    if (exact_) return load(from, offset, count, exact_ + exact_start(row) + column);
    const auto size = static_cast<int64_t>(size_of(from.dtype));
    std::memcpy(static_cast<std::byte*>(to_.data) + (start_of(to_, row) + column) * size,
                static_cast<const std::byte*>(from.data) + offset * size, static_cast<size_t>(count * size));
  }

  /// One element becomes 0.
  void clear(int64_t row, int64_t column) const {
    if (skipped_) return;
    if (exact_) {
      exact_[exact_start(row) + column] = 0;
    } else {
      const auto size = static_cast<int64_t>(size_of(to_.dtype));
      std::memset(static_cast<std::byte*>(to_.data) + (start_of(to_, row) + column) * size, 0,
                  static_cast<size_t>(size));
    }
  }

  /// Element offset of a row, counted likewise.
  static int64_t start_of(const hstu_tensor& t, int64_t row) {
    if (t.rank == 1) return row;
    if (t.rank == 2) return row * t.stride[0];
    return row / t.shape[1] * t.stride[0] + row % t.shape[1] * t.stride[1];
  }

 private:
  int64_t exact_start(int64_t row) const { return to_.rank == 1 ? row : row * to_.shape[to_.rank - 1]; }

  const hstu_tensor& to_;
  double* exact_;
  bool skipped_;
};

/// Integers as results, into the tensor or as numbers into a buffer.
inline void write_integers(const hstu_tensor& to, double* const* exact, int output,
                           const std::vector<int64_t>& values) {
  const std::vector<double> numbers(values.begin(), values.end());
  Output(to, exact, output).write(0, 0, static_cast<int64_t>(numbers.size()), numbers.data());
}

}  // namespace hstujit::reference
