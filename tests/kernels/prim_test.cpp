// Every primitive of kernels/prim on the device alone, before anything is built on it. The device side is
// prim_checks.cuh.
#include "support/element.hpp"
#include "support/gpu.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace hstujit {
namespace {

template <class T>
std::vector<uint32_t> run(const std::string& entry, const std::vector<T>& in, size_t out_words, uint32_t threads) {
  return test::run_check("prim_checks.cuh", entry, std::as_bytes(std::span(in)), out_words, threads);
}

float as_float(uint32_t word) {
  float f;
  std::memcpy(&f, &word, sizeof f);
  return f;
}

std::vector<uint32_t> random_words(size_t count) {
  std::mt19937 random(7);
  std::vector<uint32_t> words(count);
  for (uint32_t& word : words) word = static_cast<uint32_t>(random());
  return words;
}

uint16_t bits_of(hstu_dtype dtype, float x) {
  return dtype == HSTU_DTYPE_BF16 ? Bf16::round(static_cast<double>(x)) : F16::round(static_cast<double>(x));
}
float value_of(hstu_dtype dtype, uint16_t bits) {
  return static_cast<float>(dtype == HSTU_DTYPE_BF16 ? Bf16::widen(bits) : F16::widen(bits));
}

class PrimPack : public testing::TestWithParam<hstu_dtype> {};

TEST_P(PrimPack, RoundsToNearestEvenAndUnpacksExactly) {
  HSTU_NEEDS_GPU();
  constexpr uint32_t kThreads = 256;
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0.0f, 100.0f);
  std::vector<float> x(2 * kThreads);
  for (float& v : x) v = normal(random);
  const float special[] = {0.0f,        -0.0f,    1.00390625f,
                           1.01171875f, 65504.0f, 6.1e-5f,
                           5.9e-8f,     -1e30f,   std::numeric_limits<float>::infinity()};
  std::copy(std::begin(special), std::end(special), x.begin());
  const bool is_bf16 = GetParam() == HSTU_DTYPE_BF16;
  const auto out = run(is_bf16 ? "pack<hstu::bf16>" : "pack<hstu::f16>", x, 4 * kThreads, kThreads);
  for (uint32_t i = 0; i < kThreads; ++i) {
    const uint16_t lo = bits_of(GetParam(), x[2 * i]), hi = bits_of(GetParam(), x[2 * i + 1]);
    EXPECT_EQ(out[i], static_cast<uint32_t>(hi) << 16 | lo) << x[2 * i] << " " << x[2 * i + 1];
    EXPECT_EQ(as_float(out[kThreads + 2 * i]), value_of(GetParam(), lo));
    EXPECT_EQ(as_float(out[kThreads + 2 * i + 1]), value_of(GetParam(), hi));
    EXPECT_EQ(as_float(out[3 * kThreads + i]), value_of(GetParam(), lo));
  }
}
INSTANTIATE_TEST_SUITE_P(Types, PrimPack, testing::Values(HSTU_DTYPE_BF16, HSTU_DTYPE_F16));

TEST(PrimLanes, KnowTheirPlaceAndSumTheirGroups) {
  HSTU_NEEDS_GPU();
  constexpr uint32_t kThreads = 96;
  const auto out = run("lanes", std::vector<uint32_t>(1), kThreads * 12, kThreads);
  for (uint32_t i = 0; i < kThreads; ++i) {
    const uint32_t* got = &out[i * 12];
    EXPECT_EQ(got[0], i % 32);
    EXPECT_EQ(got[1], i);
    EXPECT_EQ(got[2], i / 32);
    EXPECT_EQ(got[3], 0u);
    const auto sum = [&](uint32_t width) {  // of thread + 1 over the group
      const uint32_t first = i / width * width;
      return width * first + width * (width + 1) / 2;
    };
    for (uint32_t g = 0; g < 5; ++g) EXPECT_EQ(got[4 + g], sum(2u << g)) << "thread " << i << " width " << (2u << g);
    EXPECT_EQ(got[9], sum(8));
    EXPECT_EQ(got[10], 2 * sum(8));
    EXPECT_EQ(got[11], sum(32));
  }
}

TEST(PrimMath, ApproximationsStayInTheirErrors) {
  HSTU_NEEDS_GPU();
  constexpr uint32_t kThreads = 1024;
  std::vector<float> x(kThreads);
  for (uint32_t i = 0; i < kThreads; ++i) x[i] = -12.0f + 24.0f * (static_cast<float>(i) + 0.5f) / kThreads;
  const auto out = run("math", x, 5 * kThreads, kThreads);
  const auto near = [](float got, double want, double relative) {
    return std::abs(static_cast<double>(got) - want) <= relative * std::abs(want);
  };
  for (uint32_t i = 0; i < kThreads; ++i) {
    const double v = static_cast<double>(x[i]);
    EXPECT_TRUE(near(as_float(out[5 * i]), std::tanh(v), 0x1p-10)) << v;
    EXPECT_TRUE(near(as_float(out[5 * i + 1]), std::exp2(v), 0x1p-21)) << v;
    EXPECT_TRUE(near(as_float(out[5 * i + 2]), 1.0 / v, 0x1p-22)) << v;
    EXPECT_TRUE(near(as_float(out[5 * i + 3]), 1.0 / std::sqrt(std::abs(v)), 0x1p-21)) << v;
    EXPECT_NEAR(static_cast<double>(as_float(out[5 * i + 4])), std::log2(std::abs(v)),
                0x1p-21 * (1 + std::abs(std::log2(std::abs(v)))))
        << v;
  }
}

