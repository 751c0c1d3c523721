// Products of sequences with matrices of their own, plus bias.
#include "reference/integers.hpp"
#include "reference/rows.hpp"

namespace hstujit::reference {
namespace {

using Row = std::vector<double>;

/// A sequence's matrix, row-major.
Row load_matrix(const hstu_tensor& dense, int64_t sequence) {
  const int64_t k = dense.shape[1], n = dense.shape[2];
  Row matrix(static_cast<size_t>(k * n));
  for (int64_t i = 0; i < k; ++i)
    for (int64_t j = 0; j < n; ++j)
      load(dense, sequence * dense.stride[0] + i * dense.stride[1] + j * dense.stride[2], 1,
           &matrix[static_cast<size_t>(i * n + j)]);
  return matrix;
}

/// row = x matrix + row
void multiply(const Row& x, const Row& matrix, Row& row) {
  const size_t n = row.size();
  for (size_t i = 0; i < x.size(); ++i)
    for (size_t j = 0; j < n; ++j) row[j] += x[i] * matrix[i * n + j];
}

}  // namespace

void run(const hstu_jagged_dense_bmm_broadcast_add_args& args, double* const* exact) {
  const int64_t k = args.dense.shape[1], n = args.dense.shape[2];
  const std::vector<int64_t> offsets = read_offsets("seq_offsets", args.seq_offsets, args.jagged.shape[0]);
  const Output out(args.out, exact);
  const double operations = 2.0 * static_cast<double>(offsets.back()) * static_cast<double>(k) * static_cast<double>(n);
  parallel_for(static_cast<int64_t>(offsets.size()) - 1, operations, [&](int64_t b) {
    const int64_t begin = offsets[static_cast<size_t>(b)], end = offsets[static_cast<size_t>(b) + 1];
    if (begin == end) return;
    const Row matrix = load_matrix(args.dense, b);
    for (int64_t r = begin; r < end; ++r) {
      Row x(static_cast<size_t>(k)), row(static_cast<size_t>(n));
      load(args.jagged, r * args.jagged.stride[0], k, x.data());
      if (present(args.bias)) load(args.bias, (args.elementwise ? r : b) * args.bias.stride[0], n, row.data());
      multiply(x, matrix, row);
      out.write(r, 0, n, row.data());
    }
  });
}

}  // namespace hstujit::reference
