#include "support/norm_gradients.hpp"

#include "operators/norm/layer_norm_backward.hpp"

#include <algorithm>
#include <cmath>

namespace hstujit::test {
namespace {

using Args = hstu_layer_norm_backward_args;

struct RowSize {
  double rstd, largest_g, xhat_error;
};

RowSize size_of_row(const Args& args, int64_t row, const std::vector<double>& weight) {
  const auto dim = static_cast<int64_t>(weight.size());
  std::vector<double> x(weight.size()), dout(x);
  load(args.forward.x, row * args.forward.x.stride[0], dim, x.data());
  load(args.dout, row * args.dout.stride[0], dim, dout.data());
  double mean = 0, squares = 0, largest = 0;
  for (const double value : x) mean += value / static_cast<double>(dim);
  for (const double value : x) squares += (value - mean) * (value - mean);
  if (present(args.moments)) {
    double pair[2];
    load(args.moments, row * args.moments.stride[0], 2, pair);
    mean = pair[0];
    squares = pair[1];
  }
  for (size_t i = 0; i < x.size(); ++i) largest = std::max(largest, std::fabs(dout[i] * weight[i]));
  const double rstd = 1 / std::sqrt(squares / static_cast<double>(dim) + args.forward.eps);
  return {rstd, largest, 1e-6 + 4 * 0x1p-24 * std::fabs(mean) * rstd};
}

std::vector<double> weights_of(const Args& args) {
  std::vector<double> weight(static_cast<size_t>(args.forward.x.shape[1]), 1);
  if (present(args.forward.weight)) load(args.forward.weight, 0, args.forward.x.shape[1], weight.data());
  return weight;
}

Tolerance own_rounding(const hstu_tensor& t) {
  const auto dtype = static_cast<hstu_dtype>(t.dtype);
  return {2 * rounded_once(dtype).frobenius + 2e-5, 0, 0.51};
}

}  // namespace

void give_workspace(HostMemory& memory, Args& args) {
  args.workspace_size = operator_of(Op::layer_norm_backward).workspace->bytes(&args);
  args.workspace = args.workspace_size > 0 ? memory.slab(static_cast<int64_t>(args.workspace_size)).base() : nullptr;
}

std::vector<Expected<Args>> expected_gradients(const Args& given) {
  Args args = given;
  prepare(args);
  const std::vector<double> weight = weights_of(args);
  const auto dim = weight.size();
  std::vector<Expected<Args>> outputs;
  double worst_xhat = 0;
  Exact of_dx;
  for (int64_t row = 0; row < args.forward.x.shape[0]; ++row) {
    const RowSize size = size_of_row(args, row, weight);
    if (std::isfinite(size.xhat_error)) worst_xhat = std::max(worst_xhat, size.xhat_error);
    of_dx.insert(of_dx.end(), dim, size.rstd * size.largest_g * (4e-6 + 4 * size.xhat_error));
  }
  if (present(args.dx)) outputs.push_back({&Args::dx, own_rounding(args.dx), of_dx});
  const reference::SizesOfTerms sizes = reference::sizes_of_terms(args);
  const double of_sums = 4 * 0x1p-24 * std::sqrt(static_cast<double>(args.forward.x.shape[0]));
  Exact of_weight, of_bias;
  for (size_t i = 0; i < dim; ++i) {
    of_weight.push_back(of_sums * sizes.dweight[i] + 4 * worst_xhat * sizes.dbias[i]);
    of_bias.push_back(of_sums * sizes.dbias[i]);
  }
  if (present(args.dweight)) outputs.push_back({&Args::dweight, own_rounding(args.dweight), of_weight});
  if (present(args.dbias)) outputs.push_back({&Args::dbias, own_rounding(args.dbias), of_bias});
  return outputs;
}

Expected<hstu_layer_norm_args> expected_moments(const hstu_layer_norm_args& given) {
  hstu_layer_norm_args args = given;
  prepare(args);
  const auto count = static_cast<double>(args.x.shape[1]);
  const double of_sums = 4 * 0x1p-24 * std::sqrt(count);
  Exact allowance;
  std::vector<double> x(static_cast<size_t>(args.x.shape[1]));
  for (int64_t row = 0; row < args.x.shape[0]; ++row) {
    load(args.x, row * args.x.stride[0], args.x.shape[1], x.data());
    double mean = 0, size = 0, squares = 0, size_of_squares = 0;
    for (const double value : x) mean += value / count, size += value * value;
    for (const double value : x) {
      const double square = (value - mean) * (value - mean);
      squares += square, size_of_squares += square * square;
    }
    const double of_mean = of_sums * std::sqrt(size) / count + 0x1p-23 * std::fabs(mean);
    allowance.push_back(of_mean);
    allowance.push_back(of_sums * std::sqrt(size_of_squares) + 0x1p-21 * squares + count * of_mean * of_mean);
  }
  return {&hstu_layer_norm_args::moments, {2e-5, 0, 1}, allowance};
}

}  // namespace hstujit::test
