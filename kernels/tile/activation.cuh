// Activations on f32 values about to be rounded to Element.
#pragma once
#include "prim/math.cuh"
#include "tile/sigmoid.cuh"

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

template <>
HSTU_PRIM float silu<float>(float x) {
  return x * sigmoid<float>(x);
}

// Special functions that it takes; with two of them a value holds on to a register more.
template <class Element>
constexpr int kSiluFunctions = 1;
template <>
constexpr int kSiluFunctions<f16> = 2;

// gelu(x) = x Phi(x), and its approximation with tanh (Hendrycks and Gimpel 2016, arXiv:1606.08415).
HSTU_PRIM float gelu(float x) { return 0.5f * x * (1.0f + erff(0.70710678f * x)); }
template <class Element>
HSTU_PRIM float gelu_tanh(float x) {
  // (1 + tanh t) / 2 = sigmoid(2 t)
  const float t = 0.79788456f * __fmaf_rn(0.044715f * x, x * x, x);
  return x * sigmoid<Element>(2.0f * t);
}

}  // namespace hstu::tile
