// Conversions of elements, over all patterns where that is possible and on the edges of rounding elsewhere.
#include "support/element.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <vector>

namespace hstujit {
namespace {

constexpr int kPatterns = 65536;

/// All values of the format that are not NaN, with their patterns, ascending; of both zeros the positive one.
template <class Format>
std::vector<std::pair<double, uint16_t>> ladder() {
  std::vector<std::pair<double, uint16_t>> out;
  for (int bits = 0; bits < kPatterns; ++bits) {
    const double value = Format::widen(static_cast<uint16_t>(bits));
    if (!std::isnan(value) && bits != 0x8000) out.emplace_back(value, static_cast<uint16_t>(bits));
  }
  std::sort(out.begin(), out.end());
  return out;
}

template <class Format>
class NarrowFormat : public testing::Test {};
using Formats = testing::Types<F16, Bf16>;
TYPED_TEST_SUITE(NarrowFormat, Formats);

TYPED_TEST(NarrowFormat, EveryPatternSurvivesWideningAndRounding) {
  for (int i = 0; i < kPatterns; ++i) {
    const auto bits = static_cast<uint16_t>(i);
    const double value = TypeParam::widen(bits);
    if (std::isnan(value)) {
      EXPECT_EQ(TypeParam::round(value) & 0x7fff, TypeParam::kNan);
      EXPECT_EQ(std::signbit(value), (bits & 0x8000) != 0);
    } else {
      EXPECT_EQ(TypeParam::round(value), bits) << value;
    }
  }
}

TYPED_TEST(NarrowFormat, RoundsToTheNearestAndTiesToEven) {
  const auto values = ladder<TypeParam>();
  for (size_t i = 0; i + 1 < values.size(); ++i) {
    const auto [low, low_bits] = values[i];
    const auto [high, high_bits] = values[i + 1];
    if (std::isinf(low) || std::isinf(high)) continue;
    const double middle = low + (high - low) / 2;  // exact in double
    const uint16_t even = low_bits % 2 == 0 ? low_bits : high_bits;
    // Below zero everything that rounds to zero rounds to its negative.
    const auto zero_as = [](double value, uint16_t bits) -> uint16_t {
      return bits == 0 && std::signbit(value) ? 0x8000 : bits;
    };
    EXPECT_EQ(TypeParam::round(middle), zero_as(middle, even)) << middle;
    const double below = std::nextafter(middle, low), above = std::nextafter(middle, high);
    EXPECT_EQ(TypeParam::round(below), zero_as(below, low_bits)) << below;
    EXPECT_EQ(TypeParam::round(above), zero_as(above, high_bits)) << above;
  }
}

TYPED_TEST(NarrowFormat, OverflowsToInfinityFromHalfAStepBeyondTheLargest) {
  const auto values = ladder<TypeParam>();
  const double largest = values[values.size() - 2].first, before = values[values.size() - 3].first;
  const double half_step = (largest - before) / 2;
  EXPECT_EQ(TypeParam::round(std::nextafter(largest + half_step, 0)), TypeParam::kInfinity - 1);
  EXPECT_EQ(TypeParam::round(largest + half_step), TypeParam::kInfinity);
  EXPECT_EQ(TypeParam::round(1e300), TypeParam::kInfinity);
  EXPECT_EQ(TypeParam::round(-1e300), TypeParam::kInfinity | 0x8000);
  EXPECT_EQ(TypeParam::round(HUGE_VAL), TypeParam::kInfinity);
}

TYPED_TEST(NarrowFormat, TinyValuesBecomeSignedZero) {
  EXPECT_EQ(TypeParam::round(1e-300), 0);
  EXPECT_EQ(TypeParam::round(-std::numeric_limits<double>::denorm_min()), 0x8000);
}

TEST(Element, KnownPatterns) {
  EXPECT_EQ(F16::widen(0x3c00), 1.0);
  EXPECT_EQ(F16::widen(0x7bff), 65504.0);
  EXPECT_EQ(F16::widen(0x0001), std::ldexp(1.0, -24));
  EXPECT_EQ(Bf16::widen(0x3f80), 1.0);
  EXPECT_EQ(Bf16::widen(0xc049), -3.140625);
  EXPECT_EQ(Bf16::widen(0x0001), std::ldexp(1.0, -133));
}

TEST(Element, ShortFormOfBf16AgreesWithTheGeneralRule) {
  for (int i = 0; i < kPatterns; ++i) {
    const double value = Bf16::widen(static_cast<uint16_t>(i)), quick = widen_bf16(static_cast<uint16_t>(i));
    EXPECT_TRUE(value == quick || (std::isnan(value) && std::isnan(quick))) << i;
  }
}

TEST(Element, NarrowingRoundsOnceNotThroughF32) {
  // Just above a tie of bf16, but a tie after rounding to f32: the detour would round down to even.
  const double value = 1 + std::ldexp(1.0, -8) + std::ldexp(1.0, -40);
  EXPECT_EQ(Bf16::round(value), 0x3f81);
  EXPECT_EQ(Bf16::round(static_cast<float>(value)), 0x3f80);
}

TEST(Element, LoadAndStoreTakeAllTypes) {
  for (const hstu_dtype dtype : {HSTU_DTYPE_F32, HSTU_DTYPE_F16, HSTU_DTYPE_BF16}) {
    std::array<float, 8> memory{};
    const hstu_tensor t = hstu_vector(memory.data(), dtype, 8);
    const double in[] = {1.5, -2, 0.25};
    store(t, 3, 3, in);
    double out[5];
    load(t, 2, 5, out);
    EXPECT_EQ(out[0], 0);
    EXPECT_EQ(out[1], 1.5);
    EXPECT_EQ(out[2], -2);
    EXPECT_EQ(out[3], 0.25);
    EXPECT_EQ(out[4], 0);
  }
  const int64_t wide[] = {5, -(int64_t{1} << 40)};
  const int32_t narrow[] = {5, -6};
  EXPECT_EQ(integer_at(hstu_vector(wide, HSTU_DTYPE_I64, 2), 1), -(int64_t{1} << 40));
  EXPECT_EQ(integer_at(hstu_vector(narrow, HSTU_DTYPE_I32, 2), 1), -6);
}

TEST(Element, IntegersTakeTheNearestThatThereIs) {
  const double in[] = {2.5, -3.5, 1e10, -1e10, HUGE_VAL, -HUGE_VAL, std::nan("")};
  constexpr int32_t kLeast32 = std::numeric_limits<int32_t>::min(), kMost32 = std::numeric_limits<int32_t>::max();
  constexpr int64_t kLeast64 = std::numeric_limits<int64_t>::min(), kMost64 = std::numeric_limits<int64_t>::max();
  std::array<int32_t, 7> narrow{};
  store(hstu_vector(narrow.data(), HSTU_DTYPE_I32, 7), 0, 7, in);
  EXPECT_EQ(narrow, (std::array<int32_t, 7>{2, -4, kMost32, kLeast32, kMost32, kLeast32, 0}));
  std::array<int64_t, 7> wide{};
  store(hstu_vector(wide.data(), HSTU_DTYPE_I64, 7), 0, 7, in);
  EXPECT_EQ(wide, (std::array<int64_t, 7>{2, -4, 10'000'000'000, -10'000'000'000, kMost64, kLeast64, 0}));
}

}  // namespace
}  // namespace hstujit
