// Norms of rows: layer, swish, RMS and group norm, and RMS norm with rotary position embedding.
#include "operators/norm/row_quantiser.hpp"
#include "operators/operators.hpp"
#include "operators/rows.hpp"

#include <vector>

namespace hstujit::reference {
namespace {

using Row = std::vector<double>;

/// Calls body(x, row) with each row of x, [rows, dim], and writes what it leaves in x.
template <class Body>
void for_rows(const hstu_tensor& x, const hstu_tensor& y, double* const* exact, const Body& body) {
  const int64_t rows = x.shape[0], dim = x.shape[1];
  const Output out(y, exact);
  parallel_for(rows, 20.0 * static_cast<double>(rows) * static_cast<double>(dim), [&](int64_t row) {
    Row values(static_cast<size_t>(dim));
    load(x, row * x.stride[0], dim, values.data());
    body(values, row);
    out.write(row, 0, dim, values.data());
  });
}

}  // namespace

void run(const hstu_layer_norm_args& args, double* const* exact) {
  const int64_t dim = args.x.shape[1];
  const Row weight = load_vector(args.weight, dim, 1), bias = load_vector(args.bias, dim, 0);
  const RowQuantiser quantiser(args.y, args.descale, args.scaling, exact);
  for_rows(args.x, args.y, exact, [&](Row& x, int64_t row) {
    normalise(x.data(), dim, args.eps);
    for (size_t i = 0; i < x.size(); ++i) x[i] = x[i] * weight[i] + bias[i];
    quantiser.run(x, row);
  });
}

void run(const hstu_swish_layer_norm_args& args, double* const* exact) {
  const int64_t dim = args.x.shape[1];
  const Row weight = load_vector(args.weight, dim, 1), bias = load_vector(args.bias, dim, 0);
  for_rows(args.x, args.y, exact, [&](Row& x, int64_t) {
    Row norm = x;
    normalise(norm.data(), dim, args.eps);
    for (size_t i = 0; i < x.size(); ++i) x[i] *= sigmoid(norm[i] * weight[i] + bias[i]);
  });
}

void run(const hstu_rms_norm_args& args, double* const* exact) {
  const int64_t dim = args.x.shape[1];
  const Row weight = load_vector(args.weight, dim, 1);
  const RowQuantiser quantiser(args.y, args.descale, args.scaling, exact);
  for_rows(args.x, args.y, exact, [&](Row& x, int64_t row) {
    normalise_rms(x.data(), dim, args.eps);
    for (size_t i = 0; i < x.size(); ++i) x[i] = activate(args.activation, x[i] * weight[i]);
    quantiser.run(x, row);
  });
}

void run(const hstu_group_norm_args& args, double* const* exact) {
  const int64_t groups = args.num_groups, length = args.x.shape[1] / groups;
  const Row weight = load_vector(args.weight, groups, 1), bias = load_vector(args.bias, groups, 0);
  for_rows(args.x, args.y, exact, [&](Row& x, int64_t) {
    for (int64_t g = 0; g < groups; ++g) {
      double* part = x.data() + g * length;
      normalise(part, length, args.eps);
      for (int64_t i = 0; i < length; ++i)
        part[i] = part[i] * weight[static_cast<size_t>(g)] + bias[static_cast<size_t>(g)];
    }
  });
}

void run(const hstu_rms_norm_rope_args& args, double* const* exact) {
  const int64_t batch = args.x.shape[0], length = args.x.shape[1], hidden = args.x.shape[2], half = args.head_dim / 2;
  const Row weight = load_vector(args.weight, hidden, 1);
  const Output out(args.y, exact);
  const RowQuantiser quantiser(args.y, args.descale, args.scaling, exact);
  parallel_for(batch * length, 20.0 * static_cast<double>(batch * length * hidden), [&](int64_t row) {
    const int64_t b = row / length, s = row % length;
    Row x(static_cast<size_t>(hidden)), cosine(static_cast<size_t>(half)), sine(cosine);
    load(args.x, b * args.x.stride[0] + s * args.x.stride[1], hidden, x.data());
    load(args.cosine, s * args.cosine.stride[0], half, cosine.data());
    load(args.sine, s * args.sine.stride[0], half, sine.data());
    normalise_rms(x.data(), hidden, args.eps);
    for (size_t i = 0; i < x.size(); ++i) x[i] *= weight[i];
    for (int64_t head = 0; head < hidden; head += args.head_dim) {
      double *first = x.data() + head, *second = first + half;
      for (int64_t d = 0; d < half; ++d) {
        const double a = first[d], b2 = second[d], c = cosine[static_cast<size_t>(d)], z = sine[static_cast<size_t>(d)];
        first[d] = a * c - b2 * z;
        second[d] = b2 * c + a * z;
      }
    }
    quantiser.run(x, row);
    out.write(b, 0, hidden, x.data(), s);
  });
}

}  // namespace hstujit::reference
