// Elements of host tensors as doubles and integers: widening is exact (i64: up to 2^53), narrowing rounds once, to
// nearest even; 8-bit formats saturate.
#pragma once

#include <hstujit/hstujit.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace hstujit {

/// A 16-bit floating-point format: 1 sign bit, then exponent, then mantissa.
template <int kExponentBits, int kMantissaBits>
class Narrow {
 public:
  static_assert(kExponentBits + kMantissaBits == 15);
  static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  static constexpr int kLowest = 1 - kBias;  ///< exponent of subnormals
  static constexpr uint16_t kInfinity = static_cast<uint16_t>(((1 << kExponentBits) - 1) << kMantissaBits);
  static constexpr uint16_t kNan = static_cast<uint16_t>(kInfinity | (1 << (kMantissaBits - 1)));

  static double widen(uint16_t bits) {
    const int exponent = (bits & 0x7fff) >> kMantissaBits, mantissa = bits & ((1 << kMantissaBits) - 1);
    double value;
    if ((bits & kInfinity) == kInfinity)
      value = mantissa ? std::nan("") : HUGE_VAL;
    else if (exponent == 0)
      value = std::ldexp(mantissa, kLowest - kMantissaBits);
    else
      value = std::ldexp(mantissa + (1 << kMantissaBits), exponent - kBias - kMantissaBits);
    return std::copysign(value, bits & 0x8000 ? -1.0 : 1.0);
  }

  static uint16_t round(double value) {
    const auto bits = std::bit_cast<uint64_t>(value);
    const auto sign = static_cast<uint16_t>(bits >> 48 & 0x8000);
    const uint64_t size = bits & ~(uint64_t{1} << 63);
    const int exponent = static_cast<int>(size >> 52) - kDoubleBias;
    if (exponent < kLowest) return sign | round_subnormal(value);
    if (exponent > kBias) return sign | (std::isnan(value) ? kNan : kInfinity);
    // A carry out of the mantissa runs into the exponent, up to infinity, as it should.
    constexpr int kDropped = 52 - kMantissaBits;
    const uint64_t odd = size >> kDropped & 1, half = uint64_t{1} << (kDropped - 1);
    const uint64_t kept = (size + half - 1 + odd) >> kDropped;
    return static_cast<uint16_t>(sign | (kept - (static_cast<uint64_t>(kDoubleBias - kBias) << kMantissaBits)));
  }

 private:
  static constexpr int kDoubleBias = 1023;

  /// In units of the last place; the largest result is the smallest normal number.
  static uint16_t round_subnormal(double value) {
    return static_cast<uint16_t>(std::nearbyint(std::ldexp(std::fabs(value), kMantissaBits - kLowest)));
  }
};
using F16 = Narrow<5, 10>;
using Bf16 = Narrow<8, 7>;

/// An 8-bit floating-point format; kLargest is its largest finite code. Finite numbers and infinities beyond it become
/// the largest one, as the hardware's satfinite conversion has it.
template <int kExponentBits, int kMantissaBits, uint8_t kLargest>
class Float8 {
 public:
  static_assert(kExponentBits + kMantissaBits == 7);
  static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  static constexpr int kLowest = 1 - kBias;  ///< exponent of subnormals
  static constexpr uint8_t kNan = 0x7f;

  static double widen(uint8_t bits) {
    const int code = bits & 0x7f, mantissa = code & ((1 << kMantissaBits) - 1), exponent = code >> kMantissaBits;
    double value;
    if (code > kLargest)  // e5m2 has infinities just above, e4m3 has not
      value = mantissa == 0 ? HUGE_VAL : std::nan("");
    else if (exponent == 0)
      value = std::ldexp(mantissa, kLowest - kMantissaBits);
    else
      value = std::ldexp(mantissa + (1 << kMantissaBits), exponent - kBias - kMantissaBits);
    return std::copysign(value, bits & 0x80 ? -1.0 : 1.0);
  }

  static uint8_t round(double value) {
    const auto sign = static_cast<uint8_t>(std::signbit(value) ? 0x80 : 0);
    if (std::isnan(value)) return sign | kNan;
    const double size = std::fabs(value);
    if (size >= widen(kLargest)) return sign | kLargest;
    const int exponent = size == 0 ? kLowest : std::max(std::ilogb(size), kLowest);
    // In units of the last place; a carry out of the mantissa runs into the exponent, as it should.
    const auto units = static_cast<int>(std::nearbyint(std::ldexp(size, kMantissaBits - exponent)));
    const int code = units + ((exponent - kLowest) << kMantissaBits);
    return static_cast<uint8_t>(sign | std::min<int>(code, kLargest));
  }
};
using E4m3 = Float8<4, 3, 0x7e>;
using E5m2 = Float8<5, 2, 0x7b>;

/// bf16 is the upper half of f32: cheaper than the general rule.
inline double widen_bf16(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

/// load() and store() of the rarer types.
void load_other(const hstu_tensor& t, int64_t offset, int64_t count, double* out);
void store_other(const hstu_tensor& t, int64_t offset, int64_t count, const double* in);

/// Reads `count` neighbouring elements, the first at element `offset` of the tensor's data.
inline void load(const hstu_tensor& t, int64_t offset, int64_t count, double* out) {
  if (count == 0) return;  // data may be null then
  if (t.dtype > HSTU_DTYPE_BF16) return load_other(t, offset, count, out);
  if (t.dtype == HSTU_DTYPE_F32) {
    const float* in = static_cast<const float*>(t.data) + offset;
    for (int64_t i = 0; i < count; ++i) out[i] = in[i];
    return;
  }
  const uint16_t* in = static_cast<const uint16_t*>(t.data) + offset;
  if (t.dtype == HSTU_DTYPE_BF16)
    for (int64_t i = 0; i < count; ++i) out[i] = widen_bf16(in[i]);
  else
    for (int64_t i = 0; i < count; ++i) out[i] = F16::widen(in[i]);
}

/// Writes what load() reads, rounding once.
inline void store(const hstu_tensor& t, int64_t offset, int64_t count, const double* in) {
  if (count == 0) return;
  if (t.dtype > HSTU_DTYPE_BF16) return store_other(t, offset, count, in);
  if (t.dtype == HSTU_DTYPE_F32) {
    float* out = static_cast<float*>(t.data) + offset;
    for (int64_t i = 0; i < count; ++i) out[i] = static_cast<float>(in[i]);
    return;
  }
  uint16_t* out = static_cast<uint16_t*>(t.data) + offset;
  for (int64_t i = 0; i < count; ++i) out[i] = t.dtype == HSTU_DTYPE_BF16 ? Bf16::round(in[i]) : F16::round(in[i]);
}

/// Element `index` of a vector of i32 or i64.
inline int64_t integer_at(const hstu_tensor& t, int64_t index) {
  return t.dtype == HSTU_DTYPE_I32 ? static_cast<const int32_t*>(t.data)[index]
                                   : static_cast<const int64_t*>(t.data)[index];
}

}  // namespace hstujit
