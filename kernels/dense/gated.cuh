// The two factors of a gated product, one of them activated. Config: kActivation (tile/activation.cuh); kActOnGate,
// else on up; Element, to which the result is about to be rounded.
#pragma once
#include "tile/activation.cuh"

namespace hstu::tile {

template <class Config>
HSTU_PRIM float gated(float gate, float up) {
  using Element = typename Config::Element;
  const float x = Config::kActOnGate ? gate : up, other = Config::kActOnGate ? up : gate;
  return activate<Config::kActivation, Element>(x) * other;
}

}  // namespace hstu::tile
