// Splitting a jagged tensor in two.
#include "reference/jagged/jagged_copy.hpp"
#include "reference/jagged/jagged_rows.hpp"

namespace hstujit::reference {

void run(const hstu_split_2d_jagged_args& args, double* const* exact) {
  const auto parts = jagged_copy::parts_of(args.left, args.right, args.offsets_left, args.offsets_right,
                                           args.max_len_left, args.max_len_right);
  const PartOffsets offsets = part_offsets(parts, args.offsets_left, args.offsets_right);
  const RowCopies left(args.left, exact, 0), right(args.right, exact, 1);
  for_each_combined_row(offsets, args.n_prefix_to_right, [&](int64_t combined, bool to_right, int64_t row) {
    (to_right ? right : left).copy(row, args.values, combined * args.values.stride[0], parts.left.dim);
  });
}

}  // namespace hstujit::reference
