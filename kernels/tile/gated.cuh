// The two factors of a gated product, one of them activated. Config: kActivation 1 SiLU, 2 GELU, 3 GELU by tanh;
// kActOnGate, else on up; Element, to which the result is about to be rounded.
#pragma once
#include "tile/activation.cuh"

namespace hstu::tile {

template <class Config>
HSTU_PRIM float gated(float gate, float up) {
  using Element = typename Config::Element;
  const float x = Config::kActOnGate ? gate : up, other = Config::kActOnGate ? up : gate;
  if constexpr (Config::kActivation == 1)
    return silu<Element>(x) * other;
  else if constexpr (Config::kActivation == 2)
    return gelu(x) * other;
  else
    return gelu_tanh<Element>(x) * other;
}

}  // namespace hstu::tile
