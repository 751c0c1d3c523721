// Contents of buffers in host memory: seeded random elements, integers, and elements read back as doubles.
#pragma once

#include "workload/calls.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hstujit {

/// The integers as i32 or i64. Throws Error{INVALID_ARGUMENT} when one does not fit.
std::vector<std::byte> encode(std::span<const int64_t> values, hstu_dtype dtype);

/// The first `count` random elements of a buffer: the same for equal seed and buffer name, on every machine.
std::vector<std::byte> random_elements(const Buffer& buffer, int64_t count, uint64_t seed);

/// Floating-point elements as doubles, exactly.
std::vector<double> decode(std::span<const std::byte> bytes, hstu_dtype dtype);

}  // namespace hstujit
