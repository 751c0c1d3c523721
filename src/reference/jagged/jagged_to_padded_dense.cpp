// A jagged tensor as padded matrices.
#include "reference/integers.hpp"
#include "reference/jagged/jagged_rows.hpp"

namespace hstujit::reference {

void run(const hstu_jagged_to_padded_dense_args& args, double* const* exact) {
  const std::vector<int64_t> offsets = read_offsets("offsets", args.offsets, args.values.shape[0]);
  const int64_t max_len = args.out.shape[1], dim = args.values.shape[1];
  int64_t bits = 0;  // the padding as an element
  const hstu_tensor padding = hstu_vector(&bits, args.values.dtype, 1);
  const auto value = static_cast<double>(args.padding);
  store(padding, 0, 1, &value);
  const RowCopies out(args.out, exact);
  for (int64_t b = 0; b < args.out.shape[0]; ++b) {
    const int64_t begin = offsets[static_cast<size_t>(b)], rows = offsets[static_cast<size_t>(b) + 1] - begin;
    for (int64_t t = 0; t < max_len; ++t) {
      const int64_t row = b * max_len + t;
      if (t < rows)
        out.copy(row, args.values, (begin + t) * args.values.stride[0], dim);
      else
        for (int64_t d = 0; d < dim; ++d) out.copy_at(row, d, padding, 0, 1);
    }
  }
}

}  // namespace hstujit::reference
