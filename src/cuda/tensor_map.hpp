// Tensor maps: what the copy engine of sm_90 (TMA) must know of a tensor in order to fetch or store boxes of it. The
// driver encodes them (80 ns each); a thread keeps one of each shape and has it moved to other addresses (20 ns).
#pragma once

#include "hstujit/base.h"
#include "tile/tensor_map.h"

#include <cstdint>

namespace hstujit {

/// How a box's rows lie in shared memory: 16-byte chunks exchanged within rows of this many bytes.
enum class Swizzle : uint32_t { none = 0, bytes32 = 32, bytes64 = 64, bytes128 = 128 };

/// A tensor of up to five dimensions, the innermost first and contiguous, and the box that one copy moves. Members
/// beyond `rank` stay 0, for specs are compared as bytes.
struct TensorMapSpec {
  const void* base = nullptr;  ///< aligned to 16 bytes
  int32_t dtype = 0;           ///< hstu_dtype; fp8 moves as bytes
  int32_t rank = 0;
  uint64_t extent[5] = {};  ///< elements; what a box reaches beyond them is zero, or not stored
  uint64_t stride[4] = {};  ///< bytes from one index of dimension i + 1 to the next; multiples of 16
  uint32_t box[5] = {};     ///< elements, at most 256 each; box[0] at most the swizzle's bytes
  Swizzle swizzle = Swizzle::bytes128;
};

/// Thrown where a map must be encoded, and the thread has no current context.
struct NoCurrentContext {};

/// Fills `map`. The hot path: no heap, no strings. Throws Error{INTERNAL} when the driver refuses the spec, which a
/// family's covers() rules out.
void encode_tensor_map(const TensorMapSpec& spec, hstu::TensorMap& map);

}  // namespace hstujit
