// Matrix product with bias, residual and activation.
#include "problem/operators.hpp"
#include "reference/dense/product_results.hpp"

#include <vector>

namespace hstujit::reference {
namespace {

void compute(const hstu_addmm_args& args, const std::vector<double>& w, const Block& block, const ProductResults& z) {
  const int64_t k = args.x.shape[1], n = args.w.shape[1];
  std::vector<double> x(static_cast<size_t>(block.rows * k)), sums(static_cast<size_t>(block.rows * block.columns));
  for (int64_t r = 0; r < block.rows; ++r)
    load_strided(args.x, (block.row + r) * args.x.stride[0], args.x.stride[1], k, x.data() + r * k);
  load_added(args.y, block, sums.data());
  add_product(x.data(), w.data(), k, n, block, sums.data());
  z.write(block, sums.data());
}

}  // namespace

void run(const hstu_addmm_args& args, double* const* exact) {
  const int64_t m = args.x.shape[0], k = args.x.shape[1], n = args.w.shape[1];
  if (m == 0 || n == 0) return;
  const std::vector<double> w = load_matrix(args.w);
  const ProductResults z({&args.z, &args.z1, &args.z2, &args.z3}, args.z_descale, args.activation,
                         args.activation_columns, exact);
  for_each_block(m, n, k, [&](const Block& block) { compute(args, w, block, z); });
}

}  // namespace hstujit::reference
