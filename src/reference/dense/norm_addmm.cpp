// Layer norm of rows, rounded, and the product behind it with bias and activation.
#include "problem/operators.hpp"
#include "reference/dense/product_results.hpp"

#include <vector>

namespace hstujit::reference {
namespace {

class NormedRows {
 public:
  explicit NormedRows(const hstu_norm_addmm_args& args)
      : x_(args.x),
        k_(args.x.shape[1]),
        weight_(load_vector(args.norm_weight, k_, 1)),
        bias_(load_vector(args.norm_bias, k_, 0)),
        eps_(static_cast<double>(args.eps)) {}

  void make(int64_t row, double* out) const {
    load_strided(x_, row * x_.stride[0], 1, k_, out);
    normalise(out, k_, eps_);
    for (int64_t i = 0; i < k_; ++i) {
      const auto at = static_cast<size_t>(i);
      out[i] = out[i] * weight_[at] + bias_[at];
    }
    round_to(x_.dtype, out, k_);
  }

 private:
  const hstu_tensor& x_;
  const int64_t k_;
  const std::vector<double> weight_, bias_;
  const double eps_;
};

}  // namespace

void run(const hstu_norm_addmm_args& args, double* const* exact) {
  const int64_t m = args.x.shape[0], k = args.x.shape[1], n = args.w.shape[1];
  if (m == 0 || n == 0) return;
  const std::vector<double> w = load_matrix(args.w);
  const NormedRows normed(args);
  const ProductResults z({&args.z, &args.z1, &args.z2, &args.z3}, args.activation, args.activation_columns, exact);
  for_each_block(m, n, k, [&](const Block& block) {
    std::vector<double> x(static_cast<size_t>(block.rows * k)), sums(static_cast<size_t>(block.rows * block.columns));
    for (int64_t r = 0; r < block.rows; ++r) normed.make(block.row + r, x.data() + r * k);
    load_added(args.y, block, sums.data());
    add_product(x.data(), w.data(), k, n, block, sums.data());
    z.write(block, sums.data());
  });
}

}  // namespace hstujit::reference
