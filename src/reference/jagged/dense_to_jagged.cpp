// Rows of padded matrices as a jagged tensor.
#include "reference/integers.hpp"
#include "reference/jagged/jagged_rows.hpp"

namespace hstujit::reference {

void run(const hstu_dense_to_jagged_args& args, double* const* exact) {
  const std::vector<int64_t> offsets = read_offsets("offsets", args.offsets, args.out.shape[0]);
  const int64_t max_len = args.dense.shape[1], dim = args.out.shape[1];
  const RowCopies out(args.out, exact);
  for (int64_t b = 0; b < args.dense.shape[0]; ++b) {
    const int64_t begin = offsets[static_cast<size_t>(b)], rows = offsets[static_cast<size_t>(b) + 1] - begin;
    for (int64_t t = 0; t < rows; ++t) {
      if (t < max_len)
        out.copy(begin + t, args.dense, b * args.dense.stride[0] + t * args.dense.stride[1], dim);
      else
        for (int64_t d = 0; d < dim; ++d) out.clear(begin + t, d);
    }
  }
}

}  // namespace hstujit::reference
