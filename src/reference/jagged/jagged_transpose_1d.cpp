// Transposition of a matrix of segments.
#include "reference/integers.hpp"
#include "reference/jagged/jagged_rows.hpp"
#include "reference/rows.hpp"
#include "support/error.hpp"

namespace hstujit::reference {
namespace {

/// Integers as results: bits into the tensor, or numbers.
void write_integers(const hstu_tensor& to, double* const* exact, int output, const std::vector<int64_t>& values) {
  const Output out(to, exact, output);
  const std::vector<double> numbers(values.begin(), values.end());
  out.write(0, 0, static_cast<int64_t>(numbers.size()), numbers.data());
}

}  // namespace

void run(const hstu_jagged_transpose_1d_args& args, double* const* exact) {
  const std::vector<int64_t> offsets = read_offsets("offsets", args.offsets, args.values.shape[0]);
  const std::vector<int64_t> sums = sum_lengths("lengths", args.lengths, args.values.shape[0]);
  if (sums != offsets) fail(HSTU_ERROR_INVALID_ARGUMENT, "lengths: they are not the differences of offsets");
  const RowCopies out(args.out, exact);
  std::vector<int64_t> out_offsets{0}, out_lengths;
  for (int64_t j = 0; j < args.columns; ++j)
    for (int64_t i = 0; i < args.rows; ++i) {
      const auto from = static_cast<size_t>(i * args.columns + j);
      out_lengths.push_back(offsets[from + 1] - offsets[from]);
      out.copy(out_offsets.back(), args.values, offsets[from], out_lengths.back());
      out_offsets.push_back(out_offsets.back() + out_lengths.back());
    }
  write_integers(args.out_offsets, exact, 1, out_offsets);
  write_integers(args.out_lengths, exact, 2, out_lengths);
}

}  // namespace hstujit::reference
