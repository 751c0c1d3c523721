// Primitives of FP8 and of f32 products on the device alone. The device side is prim_fp8_checks.cuh.
#include "support/element.hpp"
#include "support/gpu.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

namespace hstujit {
namespace {

template <class T>
std::vector<uint32_t> run(const std::string& entry, const std::vector<T>& in, size_t out_words, uint32_t threads) {
  return test::run_check("prim_fp8_checks.cuh", entry, std::as_bytes(std::span(in)), out_words, threads);
}

template <class Format>
void check_fp8(const std::string& entry) {
  // Every code, the middle to its neighbour, and beside it; then what saturates, and NaN.
  std::vector<float> x;
  for (int code = 0; code < 127; ++code) {
    const auto low = static_cast<float>(Format::widen(static_cast<uint8_t>(code)));
    const auto high = static_cast<float>(Format::widen(static_cast<uint8_t>(code + 1)));
    if (!std::isfinite(low) || !std::isfinite(high)) continue;
    const float middle = (low + high) / 2;
    for (const float value : {low, middle, std::nextafter(middle, low), std::nextafter(middle, high)}) {
      x.push_back(value);
      x.push_back(-value);
    }
  }
  constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();
  x.insert(x.end(), {464, 465, 61440, 70000, -1e30f, kInfinity, -kInfinity, kNan, 1e-30f, -0.0f});
  const auto threads = static_cast<uint32_t>(x.size() / 2);
  ASSERT_LE(threads, 1024u);
  const auto out = run(entry, x, 3 * threads, threads);
  for (uint32_t i = 0; i < threads; ++i)
    for (uint32_t half = 0; half < 2; ++half) {
      const auto code = static_cast<uint8_t>(out[3 * i] >> (8 * half));
      const double wanted = Format::widen(Format::round(static_cast<double>(x[2 * i + half])));
      const float widened = std::bit_cast<float>(out[3 * i + 1 + half]);
      if (std::isnan(wanted)) {
        EXPECT_TRUE(std::isnan(Format::widen(code)) && std::isnan(widened)) << x[2 * i + half];
      } else {
        EXPECT_EQ(Format::widen(code), wanted) << x[2 * i + half];
        EXPECT_EQ(std::signbit(widened), std::signbit(x[2 * i + half]));
        EXPECT_EQ(static_cast<double>(widened), wanted);
      }
    }
}

TEST(PrimFp8, E4m3RoundsAndSaturates) {
  HSTU_NEEDS_GPU();
  check_fp8<E4m3>("fp8<hstu::e4m3>");
}
TEST(PrimFp8, E5m2RoundsAndSaturates) {
  HSTU_NEEDS_GPU();
  check_fp8<E5m2>("fp8<hstu::e5m2>");
}

TEST(PrimFp8, MaximaKeepNan) {
  HSTU_NEEDS_GPU();
  std::mt19937 random(5);
  std::uniform_int_distribution<uint32_t> magnitude(0, 0x7bff);  // finite in both 16-bit formats
  std::vector<uint32_t> in(64);
  for (uint32_t& word : in) word = magnitude(random) | magnitude(random) << 16;
  in[6] = in[6] << 16 >> 16 | 0x7fff0000;  // NaN
  const auto out = run("maxima", in, 7 * 32, 32);
  for (uint32_t lane = 0; lane < 32; ++lane) {
    uint32_t of_four = 0, of_all = 0;
    for (uint32_t other = 0; other < 32; ++other) {
      of_all = std::max(of_all, in[2 * other]);
      if (other / 4 == lane / 4) of_four = std::max(of_four, in[2 * other]);
    }
    const uint32_t* got = &out[7 * lane];
    EXPECT_EQ(got[0], of_four);
    EXPECT_EQ(got[1], of_all);
    const uint32_t a = in[2 * lane], b = in[2 * lane + 1];
    for (const uint32_t pair : {got[2], got[3]}) {  // magnitudes compare like integers, NaN is the largest
      EXPECT_EQ(pair & 0xffff, std::max(a & 0xffff, b & 0xffff));
      EXPECT_EQ(pair >> 16, std::max(a >> 16, b >> 16));
    }
    EXPECT_EQ(got[4], a & 0xff);
    EXPECT_EQ(got[5], a);
    EXPECT_EQ(got[6], b);
  }
}

TEST(PrimFp8, QuotientsAreRoundedOnce) {
  HSTU_NEEDS_GPU();
  std::mt19937 random(6);
  std::uniform_real_distribution<float> exponent(-60, 60);
  std::vector<float> in(512);
  for (float& v : in) v = std::exp2(exponent(random));
  in[1] = std::numeric_limits<float>::infinity();
  const auto out = run("quotients", in, 512, 256);
  for (size_t i = 0; i < 256; ++i) {
    EXPECT_EQ(std::bit_cast<float>(out[2 * i]), in[2 * i] / in[2 * i + 1]);
    const float tf32 = std::bit_cast<float>(out[2 * i + 1]);
    EXPECT_EQ(out[2 * i + 1] & 0x1fff, 0u);
    EXPECT_LE(std::fabs(tf32 - in[2 * i]), std::ldexp(in[2 * i], -11));
  }
}

TEST(PrimFp8, Tf32ProductIsExactOnSmallIntegers) {
  HSTU_NEEDS_GPU();
  std::mt19937 random(4);
  std::uniform_int_distribution<int> small(-8, 8);
  std::vector<float> in(24 * 8);
  for (float& v : in) v = static_cast<float>(small(random));
  const auto out = run("mma_tf32", in, 16 * 8, 32);
  for (size_t i = 0; i < 16; ++i)
    for (size_t j = 0; j < 8; ++j) {
      float want = 1.0f;
      for (size_t k = 0; k < 8; ++k) want += in[i * 8 + k] * in[(16 + j) * 8 + k];
      EXPECT_EQ(std::bit_cast<float>(out[i * 8 + j]), want) << i << " " << j;
    }
}

}  // namespace
}  // namespace hstujit
