// What the FP8 operators share: units of scaling, the shapes of their descales, the checks of both, and descales as the
// references read them.
#pragma once

#include "operators/checks.hpp"
#include "support/ceil_div.hpp"
#include "support/element.hpp"

#include <hstujit/hstujit.h>

#include <cmath>
#include <cstdint>

namespace hstujit {

namespace fp8 {

constexpr int64_t kSpan = 128;  ///< rows and columns of a block, columns of a group

/// The unit of a scaling: rows and columns of the matrix under one scale, counted from its corner.
struct Unit {
  int64_t rows, columns;
};
Unit unit_of(hstu_fp8_scaling scaling, int64_t rows, int64_t columns);

/// Whether a row or column has scales of its own for parts of k, the dimension that is summed over.
inline bool changes_along_k(int scaling) { return scaling == HSTU_FP8_GROUP || scaling == HSTU_FP8_BLOCK; }

/// INVALID_ARGUMENT naming `name` unless the value is one of the enum's.
void check_scaling(const char* name, const hstu_fp8_scaling& scaling);
void check_scaling(const char* name, int64_t value);

inline bool stores(int dtype) { return dtype == HSTU_DTYPE_E4M3 || dtype == HSTU_DTYPE_E5M2; }
/// UNSUPPORTED_DTYPE unless E4M3 or E5M2.
void is_fp8(const checks::Tensor& a);

/// The descales of a matrix of rows x columns: f32, of the shape that the scaling asks for.
checks::Tensor check_descale(const char* name, hstu_tensor& t, hstu_fp8_scaling scaling, int64_t rows, int64_t columns);

/// Elements an access of a matrix x and its quantised form q: up to 32 bytes of x and 16 of q, aligned to 16 at most.
int32_t vector_of(const hstu_tensor& x, const hstu_tensor& q);
/// Bytes an access of an operand of a product, up to 16.
int32_t bytes_an_access(const hstu_tensor& operand);

/// Gives descales of a shortened matrix their shape.
void shorten_descale(hstu_tensor& t, hstu_fp8_scaling scaling, int64_t rows);

/// Strides along rows and columns of units; those that the scaling has not are 0.
int64_t row_stride(const hstu_tensor& descale, hstu_fp8_scaling scaling);
int64_t column_stride(const hstu_tensor& descale, hstu_fp8_scaling scaling);

/// Bytes of the descales.
double descale_bytes(const hstu_tensor& descale);

}  // namespace fp8

namespace reference {

/// The greater magnitude; NaN is greater than all.
inline float greater(float amax, double value) {
  const auto size = static_cast<float>(std::fabs(value));
  return std::isnan(amax) || size <= amax ? amax : size;
}

/// The descale of element (row, column) of the matrix it belongs to.
inline double descale_at(const hstu_tensor& descale, hstu_fp8_scaling scaling, int64_t row, int64_t column) {
  const int64_t span = fp8::kSpan, unit_row = scaling == HSTU_FP8_BLOCK ? row / span : row;
  const auto* data = static_cast<const float*>(descale.data);
  return data[unit_row * fp8::row_stride(descale, scaling) + column / span * fp8::column_stride(descale, scaling)];
}

}  // namespace reference

}  // namespace hstujit
