#include "operators/dense/product.hpp"

#include "operators/operators.hpp"

#include <algorithm>
#include <cmath>

namespace hstujit::reference {
namespace {

constexpr int64_t kBlockRows = 8;       ///< rows that share one pass over the weight
constexpr int64_t kBlockColumns = 256;  ///< columns whose sums stay in the first-level cache

/// sums += x[0..4) times four rows of the weight; four at once, because loading and storing sums is what takes time.
void add_four(const double* x, const double* w, int64_t w_stride, int64_t columns, double* __restrict sums) {
  const double *w1 = w + w_stride, *w2 = w1 + w_stride, *w3 = w2 + w_stride;
  for (int64_t j = 0; j < columns; ++j) sums[j] += x[0] * w[j] + x[1] * w1[j] + x[2] * w2[j] + x[3] * w3[j];
}

}  // namespace

void load_strided(const hstu_tensor& t, int64_t offset, int64_t stride, int64_t count, double* out) {
  if (stride == 1) return load(t, offset, count, out);
  for (int64_t i = 0; i < count; ++i) load(t, offset + i * stride, 1, out + i);
}

std::vector<double> load_matrix(const hstu_tensor& t) {
  const int64_t rows = t.shape[0], columns = t.shape[1];
  std::vector<double> out(static_cast<size_t>(rows * columns));
  if (t.stride[1] == 1 || t.stride[0] != 1) {
    for (int64_t i = 0; i < rows; ++i) load_strided(t, i * t.stride[0], t.stride[1], columns, out.data() + i * columns);
    return out;
  }
  std::vector<double> column(static_cast<size_t>(rows));
  for (int64_t j = 0; j < columns; ++j) {
    load(t, j * t.stride[1], rows, column.data());
    for (int64_t i = 0; i < rows; ++i) out[static_cast<size_t>(i * columns + j)] = column[static_cast<size_t>(i)];
  }
  return out;
}

void for_each_block(int64_t m, int64_t n, int64_t k, const std::function<void(const Block&)>& body) {
  const double operations = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  const int64_t across = (n + kBlockColumns - 1) / kBlockColumns, down = (m + kBlockRows - 1) / kBlockRows;
  parallel_for(across * down, operations, [&](int64_t index) {
    const int64_t row = index / across * kBlockRows, column = index % across * kBlockColumns;
    body({row, std::min(kBlockRows, m - row), column, std::min(kBlockColumns, n - column)});
  });
}

void add_product(const double* x, const double* w, int64_t k, int64_t n, const Block& block, double* sums) {
  int64_t i = 0;
  for (; i + 4 <= k; i += 4)
    for (int64_t r = 0; r < block.rows; ++r)
      add_four(x + r * k + i, w + i * n + block.column, n, block.columns, sums + r * block.columns);
  for (; i < k; ++i)
    for (int64_t r = 0; r < block.rows; ++r)
      for (int64_t j = 0; j < block.columns; ++j)
        sums[r * block.columns + j] += x[r * k + i] * w[i * n + block.column + j];
}

void load_added(const hstu_tensor& bias, const hstu_tensor& residual, const Block& block, double* sums) {
  std::fill_n(sums, block.rows * block.columns, 0.0);
  std::vector<double> row(static_cast<size_t>(block.columns));
  const auto add = [&](const hstu_tensor& t, int64_t row_stride, int64_t stride) {
    for (int64_t r = 0; r < block.rows; ++r) {
      load_strided(t, (block.row + r) * row_stride + block.column * stride, stride, block.columns, row.data());
      for (int64_t c = 0; c < block.columns; ++c) sums[r * block.columns + c] += row[static_cast<size_t>(c)];
    }
  };
  if (present(bias)) add(bias, 0, bias.stride[0]);
  if (present(residual)) add(residual, residual.stride[0], residual.stride[1]);
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
