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

// gelu(x) = x Phi(x) (Hendrycks and Gimpel 2016, arXiv:1606.08415). For 16 bits max(x, 0) - |x| Phi(-|x|), the tail by
// Abramowitz and Stegun 7.1.26, to 1e-7: half of erff's instructions.
template <class Element>
HSTU_PRIM float gelu(float x) {
  const float a = fminf(fabsf(x), 64.0f);  // of which the tail is 0 already; infinities would make it NaN
  const float t = prim::rcp_approx(__fmaf_rn(0.23164189f, a, 1.0f));
  float tail = __fmaf_rn(0.53070271f, t, -0.72657601f);
  tail = __fmaf_rn(tail, t, 0.71070687f);
  tail = __fmaf_rn(tail, t, -0.14224837f);
  tail = __fmaf_rn(tail, t, 0.12741480f);
  tail = tail * t * prim::ex2_approx(-0.72134752f * a * a);
  return __fmaf_rn(-a, tail, x < 0.0f ? 0.0f : x);  // NaN passes
}
template <>
HSTU_PRIM float gelu<float>(float x) {
  return 0.5f * x * (1.0f + erff(0.70710678f * x));
}

// Its approximation with tanh (same source).
template <class Element>
HSTU_PRIM float gelu_tanh(float x) {
  // (1 + tanh t) / 2 = sigmoid(2 t)
  const float t = 0.79788456f * __fmaf_rn(0.044715f * x, x * x, x);
  return x * sigmoid<Element>(2.0f * t);
}

// kActivation of a Config, as hstu_activation numbers them.
enum : int { kNoActivation = 0, kActivationSilu = 1, kActivationGelu = 3, kActivationGeluTanh = 4 };

template <int kActivation, class Element>
HSTU_PRIM float activate(float x) {
  if constexpr (kActivation == kActivationSilu) return silu<Element>(x);
  if constexpr (kActivation == kActivationGelu) return gelu<Element>(x);
  if constexpr (kActivation == kActivationGeluTanh) return gelu_tanh<Element>(x);
  return x;
}

// Whether it needs more registers a value: a second special function, or the polynomials of GELU.
template <int kActivation, class Element>
constexpr bool kLongActivation = kActivation > kActivationSilu;
template <>
constexpr bool kLongActivation<kActivationSilu, f16> = true;

}  // namespace hstu::tile