TEST(PrimLanes, MaximaOfGroupsPassOverNan) {
  HSTU_NEEDS_GPU();
  constexpr uint32_t kThreads = 64;
  std::vector<float> x(kThreads);
  for (uint32_t i = 0; i < kThreads; ++i) x[i] = static_cast<float>((37 * i + 11) % 64) - 31;
  x[5] = std::numeric_limits<float>::quiet_NaN();
  const auto out = run("maxima", x, 4 * kThreads, kThreads);
  const auto greatest = [&](uint32_t thread, uint32_t width, float sign) {
    float most = -1e30f;
    for (uint32_t i = thread / width * width; i < thread / width * width + width; ++i)
      most = std::fmax(most, sign * x[i]);
    return most;
  };
  for (uint32_t i = 0; i < kThreads; ++i) {
    EXPECT_EQ(as_float(out[4 * i]), greatest(i, 8, 1)) << i;
    EXPECT_EQ(as_float(out[4 * i + 1]), greatest(i, 32, 1)) << i;
    EXPECT_EQ(as_float(out[4 * i + 2]), greatest(i, 4, 1)) << i;
    EXPECT_EQ(as_float(out[4 * i + 3]), greatest(i, 4, -1)) << i;
  }
}

TEST(PrimMemory, EveryWidthAndHintCopiesEveryByte) {
  HSTU_NEEDS_GPU();
  constexpr uint32_t kThreads = 256, kWays = 11;
  const auto in = random_words(4 * kThreads);
  const auto out = run("memory", in, kWays * 4 * kThreads, kThreads);
  for (uint32_t way = 0; way < kWays; ++way)
    for (uint32_t i = 0; i < 4 * kThreads; ++i) {
      const uint32_t word = way >= 7 && way < 10 ? i / 4 * 4 + 3 - i % 4 : i;  // these store their words in reverse
      ASSERT_EQ(out[way * 4 * kThreads + i], in[word]) << "way " << way << " word " << i;
    }
}

TEST(PrimLanes, OpaqueValuesAreTheSame) {
  HSTU_NEEDS_GPU();
  const auto in = random_words(64);
  const auto out = run("opaque", in, 2 * 64, 64);
  for (uint32_t i = 0; i < 2 * 64; ++i) EXPECT_EQ(out[i], in[i / 2]) << i;
}

TEST(PrimMemory, ExchangesGiveEachThreadATurnAndLaunchesHaveNumbers) {
  HSTU_NEEDS_GPU();
  constexpr uint32_t kThreads = 256;
  uint64_t grid[2];
  for (uint64_t& number : grid) {
    const auto words = run("exchange", std::vector<uint32_t>(1), 2 * (kThreads + 2), kThreads);
    std::vector<uint64_t> out(kThreads + 2);
    std::memcpy(out.data(), words.data(), out.size() * 8);
    std::sort(out.begin(), out.begin() + kThreads);
    for (uint32_t i = 0; i <= kThreads; ++i) EXPECT_EQ(out[i], i);
    number = out[kThreads + 1];
  }
  EXPECT_NE(grid[0], grid[1]);
}

TEST(PrimCpAsync, CopiesAndZeroFillsByByte) {
  HSTU_NEEDS_GPU();
  constexpr uint32_t kThreads = 256;
  const auto in = random_words(4 * kThreads);
  const auto out = run("cp_async", in, 4 * 5 * kThreads + kThreads, kThreads);
  for (uint32_t i = 0; i < kThreads; ++i) {
    const uint32_t even = i % 2 == 0 ? 16u : 0u, copied[] = {16, even, even, i % 17, i % 17};
    for (uint32_t way = 0; way < 5; ++way) {
      uint32_t want[4] = {};
      if (way == 2 && i % 3 == 0)
        std::fill_n(want, 4, 0xdeadbeefu);
      else
        std::memcpy(want, &in[4 * i], copied[way]);
      EXPECT_EQ(std::memcmp(want, &out[4 * (way * kThreads + i)], 16), 0) << "way " << way << " thread " << i;
    }
    EXPECT_EQ(out[4 * 5 * kThreads + i], in[4 * i]) << "the group waited for was not complete";
  }
}

