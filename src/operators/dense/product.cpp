#include "operators/dense/product.hpp"

#include "operators/rows.hpp"

#include <algorithm>

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

}  // namespace hstujit::reference
