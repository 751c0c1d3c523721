#include "support/norm_mul_gradients.hpp"

#include "operators/norm/norm_mul.hpp"
#include "operators/norm/norm_mul_backward.hpp"

#include <algorithm>
#include <cmath>

namespace hstujit::test {
namespace {

using Args = hstu_norm_mul_backward_args;
using reference::Row;

constexpr double kOfSigmoid = 4e-6, kOfProduct = 3e-7;

/// Mean and sum of squared deviations of `count` values.
struct Moments {
  double mean = 0, squares = 0;

  Moments(const double* x, int64_t count) {
    for (int64_t i = 0; i < count; ++i) mean += x[i] / static_cast<double>(count);
    for (int64_t i = 0; i < count; ++i) squares += (x[i] - mean) * (x[i] - mean);
  }
};

/// Of one row: how wrong elements of dattn and du may be, and the terms of the sums.
struct RowErrors {
  Row dattn, du;
  Row of_weight, of_bias;  ///< of each column, its terms'
  double worst_xhat = 0;

  RowErrors(const Args& args, int64_t row, const Row& weight)
      : dattn(weight.size()), du(dattn), of_weight(dattn), of_bias(dattn) {
    const hstu_norm_mul_args& forward = args.forward;
    const Row attn = reference::load_row(forward.attn, row), u = reference::load_row(forward.u, row),
              dout = reference::load_row(args.dout, row);
    const auto dim = static_cast<int64_t>(attn.size()), length = norm_mul::normed_length(forward, dim);
    const int64_t segments = norm_mul::segments_of(forward);
    const auto segment = [&](int64_t index, bool there) {
      Row values(attn.size());
      if (!there) return values;
      std::copy_n(dout.begin() + index * dim, dim, values.begin());
      reference::drop(values, forward, row, index, segments);
      for (double& value : values) value = std::fabs(value);
      return values;
    };
    const Row d0 = segment(0, forward.concat_u), d1 = segment(forward.concat_u, forward.concat_x),
              d2 = segment(segments - 1, true);
    const bool swish = forward.norm == HSTU_NORM_SWISH, centred = forward.norm != HSTU_NORM_RMS;
    const hstu_activation activation = forward.num_groups == 0 ? forward.activation
                                       : forward.silu_u        ? HSTU_ACTIVATION_SILU
                                                               : HSTU_ACTIVATION_NONE;
    const double of_activation = activation != HSTU_ACTIVATION_NONE ? kOfSigmoid : kOfProduct;
    for (int64_t first = 0; first < dim; first += length) {
      const Moments m(attn.data() + first, length);
      const auto n = static_cast<double>(length);
      const double mean = centred ? m.mean : 0, squares = m.squares + (centred ? 0 : n * m.mean * m.mean);
      const double rstd = 1 / std::sqrt(squares / n + forward.eps);
      const double of_xhat = 1e-6 + 4 * 0x1p-24 * std::fabs(mean) * rstd;
      worst_xhat = std::max(worst_xhat, of_xhat);
      double largest_weight = 0, largest_xhat = 0, largest_term = 0, largest_error = 0;
      for (int64_t i = first; i < first + length; ++i) {
        const auto at = static_cast<size_t>(i);
        largest_weight = std::max(largest_weight, std::fabs(weight[at]));
        largest_xhat = std::max(largest_xhat, std::fabs((attn[at] - mean) * rstd));
      }
      const double of_norm =
          largest_weight * of_xhat * (1 + largest_xhat) + kOfProduct * (1 + largest_weight * largest_xhat);
      const double of_sigmoid = swish ? kOfSigmoid + of_norm : 0;
      for (int64_t i = first; i < first + length; ++i) {
        const auto at = static_cast<size_t>(i);
        const double x = std::fabs(attn[at]), xhat = std::fabs((attn[at] - mean) * rstd);
        const double factor = std::fabs(reference::activate(activation, u[at]));
        const double term = d2[at] * factor * (swish ? x : 1), error = term * (of_activation + of_sigmoid);
        largest_term = std::max(largest_term, term);
        largest_error = std::max(largest_error, error);
        of_weight[at] = error * xhat;
        of_bias[at] = error;
        const double t = swish ? x : std::fabs(weight[at]) * xhat + 4;  // at most, of biases that are normal numbers
        du[at] = d2[at] * (t * of_activation + 1.1 * (swish ? x * of_sigmoid : of_norm)) + d0[at] * kOfSigmoid;
        dattn[at] = d1[at] * kOfProduct + (swish ? d2[at] * factor * (of_activation + of_sigmoid) : 0);
      }
      const double of_g =
          rstd * largest_weight * (largest_error * (2 + largest_xhat) + largest_term * (4e-6 + 4 * of_xhat));
      for (int64_t i = first; i < first + length; ++i) dattn[static_cast<size_t>(i)] += of_g;
    }
  }
};

/// Of all, as its elements may be.
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

int64_t valid_rows_of(const Args& args) {
  const int64_t rows = args.forward.attn.shape[0];
  return present(args.valid_rows) ? std::clamp<int64_t>(integer_at(args.valid_rows, 0), 0, rows) : rows;
}

/// Weight of each column.
Row weights_of(const Args& args) {
  const int64_t dim = args.forward.attn.shape[1], count = args.forward.weight.shape[0];
  Row each(static_cast<size_t>(count)), all;
  load(args.forward.weight, 0, count, each.data());
  for (int64_t i = 0; i < dim; ++i) all.push_back(each[static_cast<size_t>(i / (dim / count))]);
  return all;
}

}  // namespace

void give_workspace(HostMemory& memory, Args& args) {
  args.workspace_size = operator_of(Op::norm_mul_backward).workspace->bytes(&args);
  args.workspace = args.workspace_size > 0 ? memory.slab(static_cast<int64_t>(args.workspace_size)).base() : nullptr;
}

hstu_tensor part_moments_of(HostMemory& memory, const hstu_tensor& matrix, int64_t parts) {
  const hstu_tensor moments = memory.poison(HSTU_DTYPE_F32, {matrix.shape[0], parts, 2});
  const int64_t part = matrix.shape[1] / parts;
  for (int64_t row = 0; row < matrix.shape[0]; ++row) {
    const Row x = reference::load_row(matrix, row);
    for (int64_t i = 0; i < parts; ++i) {
      const Moments m(x.data() + i * part, part);
      const double pair[2] = {m.mean, m.squares};
      store(moments, 2 * (row * parts + i), 2, pair);
    }
  }
  return moments;
}

std::vector<Expected<Args>> expected_gradients(const Args& given) {
  Args args = given;
  prepare(args);
  const Row weight = weights_of(args);
  const auto count = static_cast<size_t>(args.forward.weight.shape[0]), each = weight.size() / count;
  double worst_xhat = 0;
  Exact of_dattn, of_du, terms_of_weight(count), terms_of_bias(count);
  for (int64_t row = 0; row < args.forward.attn.shape[0]; ++row) {
    const RowErrors of(args, row, weight);
    of_dattn.insert(of_dattn.end(), of.dattn.begin(), of.dattn.end());
    of_du.insert(of_du.end(), of.du.begin(), of.du.end());
    if (row >= valid_rows_of(args)) continue;
    worst_xhat = std::max(worst_xhat, of.worst_xhat);
    for (size_t i = 0; i < weight.size(); ++i) {
      terms_of_weight[i / each] += of.of_weight[i];
      terms_of_bias[i / each] += of.of_bias[i];
    }
  }
  std::vector<Expected<Args>> outputs;
  if (present(args.dattn)) outputs.push_back(expected(args, &Args::dattn, of_dattn));
  if (present(args.du)) outputs.push_back(expected(args, &Args::du, of_du));
  const reference::SizesOfTerms sizes = reference::sizes_of_terms(args);
  const double terms = static_cast<double>(args.forward.attn.shape[0]) * static_cast<double>(each);
  const double of_sums = 4 * 0x1p-24 * std::sqrt(terms);
  Exact of_weight, of_bias;
  for (size_t i = 0; i < count; ++i) {
    of_weight.push_back(of_sums * sizes.dweight[i] + 4 * worst_xhat * sizes.dbias[i] + terms_of_weight[i]);
    of_bias.push_back(of_sums * sizes.dbias[i] + terms_of_bias[i]);
  }
  if (present(args.dweight)) outputs.push_back(expected(args, &Args::dweight, of_weight));
  if (present(args.dbias)) outputs.push_back(expected(args, &Args::dbias, of_bias));
  const auto dtype = static_cast<hstu_dtype>(args.forward.attn.dtype);
  const bool few = weight.size() < kFewElements;
  if (present(args.out)) outputs.push_back({&Args::out, few ? rounded_once_of_few(dtype) : rounded_once(dtype)});
  return outputs;
}

}  // namespace hstujit::test