TEST(PrimNamedBarrier, KeepsTheWarpsOfAGroupInStepAndLeavesOthersAlone) {
  HSTU_NEEDS_GPU();
  const auto in = random_words(128);
  const auto out = run("named_barrier", in, 128, 128);
  for (uint32_t i = 0; i < 128; ++i) EXPECT_EQ(out[i], in[i] + (i < 64 ? 100 : 150)) << i;  // even: back home
}

TEST(PrimNamedBarrier, TellsAllOfAGroupWhetherAnyOfThemIs) {
  HSTU_NEEDS_GPU();
  std::vector<uint32_t> in(64);  // who says so; from 64 on nobody
  for (uint32_t i = 0; i < 64; ++i) in[i] = (i * 37 + 5) % 128;
  const auto out = run("any", in, 2 * 128, 128);
  for (uint32_t t = 0; t < 128; ++t) {
    uint32_t want = 0;
    for (uint32_t round = 0; round < 32; ++round) want |= (in[2 * round + t / 64] < 64 ? 1u : 0u) << round;
    EXPECT_EQ(out[2 * t], want) << t;
    EXPECT_EQ(out[2 * t + 1], 0u) << t;
  }
}

TEST(PrimMemory, IncrementsGiveEachThreadANumber) {
  HSTU_NEEDS_GPU();
  constexpr uint32_t kThreads = 128;
  auto out = run("fetch_increment", random_words(1), kThreads + 1, kThreads);
  std::sort(out.begin(), out.end());
  for (uint32_t i = 0; i <= kThreads; ++i) EXPECT_EQ(out[i], i);
}

TEST(PrimMbarrier, CountsArrivalsAndBeginsAnewWhenInvalidated) {
  HSTU_NEEDS_GPU();
  const auto in = random_words(128);
  const auto out = run("mbarrier", in, 2 * 128, 128);
  for (uint32_t i = 0; i < 128; ++i) {
    EXPECT_EQ(out[i], in[i ^ 96] + 101) << i;
    EXPECT_EQ(out[128 + i], i % 32 == 0 ? in[i] + 2 * 101 : out[i]) << i;  // even: back home
  }
}

TEST(PrimMbarrier, ArrivesWhenAThreadsCopiesHaveCome) {
  HSTU_NEEDS_GPU();
  constexpr uint32_t kThreads = 256;
  const auto in = random_words(4 * kThreads);
  const auto out = run("copies_arrive", in, 4 * kThreads, kThreads);
  for (uint32_t i = 0; i < 4 * kThreads; ++i) EXPECT_EQ(out[i], in[i ^ 4 * 96]) << i;
}

TEST(PrimLdmatrix, GivesTheFragmentsOfMma) {
  HSTU_NEEDS_GPU();
  std::vector<uint16_t> in(256);
  for (uint16_t i = 0; i < 256; ++i) in[i] = i;  // row * 16 + column
  const auto out = run("ldmatrix", in, 8 * 32, 32);
  const auto pair = [](uint32_t first, uint32_t second) { return second << 16 | first; };
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const uint32_t g = lane / 4, t = lane % 4;
    for (uint32_t m = 0; m < 4; ++m) {  // the matrices: rows 0-7, 8-15 of columns 0-7, then of columns 8-15
      const uint32_t row0 = 8 * (m % 2), col0 = 8 * (m / 2);
      EXPECT_EQ(out[8 * lane + m], pair((row0 + g) * 16 + col0 + 2 * t, (row0 + g) * 16 + col0 + 2 * t + 1));
      EXPECT_EQ(out[8 * lane + 4 + m], pair((row0 + 2 * t) * 16 + col0 + g, (row0 + 2 * t + 1) * 16 + col0 + g));
    }
  }
}

class PrimMma : public testing::TestWithParam<hstu_dtype> {};

TEST_P(PrimMma, IsExactOnSmallIntegers) {
  HSTU_NEEDS_GPU();
  std::mt19937 random(3);
  std::uniform_int_distribution<int> small(-8, 8);
  std::vector<float> a(16 * 16), b(8 * 16);
  std::vector<uint16_t> in;
  for (float& v : a) v = static_cast<float>(small(random)), in.push_back(bits_of(GetParam(), v));
  for (float& v : b) v = static_cast<float>(small(random)), in.push_back(bits_of(GetParam(), v));
  const auto out = run(GetParam() == HSTU_DTYPE_BF16 ? "mma<hstu::bf16>" : "mma<hstu::f16>", in, 16 * 8, 32);
  for (size_t i = 0; i < 16; ++i)
    for (size_t j = 0; j < 8; ++j) {
      float want = 1.0f;
      for (size_t k = 0; k < 16; ++k) want += a[i * 16 + k] * b[j * 16 + k];
      EXPECT_EQ(as_float(out[i * 8 + j]), want) << i << " " << j;
    }
}
INSTANTIATE_TEST_SUITE_P(Types, PrimMma, testing::Values(HSTU_DTYPE_BF16, HSTU_DTYPE_F16));

}  // namespace
}  // namespace hstujit
