// What the families of FP8 elements share.
#pragma once

#include "operators/problem.hpp"

namespace hstujit::fp8_elements {

/// Whether accesses of `vector` elements are worth trying where alignment allows `most`: as wide as possible, or half
/// of it where 32 bytes of the wider matrix would be touched at once.
inline bool vector_allowed(int most, hstu_dtype dtype, int vector) {
  return vector == most || (most * size_of(dtype) == 32 && vector == most / 2);
}

}  // namespace hstujit::fp8_elements
