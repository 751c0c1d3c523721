#include "support/row_norm_gradients.hpp"

#include "operators/norm/row_norm_backward.hpp"

#include <algorithm>
#include <cmath>

namespace hstujit::test {
namespace {

using Rms = hstu_rms_norm_backward_args;
using Swish = hstu_swish_layer_norm_backward_args;

template <class Args>
constexpr bool kCentred = requires(Args a) {
  a.dbias;
};

bool through_function(const Rms& args) { return args.forward.activation != HSTU_ACTIVATION_NONE; }
bool through_function(const Swish&) { return true; }

/// A row, and how wrong its elements of xhat may be, and the gradients of what the norm gave: the latter in their
/// largest and one by one. A sigmoid is wrong by 2^-21, and by what its argument is.
struct RowErrors {
  std::vector<double> xhat, of_norm;
  double rstd = 0, largest_dout = 0, of_xhat = 0, largest_of_norm = 0, largest_xhat = 0;
  double largest_term = 0;  ///< bound of the gradients of what the norm gave

  template <class Args>
  RowErrors(const Args& args, int64_t row, double largest_weight, size_t dim) : xhat(dim), of_norm(dim) {
    const auto columns = static_cast<int64_t>(dim);
    std::vector<double> dout(dim);
    load(args.forward.x, row * args.forward.x.stride[0], columns, xhat.data());
    load(args.dout, row * args.dout.stride[0], columns, dout.data());
    const std::vector<double> x = xhat;
    const auto count = static_cast<double>(dim);
    double mean = 0, squares = 0;
    if (present(args.moments)) {
      double pair[2];
      load(args.moments, row * args.moments.stride[0], 2, pair);
      mean = pair[0];
      squares = pair[1] + (kCentred<Args> ? 0 : count * mean * mean);
    } else {
      if (kCentred<Args>)
        for (const double value : x) mean += value / count;
      for (const double value : x) squares += (value - mean) * (value - mean);
    }
    if (!kCentred<Args>) mean = 0;
    rstd = 1 / std::sqrt(squares / count + args.forward.eps);
    of_xhat = 1e-6 + 4 * 0x1p-24 * std::fabs(mean) * rstd;
    for (size_t i = 0; i < dim; ++i) {
      xhat[i] = (x[i] - mean) * rstd;
      largest_xhat = std::max(largest_xhat, std::fabs(xhat[i]));
    }
    for (size_t i = 0; i < dim; ++i) {
      const double term = std::fabs(dout[i]) * (kCentred<Args> ? std::fabs(x[i]) : 1);
      largest_dout = std::max(largest_dout, std::fabs(dout[i]));
      largest_term = std::max(largest_term, term);
      if (!through_function(args)) continue;
      of_norm[i] = term * (4e-6 + largest_weight * of_xhat * (1 + largest_xhat));
      largest_of_norm = std::max(largest_of_norm, of_norm[i]);
    }
  }
};

template <class Args>
std::vector<double> weights_of(const Args& args) {
  std::vector<double> weight(static_cast<size_t>(args.forward.x.shape[1]), 1);
  if (present(args.forward.weight)) load(args.forward.weight, 0, args.forward.x.shape[1], weight.data());
  return weight;
}

/// Of all, as its elements may be.
template <class Args>
Expected<Args> expected(const Args& args, hstu_tensor Args::*output, const Exact& allowance) {
  const Exact exact = exact_result(args, output);
  double allowed = 0, size = 0;
  for (size_t i = 0; i < exact.size(); ++i) {
    if (!std::isfinite(exact[i]) || !std::isfinite(allowance[i])) continue;
    allowed += allowance[i] * allowance[i];
    size += exact[i] * exact[i];
  }
  const double relative = size > 0 ? std::sqrt(allowed / size) : std::sqrt(allowed);
  const auto dtype = static_cast<hstu_dtype>((args.*output).dtype);
  return {output, {2 * rounded_once(dtype).frobenius + 2e-5 + relative, 0, 0.51}, allowance};
}

template <class Args>
int64_t valid_rows_of(const Args& args) {
  const int64_t rows = args.forward.x.shape[0];
  return present(args.valid_rows) ? std::clamp<int64_t>(integer_at(args.valid_rows, 0), 0, rows) : rows;
}

template <class Args>
std::vector<Expected<Args>> expected_of(const Args& given) {
  Args args = given;
  prepare(args);
  const std::vector<double> weight = weights_of(args);
  const auto dim = weight.size();
  double largest_weight = 0, worst_xhat = 0;
  for (const double w : weight) largest_weight = std::max(largest_weight, std::fabs(w));
  Exact of_dx, terms_of_weight(dim), terms_of_bias(dim);
  for (int64_t row = 0; row < args.forward.x.shape[0]; ++row) {
    const RowErrors of(args, row, largest_weight, dim);
    // g by itself, and by its means; what passes the norm.
    const double of_g =
        largest_weight * (of.largest_of_norm * (2 + of.largest_xhat) + of.largest_term * (4e-6 + 4 * of.of_xhat));
    const double direct = kCentred<Args> ? of.largest_dout * (4e-6 + largest_weight * of.of_xhat) : 0;
    of_dx.insert(of_dx.end(), dim, of.rstd * of_g + direct);
    if (row >= valid_rows_of(args)) continue;
    worst_xhat = std::max(worst_xhat, of.of_xhat);
    for (size_t i = 0; i < dim; ++i) {
      terms_of_weight[i] += of.of_norm[i] * std::fabs(of.xhat[i]);
      terms_of_bias[i] += of.of_norm[i];
    }
  }
  std::vector<Expected<Args>> outputs;
  if (present(args.dx)) outputs.push_back(expected(args, &Args::dx, of_dx));
  const reference::SizesOfTerms sizes = reference::sizes_of_terms(args);
  const double of_sums = 4 * 0x1p-24 * std::sqrt(static_cast<double>(args.forward.x.shape[0]));
  Exact of_weight, of_bias;
  for (size_t i = 0; i < dim; ++i) {
    of_weight.push_back(of_sums * sizes.dweight[i] + 4 * worst_xhat * sizes.dbias[i] + terms_of_weight[i]);
    of_bias.push_back(of_sums * sizes.dbias[i] + terms_of_bias[i]);
  }
  if (present(args.dweight)) outputs.push_back(expected(args, &Args::dweight, of_weight));
  if constexpr (kCentred<Args>)
    if (present(args.dbias)) outputs.push_back(expected(args, &Args::dbias, of_bias));
  return outputs;
}

template <class Args>
void give(HostMemory& memory, Args& args) {
  args.workspace_size = operator_of(op_of<Args>()).workspace->bytes(&args);
  args.workspace = args.workspace_size > 0 ? memory.slab(static_cast<int64_t>(args.workspace_size)).base() : nullptr;
}

}  // namespace

void store_moments(const hstu_tensor& x, const hstu_tensor& moments) {
  const int64_t parts = moments.shape[1], length = x.shape[1] / parts;
  std::vector<double> part(static_cast<size_t>(length));
  for (int64_t i = 0; i < x.shape[0] * parts; ++i) {
    load(x, i / parts * x.stride[0] + i % parts * length, length, part.data());
    double pair[2] = {};
    for (const double value : part) pair[0] += value / static_cast<double>(length);
    for (const double value : part) pair[1] += (value - pair[0]) * (value - pair[0]);
    store(moments, 2 * i, 2, pair);
  }
}

void give_workspace(HostMemory& memory, Rms& args) { give(memory, args); }
void give_workspace(HostMemory& memory, Swish& args) { give(memory, args); }

std::vector<Expected<Rms>> expected_gradients(const Rms& args) { return expected_of(args); }
std::vector<Expected<Swish>> expected_gradients(const Swish& args) { return expected_of(args); }

}  // namespace hstujit::test
