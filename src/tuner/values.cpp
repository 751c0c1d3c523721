#include "tuner/values.hpp"

#include "operators/problem.hpp"
#include "support/element.hpp"
#include "support/error.hpp"
#include "support/hash.hpp"
#include "support/random.hpp"

#include <limits>

namespace hstujit {
namespace {

/// Finite values only. The library's general rule is exact for every value, and ten times as slow.
uint16_t to_bf16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

hstu_tensor as_vector(const void* data, hstu_dtype dtype, size_t count) {
  return hstu_vector(data, dtype, static_cast<int64_t>(count));
}

}  // namespace

std::vector<std::byte> encode(std::span<const int64_t> values, hstu_dtype dtype) {
  std::vector<std::byte> bytes(values.size() * static_cast<size_t>(size_of(dtype)));
  for (size_t i = 0; i < values.size(); ++i) {
    if (dtype == HSTU_DTYPE_I64) {
      std::memcpy(&bytes[i * 8], &values[i], 8);
      continue;
    }
    if (values[i] > std::numeric_limits<int32_t>::max())
      fail(HSTU_ERROR_INVALID_ARGUMENT, "{}: too large for i32 integers; use \"integer_dtype\": \"i64\"", values[i]);
    const auto narrow = static_cast<int32_t>(values[i]);
    std::memcpy(&bytes[i * 4], &narrow, 4);
  }
  return bytes;
}

std::vector<std::byte> random_elements(std::string_view buffer, const RandomElements& what, int64_t count,
                                       uint64_t seed) {
  const auto n = static_cast<size_t>(count);
  std::vector<std::byte> bytes(n * static_cast<size_t>(size_of(what.dtype)));
  Random random(seed ^ hash64(buffer.data(), buffer.size()));
  const hstu_tensor all = as_vector(bytes.data(), what.dtype, n);
  for (size_t i = 0; i < n; ++i) {
    const float value = what.mean + what.deviation * random.bell();
    if (what.dtype == HSTU_DTYPE_BF16) {
      const uint16_t bits = to_bf16(value);
      std::memcpy(&bytes[i * 2], &bits, 2);
    } else {
      const double wide = value;
      store(all, static_cast<int64_t>(i), 1, &wide);
    }
  }
  return bytes;
}

std::vector<double> decode(std::span<const std::byte> bytes, hstu_dtype dtype) {
  std::vector<double> values(bytes.size() / static_cast<size_t>(size_of(dtype)));
  load(as_vector(bytes.data(), dtype, values.size()), 0, static_cast<int64_t>(values.size()), values.data());
  return values;
}

}  // namespace hstujit
