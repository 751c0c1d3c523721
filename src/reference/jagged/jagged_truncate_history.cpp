// Sequences without their oldest history.
#include "reference/integers.hpp"
#include "reference/jagged/jagged_rows.hpp"
#include "reference/rows.hpp"
#include "support/error.hpp"

#include <algorithm>

namespace hstujit::reference {

void run(const hstu_jagged_truncate_history_args& args, double* const* exact) {
  const std::vector<int64_t> offsets = read_offsets("seq_offsets", args.seq_offsets, args.values.shape[0]);
  const int64_t dim = args.values.rank == 2 ? args.values.shape[1] : 1, stride = args.values.stride[0];
  const RowCopies out(args.out, exact);
  std::vector<double> out_offsets{0};
  int64_t to = 0;
  for (int64_t b = 0; b + 1 < args.seq_offsets.shape[0]; ++b) {
    const int64_t begin = offsets[static_cast<size_t>(b)], rows = offsets[static_cast<size_t>(b) + 1] - begin;
    const int64_t targets = targets_at(args.num_targets, b);
    const int64_t drop = std::max<int64_t>(rows - args.contextual_seq_len - targets - args.keep, 0);
    if (to + rows - drop > args.out.shape[0])
      fail(HSTU_ERROR_INVALID_ARGUMENT, "out.shape[0] = {}: {} rows of the first {} sequences stay", args.out.shape[0],
           to + rows - drop, b + 1);
    for (int64_t t = 0; t < rows - drop; ++t, ++to)
      out.copy(to, args.values, (begin + t + (t < args.contextual_seq_len ? 0 : drop)) * stride, dim);
    out_offsets.push_back(static_cast<double>(to));
  }
  Output(args.out_offsets, exact, 1).write(0, 0, args.out_offsets.shape[0], out_offsets.data());
}

}  // namespace hstujit::reference
