// Prefix sums from 0.
#include "reference/rows.hpp"

namespace hstujit::reference {
namespace {

/// Integers wrap in the type of out.
void sum_integers(const hstu_complete_cumsum_args& args, double* const* exact) {
  uint64_t sum = 0;
  for (int64_t i = 0; i <= args.values.shape[0]; ++i) {
    const bool narrow = args.out.dtype == HSTU_DTYPE_I32;
    const int64_t value = narrow ? static_cast<int32_t>(static_cast<uint32_t>(sum)) : static_cast<int64_t>(sum);
    if (exact) {
      if (exact[0]) exact[0][i] = static_cast<double>(value);
    } else if (narrow) {
      static_cast<int32_t*>(args.out.data)[i] = static_cast<int32_t>(value);
    } else {
      static_cast<int64_t*>(args.out.data)[i] = value;
    }
    if (i < args.values.shape[0]) sum += static_cast<uint64_t>(integer_at(args.values, i));
  }
}

}  // namespace

void run(const hstu_complete_cumsum_args& args, double* const* exact) {
  if (args.values.dtype != HSTU_DTYPE_F32) return sum_integers(args, exact);
  const int64_t count = args.values.shape[0];
  std::vector<double> values(static_cast<size_t>(count)), sums{0};
  load(args.values, 0, count, values.data());
  for (const double value : values) sums.push_back(sums.back() + value);
  Output(args.out, exact).write(0, 0, count + 1, sums.data());
}

}  // namespace hstujit::reference
