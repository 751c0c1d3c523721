// Sequences without their oldest history.
#include "problem/jagged/truncate_history.hpp"
#include "reference/integers.hpp"
#include "reference/jagged/jagged_rows.hpp"
#include "reference/rows.hpp"
#include "support/error.hpp"

namespace hstujit::reference {

namespace {

using Args = hstu_jagged_truncate_history_args;

/// Where sequences begin in out, which must have room for them.
std::vector<int64_t> out_offsets_of(const Args& args, const std::vector<int64_t>& offsets) {
  std::vector<int64_t> out_offsets{0};
  for (int64_t b = 0; b + 1 < args.seq_offsets.shape[0]; ++b) {
    const int64_t rows = offsets[static_cast<size_t>(b) + 1] - offsets[static_cast<size_t>(b)];
    const int64_t end = out_offsets.back() + truncate_history::rows_that_stay(args, b, rows);
    if (end > args.out.shape[0])
      fail(HSTU_ERROR_INVALID_ARGUMENT, "out.shape[0] = {}: {} rows of the first {} sequences stay", args.out.shape[0],
           end, b + 1);
    out_offsets.push_back(end);
  }
  return out_offsets;
}

}  // namespace

void run(const Args& args, double* const* exact) {
  const std::vector<int64_t> offsets = read_offsets("seq_offsets", args.seq_offsets, args.values.shape[0]);
  check_counts("num_targets", args.num_targets);
  const std::vector<int64_t> out_offsets = out_offsets_of(args, offsets);
  const int64_t dim = args.values.rank == 2 ? args.values.shape[1] : 1, stride = args.values.stride[0];
  const RowCopies out(args.out, exact);
  for (size_t b = 0; dim > 0 && b + 1 < offsets.size(); ++b) {
    const int64_t stay = out_offsets[b + 1] - out_offsets[b], drop = offsets[b + 1] - offsets[b] - stay;
    for (int64_t t = 0; t < stay; ++t)
      out.copy(out_offsets[b] + t, args.values, (offsets[b] + t + (t < args.contextual_seq_len ? 0 : drop)) * stride,
               dim);
  }
  const std::vector<double> numbers(out_offsets.begin(), out_offsets.end());
  Output(args.out_offsets, exact, 1).write(0, 0, args.out_offsets.shape[0], numbers.data());
}

}  // namespace hstujit::reference
