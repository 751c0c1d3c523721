// Activations on f32 values about to be rounded to Element.
#pragma once
#include "prim/math.cuh"

namespace hstu::tile {

// silu(x) = x / (1 + exp(-x)). For bf16 as t tanh(t) + t with t = x / 2: one special function, and as exact as the
// rounding allows. f16 has three bits more than tanh.approx gives, hence the two-function form.
template <class Element>
HSTU_PRIM float silu(float x) {
  const float t = 0.5f * x;
  return t * prim::tanh_approx(t) + t;
}
template <>
HSTU_PRIM float silu<f16>(float x) {
  return x * prim::rcp_approx(1.0f + prim::ex2_approx(-1.44269504f * x));
}

}  // namespace hstu::tile
