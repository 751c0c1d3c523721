// Compares two results of one call, aware of their scale: small outputs are not excused by an absolute tolerance.
#pragma once

#include "operators/problem.hpp"

#include <hstujit/hstujit.h>

#include <string>

namespace hstujit {

/// How far two kernels of one operator may differ: twice what each may differ from the exact result.
struct Tolerance {
  double frobenius;  ///< norm of the difference over norm of the expected, all elements
  /// Of an element, two parts that add up: over the largest element of its row (all dimensions but the last fixed), and
  /// in steps of the type where the element lies, which its rounding may make.
  double row;
  double steps = 0;
};
/// Of an output of the operator whose elements are rounded to `dtype`. What a row's sums are wrong by depends on
/// whether the operator rounds their terms. terms: of sums whose length grows with the call, which f32 sums in another
/// order differ by the more; 0 of others.
Tolerance tolerance_of(Op op, hstu_dtype dtype, int64_t terms = 0);

/// expected and actual: equal shape, strides and floating-point type, data in host memory. Elements that are NaN in
/// both are equal (rows that a jagged operator leaves alone); NaN in one only, and infinities, never are. Rows much
/// smaller than the average are judged by a tenth of the average. "" when they agree, else the first impossible or the
/// worst element.
std::string difference(const hstu_tensor& expected, const hstu_tensor& actual, const Tolerance& tolerance);

/// Whether any element is a finite number.
bool has_results(const hstu_tensor& t);

}  // namespace hstujit
