// Layer norm over the last dimension.
#include "problem/operators.hpp"
#include "reference/rows.hpp"

#include <vector>

namespace hstujit::reference {

void run(const hstu_layer_norm_args& args, double* const* exact) {
  const int64_t rows = args.x.shape[0], dim = args.x.shape[1];
  std::vector<double> weight(static_cast<size_t>(dim), 1), bias(static_cast<size_t>(dim), 0);
  if (present(args.weight)) {
    load(args.weight, 0, dim, weight.data());
    load(args.bias, 0, dim, bias.data());
  }
  const Output y(args.y, exact);
  parallel_for(rows, 10.0 * static_cast<double>(rows) * static_cast<double>(dim), [&](int64_t row) {
    std::vector<double> x(weight.size());
    load(args.x, row * args.x.stride[0], dim, x.data());
    normalise(x.data(), dim, args.eps);
    for (size_t i = 0; i < x.size(); ++i) x[i] = x[i] * weight[i] + bias[i];
    y.write(row, 0, dim, x.data());
  });
}

}  // namespace hstujit::reference
