// What a row norm makes of a raw value and its normalised one: tags for a Config.
#pragma once
#include "tile/sigmoid.cuh"

namespace hstu::tile {

struct NormOnly {
  template <class Element>
  static HSTU_PRIM float apply(float, float norm) {
    return norm;
  }
};
struct SiluOfNorm {
  template <class Element>
  static HSTU_PRIM float apply(float, float norm) {
    return norm * sigmoid<Element>(norm);
  }
};
struct SwishOfNorm {
  template <class Element>
  static HSTU_PRIM float apply(float x, float norm) {
    return x * sigmoid<Element>(norm);
  }
};

}  // namespace hstu::tile
