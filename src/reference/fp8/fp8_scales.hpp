// Descales in the reference operators.
#pragma once

#include "problem/fp8/fp8_scales.hpp"
#include "support/element.hpp"

#include <cmath>

namespace hstujit::reference {

/// The greater magnitude; NaN is greater than all.
inline float greater(float greatest, double value) {
  const auto size = static_cast<float>(std::fabs(value));
  return std::isnan(greatest) || size <= greatest ? greatest : size;
}

/// The descale of element (row, column) of the matrix it belongs to.
inline double descale_at(const hstu_tensor& descale, hstu_fp8_scaling scaling, int64_t row, int64_t column) {
  const int64_t span = fp8::kSpan, unit_row = scaling == HSTU_FP8_BLOCK ? row / span : row;
  const auto* data = static_cast<const float*>(descale.data);
  return data[unit_row * fp8::row_stride(descale, scaling) + column / span * fp8::column_stride(descale, scaling)];
}

}  // namespace hstujit::reference
