// A jagged vector as rows of one length.
#include "reference/integers.hpp"
#include "reference/jagged/jagged_rows.hpp"

#include <algorithm>

namespace hstujit::reference {

void run(const hstu_expand_1d_jagged_to_dense_args& args, double* const* exact) {
  const std::vector<int64_t> offsets = read_offsets("offsets", args.offsets, args.values.shape[0]);
  const int64_t max_len = args.out.shape[1];
  const RowCopies out(args.out, exact);
  for (int64_t b = 0; b < args.out.shape[0]; ++b) {
    const int64_t begin = offsets[static_cast<size_t>(b)], rows = offsets[static_cast<size_t>(b) + 1] - begin;
    for (int64_t t = 0; t < max_len; ++t) {
      if (rows == 0)
        out.clear(b, t);
      else
        out.copy_at(b, t, args.values, begin + std::min(t, rows - 1), 1);
    }
  }
}

}  // namespace hstujit::reference
