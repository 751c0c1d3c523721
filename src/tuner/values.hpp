// Contents of buffers in host memory: seeded random elements, integers, and elements read back as doubles.
#pragma once

#include <hstujit/hstujit.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace hstujit {

/// The integers as i32 or i64. Throws Error{INVALID_ARGUMENT} when one does not fit.
std::vector<std::byte> encode(std::span<const int64_t> values, hstu_dtype dtype);

/// Bell-shaped elements of a type.
struct RandomElements {
  hstu_dtype dtype = HSTU_DTYPE_NONE;
  float mean = 0, deviation = 1;
};
/// The first `count` of a buffer of this name: the same for equal seed and name, on every machine.
std::vector<std::byte> random_elements(std::string_view buffer, const RandomElements& what, int64_t count,
                                       uint64_t seed);

/// Floating-point elements as doubles, exactly.
std::vector<double> decode(std::span<const std::byte> bytes, hstu_dtype dtype);

}  // namespace hstujit
