// Checks that the gradients of the norms share: tensors like x, statistics of rows, gradients of weights, workspaces.
#pragma once

#include "operators/checks.hpp"

#include <cstddef>
#include <initializer_list>

namespace hstujit::checks {

/// Like x, [rows, dim].
Tensor like_x(const char* name, hstu_tensor& t, const Tensor& x);
/// The same where it is there; else it takes no bytes.
Tensor like_x_or_absent(const char* name, hstu_tensor& t, const Tensor& x);

/// moments, f32 [rows, 1, 2], each row's pair one access; or absent.
Tensor row_moments(hstu_tensor& t, const Tensor& x);

/// One number on the device, i32 or i64; or absent.
Tensor valid_rows(hstu_tensor& t);

/// dweight or dbias, [count], which `what` explains, of weight's type or f32; or absent, as without a weight it must
/// be.
Tensor weight_gradient(const char* name, hstu_tensor& t, bool weighted, const Tensor& weight, int64_t count,
                       const char* what);
/// [dim] of x.
inline Tensor weight_gradient(const char* name, hstu_tensor& t, bool weighted, const Tensor& weight, const Tensor& x) {
  return weight_gradient(name, t, weighted, weight, x.t.shape[1], "x.shape[1]");
}

/// dresidual is added to dx alone.
void residual_needs_dx(const hstu_tensor& dresidual, const hstu_tensor& dx);

/// The call's workspace, of `needed` bytes or more, apart from all of its tensors. function: says how many.
void workspace(void* data, size_t size, size_t needed, const char* function,
               std::initializer_list<const Tensor*> others);

}  // namespace hstujit::checks
