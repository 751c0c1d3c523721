#include "operators/norm/gradient_checks.hpp"

#include "operators/operators.hpp"
#include "support/error.hpp"

namespace hstujit::checks {

Tensor like_x(const char* name, hstu_tensor& t, const Tensor& x) {
  const Tensor like = required<2>(name, t);
  same_dtype(like, x);
  extent(like, 0, x.t.shape[0], "x.shape[0]");
  extent(like, 1, x.t.shape[1], "x.shape[1]");
  return like;
}

Tensor like_x_or_absent(const char* name, hstu_tensor& t, const Tensor& x) {
  if (!given(name, t)) return {name, t};
  return like_x(name, t, x);
}

Tensor row_moments(hstu_tensor& t, const Tensor& x) {
  if (!given("moments", t)) return {"moments", t};
  const Tensor moments = required<3>("moments", t);
  is_f32(moments);
  extent(moments, 0, x.t.shape[0], "x.shape[0]");
  extent(moments, 1, 1, "the number of parts");
  extent(moments, 2, 2, "mean and squares, their number");
  if (reinterpret_cast<uintptr_t>(t.data) % 8 != 0)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "moments.data = {}: it must be aligned to 8 bytes, as each row's pair", t.data);
  if (t.stride[0] % 2 != 0)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "moments.stride[0] = {}: it must be even, so that each row's pair is aligned",
         t.stride[0]);
  return moments;
}

Tensor valid_rows(hstu_tensor& t) {
  if (!given("valid_rows", t)) return {"valid_rows", t};
  const Tensor valid = required<1>("valid_rows", t);
  integer(valid);
  extent(valid, 0, 1, "one number, its extent");
  return valid;
}

Tensor weight_gradient(const char* name, hstu_tensor& t, bool weighted, const Tensor& weight, int64_t count,
                       const char* what) {
  if (!given(name, t)) return {name, t};
  if (!weighted)
    fail(HSTU_ERROR_INVALID_ARGUMENT,
         "{} is there, but weight is absent: there is nothing to take its gradient of; leave {} out", name, name);
  const Tensor gradient = required<1>(name, t);
  extent(gradient, 0, count, what);
  if (t.dtype != HSTU_DTYPE_F32) same_dtype(gradient, weight);
  return gradient;
}

void residual_needs_dx(const hstu_tensor& dresidual, const hstu_tensor& dx) {
  if (present(dresidual) && !present(dx))
    fail(HSTU_ERROR_INVALID_ARGUMENT,
         "dresidual is there, but dx is absent: dresidual is added to dx; give dx or leave dresidual out");
}

void workspace(void* data, size_t size, size_t needed, const char* function,
               std::initializer_list<const Tensor*> others) {
  if (needed == 0) return;
  if (size < needed)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "workspace_size = {}: it must be at least {}, as {}() says", size, needed,
         function);
  if (!data || reinterpret_cast<uintptr_t>(data) % kWorkspaceAlignment != 0)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "workspace = {}: it must be device memory aligned to {} bytes", data,
         kWorkspaceAlignment);
  hstu_tensor space = hstu_vector(data, HSTU_DTYPE_F32, static_cast<int64_t>(needed / sizeof(float)));
  const Tensor checked{"workspace", space, static_cast<int64_t>(needed)};
  for (const Tensor* other : others) disjoint(checked, *other);
}

}  // namespace hstujit::checks
