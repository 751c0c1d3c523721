#include "support/group_norm_gradients.hpp"

#include "operators/norm/group_norm_backward.hpp"

#include <algorithm>
#include <cmath>

namespace hstujit::test {
namespace {

using Args = hstu_group_norm_backward_args;

struct GroupSize {
  double rstd, largest_dout, xhat_error;
};

GroupSize size_of_group(const Args& args, int64_t row, int64_t group, int64_t length) {
  std::vector<double> x(static_cast<size_t>(length)), dout(x);
  load(args.forward.x, row * args.forward.x.stride[0] + group * length, length, x.data());
  load(args.dout, row * args.dout.stride[0] + group * length, length, dout.data());
  double mean = 0, squares = 0, largest = 0;
  for (const double value : x) mean += value / static_cast<double>(length);
  for (const double value : x) squares += (value - mean) * (value - mean);
  if (present(args.moments)) {
    double pair[2];
    load(args.moments, row * args.moments.stride[0] + 2 * group, 2, pair);
    mean = pair[0];
    squares = pair[1];
  }
  for (const double value : dout) largest = std::max(largest, std::fabs(value));
  const double rstd = 1 / std::sqrt(squares / static_cast<double>(length) + args.forward.eps);
  return {rstd, largest, 1e-6 + 4 * 0x1p-24 * std::fabs(mean) * rstd};
}

Tolerance own_rounding(const hstu_tensor& t) {
  const auto dtype = static_cast<hstu_dtype>(t.dtype);
  return {2 * rounded_once(dtype).frobenius + 2e-5, 0, 0.51};
}

}  // namespace

void give_workspace(HostMemory& memory, Args& args) {
  args.workspace_size = operator_of(Op::group_norm_backward).workspace->bytes(&args);
  args.workspace = args.workspace_size > 0 ? memory.slab(static_cast<int64_t>(args.workspace_size)).base() : nullptr;
}

std::vector<Expected<Args>> expected_gradients(const Args& given) {
  Args args = given;
  prepare(args);
  const int64_t rows = args.forward.x.shape[0], groups = args.forward.num_groups;
  const int64_t length = args.forward.x.shape[1] / groups;
  std::vector<double> weight(static_cast<size_t>(groups), 1), worst_xhat(weight.size());
  if (present(args.forward.weight)) load(args.forward.weight, 0, groups, weight.data());
  Exact of_dx;
  for (int64_t row = 0; row < rows; ++row)
    for (size_t g = 0; g < weight.size(); ++g) {
      const GroupSize size = size_of_group(args, row, static_cast<int64_t>(g), length);
      if (std::isfinite(size.xhat_error)) worst_xhat[g] = std::max(worst_xhat[g], size.xhat_error);
      of_dx.insert(of_dx.end(), static_cast<size_t>(length),
                   size.rstd * std::fabs(weight[g]) * size.largest_dout * (4e-6 + 4 * size.xhat_error));
    }
  std::vector<Expected<Args>> outputs;
  if (present(args.dx)) outputs.push_back({&Args::dx, own_rounding(args.dx), of_dx});
  const reference::SizesOfTerms sizes = reference::sizes_of_terms(args);
  const double of_sums = 4 * 0x1p-24 * std::sqrt(static_cast<double>(rows) * static_cast<double>(length));
  Exact of_weight, of_bias;
  for (size_t g = 0; g < weight.size(); ++g) {
    of_weight.push_back(of_sums * sizes.dweight[g] + 4 * worst_xhat[g] * (sizes.dbias[g] + sizes.dweight[g]));
    of_bias.push_back(of_sums * sizes.dbias[g]);
  }
  if (present(args.dweight)) outputs.push_back({&Args::dweight, own_rounding(args.dweight), of_weight});
  if (present(args.dbias)) outputs.push_back({&Args::dbias, own_rounding(args.dbias), of_bias});
  return outputs;
}

}  // namespace hstujit::test
