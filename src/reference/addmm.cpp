// Matrix product with bias, residual and activation.
#include "problem/operators.hpp"
#include "reference/rows.hpp"

#include <algorithm>
#include <vector>

namespace hstujit::reference {
namespace {

constexpr int64_t kBlockRows = 8;       ///< rows that share one pass over the weight
constexpr int64_t kBlockColumns = 256;  ///< columns whose sums stay in the first-level cache

/// The weight as [k, n] doubles, whichever way it is stored.
std::vector<double> load_weight(const hstu_tensor& w) {
  const int64_t k = w.shape[0], n = w.shape[1];
  std::vector<double> out(static_cast<size_t>(k * n));
  if (w.stride[1] == 1) {
    for (int64_t i = 0; i < k; ++i) load(w, i * w.stride[0], n, out.data() + i * n);
    return out;
  }
  std::vector<double> column(static_cast<size_t>(k));
  for (int64_t j = 0; j < n; ++j) {
    load(w, j * w.stride[1], k, column.data());
    for (int64_t i = 0; i < k; ++i) out[static_cast<size_t>(i * n + j)] = column[static_cast<size_t>(i)];
  }
  return out;
}

/// Columns [column, column + count) of the bias of a row.
void load_bias(const hstu_tensor& y, int64_t row, int64_t column, int64_t count, double* out) {
  if (!present(y))
    std::fill_n(out, count, 0.0);
  else
    load(y, (y.rank == 2 ? row * y.stride[0] : 0) + column, count, out);
}

/// One block of z: `rows` rows by `columns` columns.
struct Block {
  int64_t row, rows, column, columns;
};

/// sums += x[0..4) times four rows of the weight; four at once, because loading and storing sums is what takes time.
void add_four(const double* x, const double* w, int64_t w_stride, int64_t columns, double* __restrict sums) {
  const double *w1 = w + w_stride, *w2 = w1 + w_stride, *w3 = w2 + w_stride;
  for (int64_t j = 0; j < columns; ++j) sums[j] += x[0] * w[j] + x[1] * w1[j] + x[2] * w2[j] + x[3] * w3[j];
}

void compute(const hstu_addmm_args& args, const std::vector<double>& w, const Block& block, const Output& z) {
  const int64_t k = args.x.shape[1], n = args.w.shape[1];
  std::vector<double> x(static_cast<size_t>(block.rows * k)), sums(static_cast<size_t>(block.rows * block.columns));
  for (int64_t r = 0; r < block.rows; ++r) {
    load(args.x, (block.row + r) * args.x.stride[0], k, x.data() + r * k);
    load_bias(args.y, block.row + r, block.column, block.columns, sums.data() + r * block.columns);
  }
  int64_t i = 0;
  for (; i + 4 <= k; i += 4)
    for (int64_t r = 0; r < block.rows; ++r)
      add_four(x.data() + r * k + i, w.data() + i * n + block.column, n, block.columns,
               sums.data() + r * block.columns);
  for (; i < k; ++i)
    for (int64_t r = 0; r < block.rows; ++r)
      for (int64_t j = 0; j < block.columns; ++j)
        sums[static_cast<size_t>(r * block.columns + j)] +=
            x[static_cast<size_t>(r * k + i)] * w[static_cast<size_t>(i * n + block.column + j)];
  const int64_t activated = std::clamp<int64_t>(args.activation_columns - block.column, 0, block.columns);
  for (int64_t r = 0; r < block.rows; ++r) {
    double* sum = sums.data() + r * block.columns;
    for (int64_t j = 0; j < activated; ++j) sum[j] = activate(args.activation, sum[j]);
    z.write(block.row + r, block.column, block.columns, sum);
  }
}

}  // namespace

void run(const hstu_addmm_args& args, double* const* exact) {
  const int64_t m = args.x.shape[0], k = args.x.shape[1], n = args.w.shape[1];
  if (m == 0 || n == 0) return;
  const std::vector<double> w = load_weight(args.w);
  const Output z(args.z, exact);
  const double operations = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  const int64_t across = (n + kBlockColumns - 1) / kBlockColumns, down = (m + kBlockRows - 1) / kBlockRows;
  parallel_for(across * down, operations, [&](int64_t index) {
    const int64_t row = index / across * kBlockRows, column = index % across * kBlockColumns;
    compute(args, w, {row, std::min(kBlockRows, m - row), column, std::min(kBlockColumns, n - column)}, z);
  });
}

}  // namespace hstujit::reference
