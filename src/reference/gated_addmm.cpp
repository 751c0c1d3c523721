// The gated product: norm by given statistics, multiplication, product, residual.
#include "problem/operators.hpp"
#include "reference/product.hpp"
#include "reference/rows.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace hstujit::reference {
namespace {

using Row = std::vector<double>;

/// What a row of attn is normalised by.
struct RowStatistics {
  double mean = 0, scale = 0;
};

RowStatistics statistics(const hstu_gated_addmm_args& args, int64_t row) {
  const int64_t parts = args.moments.shape[1], dim = args.attn.shape[1];
  Row moments(static_cast<size_t>(2 * parts));
  load(args.moments, row * args.moments.stride[0], 2 * parts, moments.data());
  RowStatistics out;
  for (size_t i = 0; i < moments.size(); i += 2) out.mean += moments[i] / static_cast<double>(parts);
  double squares = 0;
  for (size_t i = 0; i < moments.size(); i += 2) {
    const double shift = moments[i] - out.mean;
    squares += moments[i + 1] + shift * shift * static_cast<double>(dim / parts);
  }
  squares = std::max(squares, 0.0);  // of random numbers, as tuning has them, they may be negative
  out.scale = 1 / std::sqrt(squares / static_cast<double>(dim) + static_cast<double>(args.eps));
  return out;
}

/// [u | attn | g] of a row.
class GatedRows {
 public:
  explicit GatedRows(const hstu_gated_addmm_args& args)
      : args_(args),
        dim_(args.attn.shape[1]),
        weight_(load_vector(args.weight, dim_, 1)),
        bias_(load_vector(args.bias, dim_, 0)) {}

  void make(int64_t row, double* out) const {
    double *const u = out, *const attn = out + dim_, *const g = attn + dim_;
    load(args_.u, row * args_.u.stride[0], dim_, u);
    load(args_.attn, row * args_.attn.stride[0], dim_, attn);
    const RowStatistics s = statistics(args_, row);
    for (int64_t i = 0; i < dim_; ++i) {
      const auto at = static_cast<size_t>(i);
      g[i] = ((attn[i] - s.mean) * s.scale * weight_[at] + bias_[at]) * u[i];
    }
    round_to(args_.attn.dtype, g, dim_);
  }

 private:
  const hstu_gated_addmm_args& args_;
  const int64_t dim_;
  const Row weight_, bias_;
};

}  // namespace

void run(const hstu_gated_addmm_args& args, double* const* exact) {
  const int64_t m = args.out.shape[0], n = args.out.shape[1], k = args.w.shape[0];
  if (m == 0 || n == 0) return;
  const Row w = load_matrix(args.w);
  const GatedRows gated(args);
  const Output out(args.out, exact);
  for_each_block(m, n, k, [&](const Block& block) {
    Row rows(static_cast<size_t>(block.rows * k)), sums(static_cast<size_t>(block.rows * block.columns), 0.0);
    for (int64_t r = 0; r < block.rows; ++r) {
      gated.make(block.row + r, rows.data() + r * k);
      if (present(args.x))
        load(args.x, (block.row + r) * args.x.stride[0] + block.column, block.columns, sums.data() + r * block.columns);
    }
    add_product(rows.data(), w.data(), k, n, block, sums.data());
    for (int64_t r = 0; r < block.rows; ++r)
      out.write(block.row + r, block.column, block.columns, sums.data() + r * block.columns);
  });
}

}  // namespace hstujit::reference
