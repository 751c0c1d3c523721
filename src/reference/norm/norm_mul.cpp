// The HSTU output stage before its projection: norm, multiply, concatenate.
#include "problem/operators.hpp"
#include "reference/norm/row_quantiser.hpp"
#include "reference/rows.hpp"
#include "support/philox.hpp"

#include <algorithm>
#include <bit>
#include <vector>

namespace hstujit::reference {
namespace {

using Row = std::vector<double>;

/// norm(attn) * weight + bias; under group norm over equal parts of the row, each with one weight and bias.
Row normed(const Row& attn, const Row& weight, const Row& bias, const hstu_norm_mul_args& args) {
  Row t = attn;
  const auto dim = static_cast<int64_t>(t.size()), parts = std::max<int64_t>(args.num_groups, 1), part = dim / parts;
  for (int64_t g = 0; g < parts; ++g)
    (args.norm == HSTU_NORM_RMS ? normalise_rms : normalise)(t.data() + g * part, part, args.eps);
  for (size_t i = 0; i < t.size(); ++i) {
    const size_t w = args.num_groups > 0 ? i / static_cast<size_t>(part) : i;
    t[i] = t[i] * weight[w] + bias[w];
    if (args.norm == HSTU_NORM_SWISH) t[i] = attn[i] * sigmoid(t[i]);
  }
  return t;
}

/// The random number that decides over a column of a segment; segments in all.
float uniform_at(const hstu_norm_mul_args& args, int64_t row, int64_t segment, int64_t segments, int64_t column) {
  const int64_t dim = args.attn.shape[1];
  const auto power = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(dim)));
  int64_t counter = 0, word = 0;
  switch (args.dropout_stream) {
    case HSTU_DROPOUT_COMPAT:
      counter = args.num_groups > 0 ? row * segments * dim + segment * dim : 3 * row * power + segment * dim;
      break;
    case HSTU_DROPOUT_FAST:
      counter = 3 * row * power;
      word = segment;
      break;
    case HSTU_DROPOUT_MASKS:
      counter = row / 4 * segments * power + (segments - 1 - segment) * power;
      word = row % 4;
      break;
    case HSTU_DROPOUT_ROWS:
      counter = row * power + segment * dim;
      break;
  }
  return uniform_of(
      philox(static_cast<uint64_t>(counter + column), static_cast<uint64_t>(args.seed))[static_cast<size_t>(word)]);
}

void drop(Row& x, const hstu_norm_mul_args& args, int64_t row, int64_t segment, int64_t segments) {
  if (args.dropout_ratio == 0) return;
  for (size_t i = 0; i < x.size(); ++i) {
    const float u = uniform_at(args, row, segment, segments, static_cast<int64_t>(i));
    x[i] = u > args.dropout_ratio ? x[i] / (1 - static_cast<double>(args.dropout_ratio)) : 0;
  }
}

Row activated(const Row& x, hstu_activation activation) {
  Row out(x.size());
  std::transform(x.begin(), x.end(), out.begin(), [&](double value) { return activate(activation, value); });
  return out;
}

}  // namespace

void run(const hstu_norm_mul_args& args, double* const* exact) {
  const int64_t rows = args.attn.shape[0], dim = args.attn.shape[1];
  const int64_t weights = args.weight.shape[0], segments = 1 + args.concat_u + args.concat_x;
  const Row weight = load_vector(args.weight, weights, 1), bias = load_vector(args.bias, weights, 0);
  const Output out(args.out, exact);
  const RowQuantiser quantiser(args.out, args.descale, args.scaling, exact);
  parallel_for(rows, 30.0 * static_cast<double>(rows) * static_cast<double>(dim), [&](int64_t row) {
    Row attn(static_cast<size_t>(dim)), u(static_cast<size_t>(dim));
    load(args.attn, row * args.attn.stride[0], dim, attn.data());
    load(args.u, row * args.u.stride[0], dim, u.data());

    const Row copied = activated(u, args.silu_u ? HSTU_ACTIVATION_SILU : HSTU_ACTIVATION_NONE);
    const Row factor = args.num_groups > 0 ? copied : activated(u, args.activation);
    Row product = normed(attn, weight, bias, args);
    for (size_t i = 0; i < product.size(); ++i) product[i] *= factor[i];

    Row whole;
    int64_t segment = 0;
    const auto append = [&](Row values) {
      drop(values, args, row, segment++, segments);
      whole.insert(whole.end(), values.begin(), values.end());
    };
    if (args.concat_u) append(copied);
    if (args.concat_x) append(attn);
    append(product);
    quantiser.run(whole, row);
    out.write(row, 0, segments * dim, whole.data());
  });
}

}  // namespace hstujit::reference
