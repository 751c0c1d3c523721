// Matrix product with bias, residual and activation.
#include "problem/operators.hpp"
#include "reference/product.hpp"
#include "reference/rows.hpp"

#include <algorithm>
#include <vector>

namespace hstujit::reference {
namespace {

/// Columns [column, column + count) of the bias of a row.
void load_bias(const hstu_tensor& y, int64_t row, int64_t column, int64_t count, double* out) {
  const int64_t stride = y.rank == 2 ? y.stride[1] : y.stride[0];
  if (!present(y))
    std::fill_n(out, count, 0.0);
  else
    load_strided(y, (y.rank == 2 ? row * y.stride[0] : 0) + column * stride, stride, count, out);
}

/// The result's columns, in z, z1 and so on.
class Columns {
 public:
  Columns(const hstu_addmm_args& args, double* const* exact) {
    int64_t first = 0;
    int index = 0;
    for (const hstu_tensor* t : {&args.z, &args.z1, &args.z2, &args.z3}) {
      if (present(*t)) parts_.push_back({first, first += t->shape[1], Output(*t, exact, index)});
      ++index;
    }
  }

  void write(int64_t row, int64_t column, int64_t count, const double* values) const {
    for (const Part& part : parts_) {
      const int64_t begin = std::max(column, part.begin), end = std::min(column + count, part.end);
      if (begin < end) part.output.write(row, begin - part.begin, end - begin, values + (begin - column));
    }
  }

 private:
  struct Part {
    int64_t begin, end;
    Output output;
  };
  std::vector<Part> parts_;
};

void compute(const hstu_addmm_args& args, const std::vector<double>& w, const Block& block, const Columns& z) {
  const int64_t k = args.x.shape[1], n = args.w.shape[1];
  std::vector<double> x(static_cast<size_t>(block.rows * k)), sums(static_cast<size_t>(block.rows * block.columns));
  for (int64_t r = 0; r < block.rows; ++r) {
    load_strided(args.x, (block.row + r) * args.x.stride[0], args.x.stride[1], k, x.data() + r * k);
    load_bias(args.y, block.row + r, block.column, block.columns, sums.data() + r * block.columns);
  }
  add_product(x.data(), w.data(), k, n, block, sums.data());
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
  const std::vector<double> w = load_matrix(args.w);
  const Columns z(args, exact);
  for_each_block(m, n, k, [&](const Block& block) { compute(args, w, block, z); });
}

}  // namespace hstujit::reference
