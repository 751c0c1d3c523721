// Slopes of the activations of tile/activation.cuh, in f32.
#pragma once
#include "prim/math.cuh"
#include "tile/activation.cuh"
#include "tile/sigmoid.cuh"

namespace hstu::tile {

// 1 / (1 + e^-x) and what it lacks of 1, each with its own last bits for float. bf16 takes f16's: what is wrong with
// them a slope magnifies by x.
template <class Element>
struct SigmoidPair {
  float value, rest;
  HSTU_PRIM explicit SigmoidPair(float x) {
    if constexpr (sizeof(Element) == 4) {
      value = sigmoid<float>(x);
      rest = sigmoid<float>(-x);
    } else {
      value = sigmoid<f16>(x);
      rest = 1.0f - value;
    }
  }
};

// act'(x). Slopes are 0 or 1 long before 100, so that infinities need not enter products; NaN passes.
template <int kActivation, class Element>
HSTU_PRIM float activation_slope(float given) {
  const float x = given > 100.0f ? 100.0f : given < -100.0f ? -100.0f : given;
  if constexpr (kActivation == kActivationSilu) {
    const SigmoidPair<Element> s(x);
    return __fmaf_rn(x * s.value, s.rest, s.value);
  } else if constexpr (kActivation == kActivationGelu) {
    // Phi(x) + x phi(x)
    const float density = 0.39894228f * prim::ex2_approx(-0.72134752f * x * x);
    return __fmaf_rn(x, density, __fmaf_rn(0.5f, erff(0.70710678f * x), 0.5f));
  } else {
    static_assert(kActivation == kActivationGeluTanh, "the identity has no slope to apply");
    // gelu_tanh(x) = x sigmoid(2 t), t = sqrt(2 / pi) (x + 0.044715 x^3)
    const float t = 0.79788456f * __fmaf_rn(0.044715f * x, x * x, x);
    const float slope_of_t = 0.79788456f * __fmaf_rn(0.134145f * x, x, 1.0f);
    const SigmoidPair<Element> s(2.0f * t);
    return __fmaf_rn(2.0f * x * slope_of_t, s.value * s.rest, s.value);
  }
}

}  // namespace hstu::tile
