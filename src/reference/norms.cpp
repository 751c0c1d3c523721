// Norms of rows: layer, swish, RMS and group norm, and RMS norm with rotary position embedding.
#include "problem/fp8_scales.hpp"
#include "problem/operators.hpp"
#include "reference/rows.hpp"

#include <algorithm>
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

/// Quantises a row of results, if y is in FP8 (as a matrix: of the last dimension), each unit by its own scale, which
/// goes to `descale`, the second output.
class RowQuantiser {
 public:
  RowQuantiser(const hstu_tensor& y, const hstu_tensor& descale, hstu_fp8_scaling scaling, double* const* exact)
      : y_(y), descale_(descale), grouped_(scaling == HSTU_FP8_GROUP), exact_(exact) {}

  void run(Row& x, int64_t row) const {
    if (!fp8::stores(y_.dtype)) return;
    const int64_t dim = y_.shape[y_.rank - 1];
    if (!grouped_) return write(row, 0, quantise(x, 0, dim));
    for (int64_t first = 0; first < dim; first += fp8::kSpan)
      write(row, first / fp8::kSpan, quantise(x, first, std::min(dim, first + fp8::kSpan)));
  }

 private:
  float quantise(Row& x, int64_t first, int64_t end) const {
    float greatest = 1e-12f;
    for (int64_t i = first; i < end; ++i)
      greatest = std::max(greatest, static_cast<float>(std::fabs(x[static_cast<size_t>(i)])));
    const float largest = y_.dtype == HSTU_DTYPE_E4M3 ? 448.0f : 57344.0f, multiplier = largest / greatest;
    for (int64_t i = first; i < end; ++i) {
      double& value = x[static_cast<size_t>(i)];
      const double product = static_cast<double>(static_cast<float>(value) * multiplier);
      value = y_.dtype == HSTU_DTYPE_E4M3 ? E4m3::widen(E4m3::round(product)) : E5m2::widen(E5m2::round(product));
    }
    return greatest / largest;
  }
  void write(int64_t row, int64_t unit, float value) const {
    if (exact_) {
      if (exact_[1]) exact_[1][row * (grouped_ ? descale_.shape[1] : 1) + unit] = static_cast<double>(value);
    } else {
      static_cast<float*>(descale_.data)[row * descale_.stride[0] + (grouped_ ? unit * descale_.stride[1] : 0)] = value;
    }
  }

  const hstu_tensor &y_, &descale_;
  const bool grouped_;
  double* const* exact_;
};

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
