// Greatest magnitudes of the parts of a matrix.
#include "problem/fp8/fp8_scales.hpp"
#include "problem/operators.hpp"
#include "reference/rows.hpp"

#include <array>
#include <vector>

namespace hstujit::reference {

void run(const hstu_fp8_amax_args& args, double* const* exact) {
  const int64_t columns = args.x.shape[1], rows = columns == 0 ? 0 : args.x.shape[0];
  const int64_t part = 16 * ceil_div(rows * columns, 16 * HSTU_FP8_AMAX_PARTS);
  std::array<double, HSTU_FP8_AMAX_PARTS> greatest{};
  std::vector<double> x(static_cast<size_t>(columns));
  for (int64_t row = 0; row < rows; ++row) {
    load(args.x, row * args.x.stride[0], columns, x.data());
    for (int64_t column = 0; column < columns; ++column) {
      double& of_part = greatest[static_cast<size_t>((row * columns + column) / part)];
      const double size = std::fabs(x[static_cast<size_t>(column)]);
      if (!(size <= of_part) && !std::isnan(of_part)) of_part = size;
    }
  }
  Output(args.amax, exact).write(0, 0, HSTU_FP8_AMAX_PARTS, greatest.data());
}

}  // namespace hstujit::reference
