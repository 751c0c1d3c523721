// The gated product: norm by given statistics, multiplication, product, residual.
#include "problem/operators.hpp"
#include "reference/dense/gated_rows.hpp"
#include "reference/dense/product.hpp"
#include "reference/rows.hpp"

#include <vector>

namespace hstujit::reference {

void run(const hstu_gated_addmm_args& args, double* const* exact) {
  const int64_t m = args.out.shape[0], n = args.out.shape[1], dim = args.attn.shape[1], k = 3 * dim;
  if (m == 0 || n == 0) return;
  const std::vector<double> w = load_matrix(args.w);
  const GatedRows gated(args);
  const Output out(args.out, exact);
  for_each_block(m, n, k, [&](const Block& block) {
    std::vector<double> rows(static_cast<size_t>(block.rows * k));
    std::vector<double> sums(static_cast<size_t>(block.rows * block.columns), 0.0);
    for (int64_t r = 0; r < block.rows; ++r) {
      gated.make(block.row + r, rows.data() + r * k);
      round_to(args.attn.dtype, rows.data() + r * k + 2 * dim, dim);
      if (present(args.x))
        load(args.x, (block.row + r) * args.x.stride[0] + block.column, block.columns, sums.data() + r * block.columns);
    }
    add_product(rows.data(), w.data(), k, n, block, sums.data());
    for (int64_t r = 0; r < block.rows; ++r)
      out.write(block.row + r, block.column, block.columns, sums.data() + r * block.columns);
  });
}

}  // namespace hstujit::reference
