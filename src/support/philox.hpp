// Philox4x32-10 (Salmon et al. 2011) on the host, and dropout's decisions from its words: once as they are defined,
// once as the kernels make them.
#pragma once

#include <array>
#include <cstdint>

namespace hstujit {

/// The four words of a counter under a key; the counter's upper 64 bits are 0.
std::array<uint32_t, 4> philox(uint64_t counter, uint64_t seed);

/// A word as a number in [0, 1), rounded to f32 as other frameworks do.
float uniform_of(uint32_t word);

/// The least n for which an element is kept whose word, folded to 31 bits, is n: uniform_of(n) > ratio. 2^31 if none
/// is.
uint32_t dropout_threshold(float ratio);

}  // namespace hstujit
