// Sums of each sequence's rows.
#include "reference/integers.hpp"
#include "reference/rows.hpp"

namespace hstujit::reference {

void run(const hstu_jagged_reduce_sum_args& args, double* const* exact) {
  const std::vector<int64_t> offsets = read_offsets("seq_offsets", args.seq_offsets, args.jagged.shape[0]);
  const int64_t batch = args.out.shape[0], dim = args.jagged.shape[1];
  const Output out(args.out, exact);
  parallel_for(batch, static_cast<double>(offsets.back() * dim), [&](int64_t b) {
    std::vector<double> row(static_cast<size_t>(dim)), sum(static_cast<size_t>(dim));
    for (int64_t r = offsets[static_cast<size_t>(b)]; r < offsets[static_cast<size_t>(b) + 1]; ++r) {
      load(args.jagged, r * args.jagged.stride[0], dim, row.data());
      for (size_t d = 0; d < sum.size(); ++d) sum[d] += row[d];
    }
    out.write(b, 0, dim, sum.data());
  });
}

}  // namespace hstujit::reference
