#include "operators/dense/product_results.hpp"

#include "operators/operators.hpp"

#include <algorithm>
#include <cmath>

namespace hstujit::reference {

void load_added(const hstu_tensor& bias, const Block& block, double* sums) {
  if (!present(bias)) {
    std::fill_n(sums, block.rows * block.columns, 0.0);
    return;
  }
  const int64_t stride = bias.stride[bias.rank - 1], row_stride = bias.rank == 2 ? bias.stride[0] : 0;
  for (int64_t r = 0; r < block.rows; ++r)
    load_strided(bias, (block.row + r) * row_stride + block.column * stride, stride, block.columns,
                 sums + r * block.columns);
}

ProductResults::ProductResults(std::initializer_list<const hstu_tensor*> parts, hstu_activation activation,
                               int64_t activation_columns, double* const* exact)
    : activation_(activation), activation_columns_(activation_columns) {
  int64_t first = 0;
  int index = 0;
  for (const hstu_tensor* t : parts) {
    if (present(*t)) parts_.push_back({first, first += t->shape[1], Output(*t, exact, index)});
    ++index;
  }
}

ProductResults::ProductResults(std::initializer_list<const hstu_tensor*> parts, const hstu_tensor& descale,
                               hstu_activation activation, int64_t activation_columns, double* const* exact)
    : ProductResults(parts, activation, activation_columns, exact) {
  if (!present(descale)) return;
  multiplier_ = 1 / *static_cast<const float*>(descale.data);
  largest_ = (*parts.begin())->dtype == HSTU_DTYPE_E4M3 ? 448 : 57344;
}

void ProductResults::write(const Block& block, double* sums) const {
  const int64_t activated = std::clamp<int64_t>(activation_columns_ - block.column, 0, block.columns);
  for (int64_t r = 0; r < block.rows; ++r) {
    double* row = sums + r * block.columns;
    for (int64_t j = 0; j < activated; ++j) row[j] = activate(activation_, row[j]);
    if (largest_ > 0)
      for (int64_t j = 0; j < block.columns; ++j) {
        row[j] = static_cast<double>(static_cast<float>(row[j]) * multiplier_);
        if (std::fabs(row[j]) > largest_) row[j] = std::copysign(largest_, row[j]);
      }
    for (const Part& part : parts_) {
      const int64_t begin = std::max(block.column, part.begin), end = std::min(block.column + block.columns, part.end);
      if (begin < end) part.output.write(block.row + r, begin - part.begin, end - begin, row + (begin - block.column));
    }
  }
}

}  // namespace hstujit::reference
