// Replacement of the last rows of sequences.
#include "reference/integers.hpp"
#include "reference/jagged/jagged_copy.hpp"
#include "reference/jagged/jagged_rows.hpp"

namespace hstujit::reference {

void run(const hstu_replace_last_n_with_jagged_args& args, double* const* exact) {
  const PartOffsets offsets{sum_lengths("lengths_left", args.lengths_left, args.left.shape[0]),
                            sum_lengths("lengths_right", args.lengths_right, args.right.shape[0])};
  replace_last_rows(offsets, args.left, args.right, args.left.shape[1], RowCopies(args.out, exact));
}

}  // namespace hstujit::reference
