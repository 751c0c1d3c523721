// Dropout of values in registers. The random bits of an element need nothing but its index, so they are drawn while the
// values are in flight, and stored as one bit each.
#pragma once
#include "norm/dropout.h"
#include "norm/rows/philox.cuh"

namespace hstu::tile {

// A word, as a signed number s, stands for the 31 bits s or -s - 1; those below the threshold drop the element. One
// addition folds both signs: -threshold <= s < threshold.
HSTU_PRIM bool drops(u32 word, const DropoutRate& rate) { return word + rate.threshold <= 2 * rate.threshold - 1; }

// Bit i of mask[w] tells whether word w of counter first + i drops; see philox() about first. Four counters at a time:
// enough to hide latencies, and few registers.
template <int kWords, int kCount>
HSTU_PRIM void draw(u32 (&mask)[kWords], u64 first, const DropoutRate& rate) {
  constexpr int kPart = kCount < 4 ? kCount : 4;
#pragma unroll
  for (int w = 0; w < kWords; ++w) mask[w] = 0;
#pragma unroll 1
  for (int part = 0; part < kCount; part += kPart) {
    u32 word[kWords][kPart];
    philox(word, first + static_cast<u64>(part), rate.seed_low, rate.seed_high);
#pragma unroll
    for (int w = 0; w < kWords; ++w) {
      u32 bits = 0;
#pragma unroll
      for (int i = 0; i < kPart; ++i) bits |= drops(word[w][i], rate) ? 1u << i : 0u;
      mask[w] |= bits << part;
    }
  }
}

// Bit i of the mask drops value i.
template <int kCount>
HSTU_PRIM void drop(float (&value)[kCount], u32 mask, const DropoutRate& rate) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) value[i] = mask & 1u << i ? 0.0f : value[i] * rate.scale;
}

}  // namespace hstu::tile
