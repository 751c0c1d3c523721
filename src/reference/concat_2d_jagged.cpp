// Concatenation of jagged tensors, and replacement of the last rows of each sequence.
#include "reference/jagged_copy.hpp"
#include "reference/jagged_rows.hpp"

namespace hstujit::reference {
namespace {

/// The last rows of each of left's sequences become right's: all of them, or as many of the last as there is room for.
void replace(const hstu_concat_2d_jagged_args& args, const PartOffsets& offsets, const RowCopies& out, int64_t dim) {
  for (size_t b = 0; b + 1 < offsets.left.size(); ++b) {
    const int64_t a = offsets.rows(offsets.left, b), c = offsets.rows(offsets.right, b);
    for (int64_t t = 0; t < a; ++t) {
      const bool right = t >= a - c;
      const hstu_tensor& from = right ? args.right : args.left;
      const int64_t row = right ? offsets.right[b] + t - (a - c) : offsets.left[b] + t;
      out.copy(offsets.left[b] + t, from, RowCopies::start_of(from, row), dim);
    }
  }
}

}  // namespace

void run(const hstu_concat_2d_jagged_args& args, double* const* exact) {
  const auto parts = jagged_copy::parts_of(args.left, args.right, args.offsets_left, args.offsets_right,
                                           args.max_len_left, args.max_len_right);
  const PartOffsets offsets = part_offsets(parts, args.offsets_left, args.offsets_right);
  const RowCopies out(args.out, exact);
  const int64_t dim = parts.left.dim;
  if (args.is_replace) return replace(args, offsets, out, dim);
  for_each_combined_row(offsets, args.n_prefix_from_right, [&](int64_t combined, bool right, int64_t row) {
    const hstu_tensor& from = right ? args.right : args.left;
    out.copy(combined, from, RowCopies::start_of(from, row), dim);
  });
}

}  // namespace hstujit::reference
