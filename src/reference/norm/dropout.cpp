// Seeded dropout.
#include "problem/operators.hpp"
#include "reference/rows.hpp"
#include "support/philox.hpp"

#include <vector>

namespace hstujit::reference {

void run(const hstu_dropout_args& args, double* const* exact) {
  const int64_t rows = args.x.shape[0], dim = args.x.shape[1];
  const auto words = static_cast<uint64_t>(args.words_per_counter);
  const Output y(args.y, exact);
  parallel_for(rows, 100.0 * static_cast<double>(rows) * static_cast<double>(dim), [&](int64_t row) {
    std::vector<double> x(static_cast<size_t>(dim));
    load(args.x, row * args.x.stride[0], dim, x.data());
    for (size_t i = 0; args.ratio > 0 && i < x.size(); ++i) {
      const uint64_t index = static_cast<uint64_t>(row * dim) + i;
      const float u = uniform_of(philox(index / words, static_cast<uint64_t>(args.seed))[index % words]);
      x[i] = u > args.ratio ? x[i] / (1 - static_cast<double>(args.ratio)) : 0;
    }
    y.write(row, 0, dim, x.data());
  });
}

}  // namespace hstujit::reference
