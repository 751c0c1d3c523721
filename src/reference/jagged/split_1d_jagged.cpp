// Splitting a jagged vector in two.
#include "reference/integers.hpp"
#include "reference/jagged/jagged_copy.hpp"
#include "reference/jagged/jagged_rows.hpp"

namespace hstujit::reference {

void run(const hstu_split_1d_jagged_args& args, double* const* exact) {
  const PartOffsets offsets{sum_lengths("lengths_left", args.lengths_left, args.left.shape[0]),
                            sum_lengths("lengths_right", args.lengths_right, args.right.shape[0])};
  const RowCopies left(args.left, exact, 0), right(args.right, exact, 1);
  for_each_combined_row(offsets, 0, [&](int64_t combined, bool to_right, int64_t row) {
    (to_right ? right : left).copy(row, args.values, combined, 1);
  });
}

}  // namespace hstujit::reference
