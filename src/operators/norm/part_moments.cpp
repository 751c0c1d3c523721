#include "operators/norm/part_moments.hpp"

#include "support/error.hpp"

namespace hstujit::checks {

Tensor part_moments(hstu_tensor& t, int64_t rows, const char* what) {
  const Tensor moments = required<3>("moments", t);
  is_f32(moments);
  extent(moments, 0, rows, what);
  extent(moments, 2, 2, "a mean and a sum of squared deviations");
  if (t.stride[1] != 2 || t.stride[0] % 2 != 0 || t.stride[0] / 2 != t.shape[1])
    fail(HSTU_ERROR_INVALID_ARGUMENT, "moments.stride = [{}, {}, 1]: it must be contiguous, [2 shape[1], 2, 1] with {}",
         t.stride[0], t.stride[1], t.shape[1]);
  if (reinterpret_cast<uintptr_t>(t.data) % 8 != 0)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "moments.data = {}: it must be aligned to 8 bytes", t.data);
  return moments;
}

}  // namespace hstujit::checks
