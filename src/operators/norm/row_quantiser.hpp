// Rows of results to FP8, in the operators that quantise what they write.
#pragma once

#include "operators/fp8/fp8_scales.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace hstujit::reference {

/// Quantises a row of results, if y is in FP8 (as a matrix: of the last dimension), each unit by its own scale, which
/// goes to `descale`, the second output. Unrounded results are what FP8 then rounds, limited as it limits them.
class RowQuantiser {
 public:
  RowQuantiser(const hstu_tensor& y, const hstu_tensor& descale, hstu_fp8_scaling scaling, double* const* exact)
      : y_(y), descale_(descale), grouped_(scaling == HSTU_FP8_GROUP), exact_(exact) {}

  void run(std::vector<double>& x, int64_t row) const {
    if (!fp8::stores(y_.dtype)) return;
    const int64_t dim = y_.shape[y_.rank - 1];
    if (!grouped_) return write(row, 0, quantise(x, 0, dim));
    for (int64_t first = 0; first < dim; first += fp8::kSpan)
      write(row, first / fp8::kSpan, quantise(x, first, std::min(dim, first + fp8::kSpan)));
  }

 private:
  float quantise(std::vector<double>& x, int64_t first, int64_t end) const {
    float greatest = 1e-12f;
    for (int64_t i = first; i < end; ++i) greatest = greater(greatest, x[static_cast<size_t>(i)]);
    const float largest = y_.dtype == HSTU_DTYPE_E4M3 ? 448.0f : 57344.0f, multiplier = largest / greatest;
    for (int64_t i = first; i < end; ++i) {
      double& value = x[static_cast<size_t>(i)];
      const double product = static_cast<double>(static_cast<float>(value) * multiplier);
      if (exact_)
        value = std::fabs(product) > static_cast<double>(largest) ? std::copysign(largest, product) : product;
      else
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

}  // namespace hstujit::reference
