// Softmax and log-softmax of rows.
#include "problem/operators.hpp"
#include "reference/rows.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace hstujit::reference {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// x <- softmax(x); of nothing but -inf NaN, or nothing but weights of 0.
void softmax(std::vector<double>& x, bool log, bool zero_empty) {
  double most = -kInfinity, sum = 0;
  for (const double value : x) most = std::fmax(most, value);
  if (most == -kInfinity && zero_empty && std::none_of(x.begin(), x.end(), [](double v) { return std::isnan(v); })) {
    std::fill(x.begin(), x.end(), log ? -kInfinity : 0.0);
    return;
  }
  for (const double value : x) sum += std::exp(value - most);  // -inf less -inf, or inf less inf, is NaN
  for (double& value : x) value = log ? value - most - std::log(sum) : std::exp(value - most) / sum;
}

}  // namespace

void run(const hstu_softmax_args& args, double* const* exact) {
  const int64_t rows = args.x.shape[0], dim = args.x.shape[1];
  const Output y(args.y, exact);
  parallel_for(rows, 30.0 * static_cast<double>(rows) * static_cast<double>(dim), [&](int64_t row) {
    std::vector<double> x(static_cast<size_t>(dim));
    load(args.x, row * args.x.stride[0], dim, x.data());
    softmax(x, args.log != 0, args.zero_empty_rows != 0);
    y.write(row, 0, dim, x.data());
  });
}

}  // namespace hstujit::reference
