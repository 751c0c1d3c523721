// Widening of FP8.
#include "problem/operators.hpp"
#include "reference/fp8/fp8_scales.hpp"
#include "reference/rows.hpp"

#include <vector>

namespace hstujit::reference {

void run(const hstu_dequantize_fp8_args& args, double* const* exact) {
  const int64_t rows = args.q.shape[0], columns = args.q.shape[1];
  const Output x(args.x, exact);
  parallel_for(rows, 10.0 * static_cast<double>(rows) * static_cast<double>(columns), [&](int64_t row) {
    std::vector<double> values(static_cast<size_t>(columns));
    load(args.q, row * args.q.stride[0], columns, values.data());
    for (int64_t c = 0; c < columns; ++c)
      values[static_cast<size_t>(c)] *= descale_at(args.descale, args.scaling, row, c);
    x.write(row, 0, columns, values.data());
  });
}

}  // namespace hstujit::reference
