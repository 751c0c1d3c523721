// Concatenation of jagged tensors, and replacement of the last rows of each sequence.
#include "reference/jagged/jagged_copy.hpp"
#include "reference/jagged/jagged_rows.hpp"

namespace hstujit::reference {

void run(const hstu_concat_2d_jagged_args& args, double* const* exact) {
  const auto parts = jagged_copy::parts_of(args.left, args.right, args.offsets_left, args.offsets_right,
                                           args.max_len_left, args.max_len_right);
  const PartOffsets offsets = part_offsets(parts, args.offsets_left, args.offsets_right);
  const RowCopies out(args.out, exact);
  const int64_t dim = parts.left.dim;
  if (args.is_replace) return replace_last_rows(offsets, args.left, args.right, dim, out);
  for_each_combined_row(offsets, args.n_prefix_from_right, [&](int64_t combined, bool right, int64_t row) {
    const hstu_tensor& from = right ? args.right : args.left;
    out.copy(combined, from, RowCopies::start_of(from, row), dim);
  });
}

}  // namespace hstujit::reference
