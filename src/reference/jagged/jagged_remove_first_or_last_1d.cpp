// Sequences without their first or their last element.
#include "reference/integers.hpp"
#include "reference/jagged/jagged_rows.hpp"

namespace hstujit::reference {

void run(const hstu_jagged_remove_first_or_last_1d_args& args, double* const* exact) {
  const std::vector<int64_t> offsets = sum_lengths("lengths", args.lengths, args.values.shape[0], 1);
  const RowCopies without_first(args.without_first, exact, 0), without_last(args.without_last, exact, 1);
  for (int64_t b = 0; b < args.lengths.shape[0]; ++b) {
    const int64_t begin = offsets[static_cast<size_t>(b)], kept = offsets[static_cast<size_t>(b) + 1] - begin - 1;
    for (int64_t i = 0; i < kept; ++i) {
      without_first.copy(begin - b + i, args.values, begin + i + 1, 1);
      without_last.copy(begin - b + i, args.values, begin + i, 1);
    }
  }
}

}  // namespace hstujit::reference
