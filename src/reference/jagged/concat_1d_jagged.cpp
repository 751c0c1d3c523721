// Concatenation of jagged vectors.
#include "reference/integers.hpp"
#include "reference/jagged/jagged_copy.hpp"
#include "reference/jagged/jagged_rows.hpp"

namespace hstujit::reference {

void run(const hstu_concat_1d_jagged_args& args, double* const* exact) {
  const PartOffsets offsets{sum_lengths("lengths_left", args.lengths_left, args.left.shape[0]),
                            sum_lengths("lengths_right", args.lengths_right, args.right.shape[0])};
  const RowCopies out(args.out, exact);
  for_each_combined_row(offsets, 0, [&](int64_t combined, bool right, int64_t row) {
    out.copy(combined, right ? args.right : args.left, row, 1);
  });
}

}  // namespace hstujit::reference
