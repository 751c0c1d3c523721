// Checks of operators that turn rows into rows of the same shape: what the norms, softmax and dropout share; and
// of statistics of rows.
#pragma once

#include "operators/checks.hpp"

namespace hstujit::checks {

/// x [rows, dim] and out of the same shape and type; out may be x itself, or in FP8 where the operator quantises.
struct Rows {
  Tensor x, out;
  int64_t dim() const { return x.t.shape[1]; }
};
Rows rows(hstu_tensor& x, hstu_tensor& out, bool quantises = false);

/// The scales of an out in FP8, one a row or 128 columns of one; of another there must be none. rows, columns: of out
/// as a matrix. Gives the scales, apart from x and out; those that are not there take no bytes.
Tensor quantised(const Tensor& x, const Tensor& out, int64_t rows, int64_t columns, hstu_tensor& descale,
                 const hstu_fp8_scaling& scaling);
inline void quantised(const Rows& r, hstu_tensor& descale, const hstu_fp8_scaling& scaling) {
  quantised(r.x, r.out, r.x.t.shape[0], r.dim(), descale, scaling);
}

/// weight or bias, [count], which `what` explains, apart from the output.
Tensor weight(const char* name, hstu_tensor& t, int64_t count, const char* what, const Tensor& out);

/// weight and bias, which come together: true when both are there, checked and of one type.
bool weight_and_bias(hstu_tensor& weight, hstu_tensor& bias, int64_t count, const char* what, const Tensor& out);

/// moments, f32 [rows, parts, 2], statistics of rows part by part as one operator leaves them for another: mean and sum
/// of squared deviations, contiguous, each pair one access. `what` says what the rows are.
Tensor part_moments(hstu_tensor& moments, int64_t rows, const char* what);

}  // namespace hstujit::checks
