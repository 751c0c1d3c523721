// What the references of the norms share: a walk over rows, weight and bias, and rows of results in FP8.
#pragma once

#include "operators/fp8/fp8_scales.hpp"
#include "operators/reference.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace hstujit::reference {

using Row = std::vector<double>;

inline Row load_row(const hstu_tensor& matrix, int64_t row) {
  Row values(static_cast<size_t>(matrix.shape[1]));
  load(matrix, row * matrix.stride[0], matrix.shape[1], values.data());
  return values;
}

/// Calls body(x, row) with each row of x, [rows, dim], and writes what it leaves in x. operations: of an element.
template <class Body>
void for_rows(const hstu_tensor& x, const hstu_tensor& to, double* const* exact, double operations, const Body& body) {
  const int64_t rows = x.shape[0], dim = x.shape[1];
  const Output out(to, exact);
  parallel_for(rows, operations * static_cast<double>(rows) * static_cast<double>(dim), [&](int64_t row) {
    Row values = load_row(x, row);
    body(values, row);
    out.write(row, 0, dim, values.data());
  });
}

/// Mean and sum of squared deviations of a row.
inline void write_moments(const Output& moments, int64_t row, const Row& x) {
  double pair[2] = {};
  for (const double value : x) pair[0] += value / static_cast<double>(x.size());
  for (const double value : x) pair[1] += (value - pair[0]) * (value - pair[0]);
  moments.write(row, 0, 2, pair);
}

/// x <- x * weight + bias.
inline void scale_and_shift(Row& x, const Row& weight, const Row& bias) {
  for (size_t i = 0; i < x.size(); ++i) x[i] = x[i] * weight[i] + bias[i];
}

/// Quantises a row of results, if out is in FP8 (as a matrix: of the last dimension), each unit by its own scale, which
/// goes to `descale`, the second output. Unrounded results are what FP8 then rounds, limited as it limits them.
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
    float amax = 1e-12f;
    for (int64_t i = first; i < end; ++i) amax = greater(amax, x[static_cast<size_t>(i)]);
    const float largest = y_.dtype == HSTU_DTYPE_E4M3 ? 448.0f : 57344.0f, multiplier = largest / amax;
    for (int64_t i = first; i < end; ++i) {
      double& value = x[static_cast<size_t>(i)];
      const double product = static_cast<double>(static_cast<float>(value) * multiplier);
      if (exact_)
        value = std::fabs(product) > static_cast<double>(largest) ? std::copysign(largest, product) : product;
      else
        value = y_.dtype == HSTU_DTYPE_E4M3 ? E4m3::widen(E4m3::round(product)) : E5m2::widen(E5m2::round(product));
    }
    return amax / largest;
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

}  // namespace hstujit::reference
