// The numbers of the sequences, the longest first.
#include "reference/integers.hpp"
#include "reference/rows.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace hstujit::reference {

void run(const hstu_sort_by_length_args& args, double* const* exact) {
  const auto offsets = read_offsets("offsets", args.offsets, std::numeric_limits<int64_t>::max());
  std::vector<size_t> order(static_cast<size_t>(args.out.shape[0]));
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return offsets[a + 1] - offsets[a] > offsets[b + 1] - offsets[b]; });
  const std::vector<double> numbers(order.begin(), order.end());
  Output(args.out, exact).write(0, 0, args.out.shape[0], numbers.data());
}

}  // namespace hstujit::reference
