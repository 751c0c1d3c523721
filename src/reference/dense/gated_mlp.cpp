// Gated products.
#include "problem/operators.hpp"
#include "reference/dense/product_results.hpp"

#include <vector>

namespace hstujit::reference {

void run(const hstu_gated_mlp_args& args, double* const* exact) {
  const int64_t m = args.x.shape[0], k = args.x.shape[1], n = args.out.shape[1];
  if (m == 0 || n == 0) return;
  const std::vector<double> gate = load_matrix(args.gate), up = load_matrix(args.up);
  const ProductResults out({&args.out}, args.out_descale, HSTU_ACTIVATION_NONE, 0, exact);
  for_each_block(m, n, 2 * k, [&](const Block& block) {
    std::vector<double> x(static_cast<size_t>(block.rows * k));
    for (int64_t r = 0; r < block.rows; ++r)
      load_strided(args.x, (block.row + r) * args.x.stride[0], args.x.stride[1], k, x.data() + r * k);
    std::vector<double> gates(static_cast<size_t>(block.rows * block.columns)), ups(gates.size());
    add_product(x.data(), gate.data(), k, n, block, gates.data());
    add_product(x.data(), up.data(), k, n, block, ups.data());
    for (size_t i = 0; i < gates.size(); ++i)
      gates[i] = args.activate_gate ? activate(args.activation, gates[i]) * ups[i]
                                    : gates[i] * activate(args.activation, ups[i]);
    out.write(block, gates.data());
  });
}

}  // namespace hstujit::reference
