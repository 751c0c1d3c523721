// The product of FP8 matrices, descaled first, with bias, residual and activation.
#include "problem/operators.hpp"
#include "reference/dense/product_results.hpp"
#include "reference/fp8/fp8_scales.hpp"

#include <vector>

namespace hstujit::reference {
namespace {

/// A row of a matrix times its scales.
void load_descaled(const hstu_tensor& t, const hstu_tensor& descale, hstu_fp8_scaling scaling, int64_t row,
                   double* out) {
  load(t, row * t.stride[0], t.shape[1], out);
  for (int64_t i = 0; i < t.shape[1]; ++i) out[i] *= descale_at(descale, scaling, row, i);
}

}  // namespace

void run(const hstu_fp8_gemm_args& args, double* const* exact) {
  const int64_t m = args.a.shape[0], k = args.a.shape[1], n = args.b.shape[0];
  if (m == 0 || n == 0) return;
  std::vector<double> b(static_cast<size_t>(k * n)), row(static_cast<size_t>(k));  // b as [k, n]
  for (int64_t j = 0; j < n; ++j) {
    load_descaled(args.b, args.b_descale, args.b_scaling, j, row.data());
    for (int64_t i = 0; i < k; ++i) b[static_cast<size_t>(i * n + j)] = row[static_cast<size_t>(i)];
  }
  const ProductResults out({&args.out, &args.out1, &args.out2, &args.out3}, args.out_descale, args.activation,
                           args.activation_columns, exact);
  for_each_block(m, n, k, [&](const Block& block) {
    std::vector<double> a(static_cast<size_t>(block.rows * k));
    std::vector<double> sums(static_cast<size_t>(block.rows * block.columns));
    for (int64_t r = 0; r < block.rows; ++r)
      load_descaled(args.a, args.a_descale, args.a_scaling, block.row + r, a.data() + r * k);
    load_added(args.bias, block, sums.data());
    add_product(a.data(), b.data(), k, n, block, sums.data());
    out.write(block, sums.data());
  });
}

}  // namespace hstujit::reference
