// Sigmoid and SiLU in f32, as accurate as the element type they are rounded to can show.
#pragma once
#include "prim/math.cuh"

namespace hstu::tile {

// 1 / (1 + e^-x). For f16 two special functions; for float the rounding of x * log2(e), which e^-x magnifies by |x|, is
// put back, and the result is good to about 3e-7.
template <class Element>
HSTU_PRIM float sigmoid(float x) {
  constexpr float kLog2e = 1.4426950408889634f;
  if constexpr (sizeof(Element) == 2) {
    return prim::rcp_approx(1.0f + prim::ex2_approx(-kLog2e * x));
  } else {
    constexpr float kLog2eRest = 1.9259629911266175e-8f, kLn2 = 0.6931471805599453f;
    const float y = x < -87.0f ? 87.0f : -x;  // e^87 is finite; NaN passes
    const float exponent = kLog2e * y;
    const float rest = __fmaf_rn(kLog2eRest, y, __fmaf_rn(kLog2e, y, -exponent));
    const float power = prim::ex2_approx(exponent);
    return prim::rcp_approx(1.0f + __fmaf_rn(power, kLn2 * rest, power));
  }
}

// For bf16 one special function; its error of 2^-12 is a sixteenth of the last place of a result near 1.
template <>
HSTU_PRIM float sigmoid<bf16>(float x) {
  return __fmaf_rn(0.5f, prim::tanh_approx(0.5f * x), 0.5f);
}

// Activation tags for a Config.
struct Identity {
  template <class Element>
  static HSTU_PRIM float apply(float x) {
    return x;
  }
};
struct Silu {
  template <class Element>
  static HSTU_PRIM float apply(float x) {
    return x * sigmoid<Element>(x);
  }
};
struct Sigmoid {
  template <class Element>
  static HSTU_PRIM float apply(float x) {
    return sigmoid<Element>(x);
  }
};

}  // namespace hstu::tile
