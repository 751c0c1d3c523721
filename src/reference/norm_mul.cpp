// The HSTU output stage before its projection: norm, multiply, concatenate.
#include "problem/operators.hpp"
#include "reference/rows.hpp"

#include <algorithm>
#include <vector>

namespace hstujit::reference {
namespace {

using Row = std::vector<double>;

Row load_vector(const hstu_tensor& t, int64_t count) {
  Row out(static_cast<size_t>(count));
  load(t, 0, count, out.data());
  return out;
}

/// norm(attn) * weight + bias; under group norm over equal parts of the row, each with one weight and bias.
Row normed(const Row& attn, const Row& weight, const Row& bias, const hstu_norm_mul_args& args) {
  Row t = attn;
  const auto dim = static_cast<int64_t>(t.size()), parts = std::max<int64_t>(args.num_groups, 1), part = dim / parts;
  for (int64_t g = 0; g < parts; ++g) normalise(t.data() + g * part, part, args.eps);
  for (size_t i = 0; i < t.size(); ++i) {
    const size_t w = args.num_groups > 0 ? i / static_cast<size_t>(part) : i;
    t[i] = t[i] * weight[w] + bias[w];
  }
  return t;
}

Row activated(const Row& x, hstu_activation activation) {
  Row out(x.size());
  std::transform(x.begin(), x.end(), out.begin(), [&](double value) { return activate(activation, value); });
  return out;
}

}  // namespace

void run(const hstu_norm_mul_args& args, double* const* exact) {
  const int64_t rows = args.attn.shape[0], dim = args.attn.shape[1];
  const Row weight = load_vector(args.weight, args.weight.shape[0]), bias = load_vector(args.bias, args.bias.shape[0]);
  const Output out(args.out, exact);
  parallel_for(rows, 30.0 * static_cast<double>(rows) * static_cast<double>(dim), [&](int64_t row) {
    Row attn(static_cast<size_t>(dim)), u(static_cast<size_t>(dim));
    load(args.attn, row * args.attn.stride[0], dim, attn.data());
    load(args.u, row * args.u.stride[0], dim, u.data());

    const Row copied = activated(u, args.silu_u ? HSTU_ACTIVATION_SILU : HSTU_ACTIVATION_NONE);
    const Row factor = args.num_groups > 0 ? copied : activated(u, args.activation);
    Row product = normed(attn, weight, bias, args);
    for (size_t i = 0; i < product.size(); ++i) product[i] *= factor[i];

    int64_t column = 0;
    const auto append = [&](const Row& segment) {
      out.write(row, column, dim, segment.data());
      column += dim;
    };
    if (args.concat_u) append(copied);
    if (args.concat_x) append(attn);
    append(product);
  });
}

}  // namespace hstujit::reference
