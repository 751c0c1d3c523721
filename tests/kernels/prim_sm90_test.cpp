// Primitives of sm_90 on the device alone: wgmma behind TMA, stmatrix, boxes, clusters, roles. The device side is
// prim_sm90_checks.cuh.
#include "cuda/tensor_map.hpp"
#include "support/element.hpp"
#include "support/gpu.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <random>

namespace hstujit {
namespace {

using test::DeviceBuffer;

struct alignas(128) MapParams {
  hstu::TensorMap a, b;
  const void* in;
  void* out;
};

#define HSTU_NEEDS_SM90A() \
  HSTU_NEEDS_GPU();        \
  if (test::gpu()->facts.target != "sm_90a") GTEST_SKIP() << "the GPU is not of sm_90a"

void run(const std::string& entry, const MapParams& params, uint32_t threads, uint32_t smem = 0, uint32_t cluster = 1) {
  const auto kernel = test::kernel_of_tests("prim_sm90_checks.cuh", "hstu::check::" + entry, static_cast<int>(smem));
  Launch launch;
  launch.grid[0] = launch.cluster = cluster;
  launch.block[0] = threads;
  launch.smem_bytes = smem;
  launch.emplace<MapParams>() = params;
  const Driver& driver = *test::gpu()->driver;
  driver.check(kernel->launch(launch, nullptr), "launching a check");
  driver.check(driver.cuStreamSynchronize(nullptr), "waiting for a check");
}

/// A map of `lines` lines of `length` elements, dense, in boxes of 128 bytes x `box` lines.
hstu::TensorMap lines_map(const DeviceBuffer& of, hstu_dtype dtype, uint64_t length, uint64_t lines, uint32_t box) {
  TensorMapSpec spec;
  spec.base = of.data();
  spec.dtype = dtype;
  spec.rank = 2;
  spec.extent[0] = length;
  spec.extent[1] = lines;
  spec.stride[0] = length * static_cast<uint64_t>(size_of(dtype));
  spec.box[0] = 128 / static_cast<uint32_t>(size_of(dtype));
  spec.box[1] = box;
  hstu::TensorMap map;
  encode_tensor_map(spec, map);
  return map;
}

// ---- Products

struct Product {
  hstu_dtype a, b;
  size_t n;
  bool major_a = false, major_b = false, from_registers = false;
};
std::string name_of_product(const Product& p) {
  return fmt::format("{}_{}_n{}_{}{}{}", name_of(p.a), name_of(p.b), p.n, p.major_a ? "ma" : "ka",
                     p.major_b ? "mb" : "kb", p.from_registers ? "_registers" : "");
}
void PrintTo(const Product& p, std::ostream* out) { *out << name_of_product(p); }

std::string device_name(hstu_dtype dtype) { return fmt::format("hstu::{}", device_type(dtype)); }

uint32_t encode(hstu_dtype dtype, int value) {
  const auto x = static_cast<double>(value);
  switch (dtype) {
    case HSTU_DTYPE_BF16:
      return Bf16::round(x);
    case HSTU_DTYPE_F16:
      return F16::round(x);
    case HSTU_DTYPE_E4M3:
      return E4m3::round(x);
    default:
      return E5m2::round(x);
  }
}

/// Small integers, [extent][k], and the same as they lie in memory: by lines of k, or of the extent.
struct Operand {
  size_t extent, k;
  std::vector<int> value;
  std::vector<uint8_t> bytes;
  Operand(hstu_dtype dtype, size_t lines, size_t length, bool major, std::mt19937& random) : extent(lines), k(length) {
    std::uniform_int_distribution<int> small(-4, 4);
    const auto size = static_cast<size_t>(size_of(dtype));
    value.resize(extent * k);
    bytes.resize(extent * k * size);
    for (size_t e = 0; e < extent; ++e)
      for (size_t i = 0; i < k; ++i) {
        const uint32_t word = encode(dtype, value[e * k + i] = small(random));
        std::memcpy(&bytes[(major ? i * extent + e : e * k + i) * size], &word, size);
      }
  }
};

/// A's words as the lanes of a warpgroup hold them, [4 steps][4 words][128 threads].
std::vector<uint32_t> fragments(const Operand& a, hstu_dtype dtype) {
  const auto size = static_cast<size_t>(size_of(dtype)), pack = 4 / size;
  std::vector<uint32_t> words(16 * 128);
  for (size_t step = 0; step < 4; ++step)
    for (size_t r = 0; r < 4; ++r)
      for (size_t t = 0; t < 128; ++t) {
        const size_t lane = t % 32, row = t / 32 * 16 + lane / 4 + 8 * (r & 1);
        const size_t k = step * 32 / size + pack * (lane % 4) + 4 * pack * (r >> 1);
        for (size_t i = 0; i < pack; ++i)
          words[(step * 4 + r) * 128 + t] |= encode(dtype, a.value[row * a.k + k + i]) << (8 * size * i);
      }
  return words;
}

class PrimWgmma : public testing::TestWithParam<Product> {};

TEST_P(PrimWgmma, IsExactOnSmallIntegers) {
  HSTU_NEEDS_SM90A();
  const Product p = GetParam();
  std::mt19937 random(3);
  const size_t k = 128 / static_cast<size_t>(size_of(p.a));
  const Operand a(p.a, 64, k, p.major_a, random), b(p.b, p.n, k, p.major_b, random);
  const std::vector<uint32_t> words = fragments(a, p.a);
  const std::vector<float> poison(64 * p.n, std::nanf(""));
  const DeviceBuffer buffer_a(a.bytes.data(), a.bytes.size()), buffer_b(b.bytes.data(), b.bytes.size());
  const DeviceBuffer in(words.data(), words.size() * 4), out(poison.data(), poison.size() * 4);
  MapParams params{};
  params.a = p.major_a ? lines_map(buffer_a, p.a, 64, k, 64) : lines_map(buffer_a, p.a, k, 64, 64);
  params.b =
      p.major_b ? lines_map(buffer_b, p.b, p.n, k, 64) : lines_map(buffer_b, p.b, k, p.n, static_cast<uint32_t>(p.n));
  params.in = in.data();
  params.out = out.data();
  run(fmt::format("wgmma<{}, {}, {}, {}, {}, {}>", device_name(p.a), device_name(p.b), p.n, int{p.major_a},
                  int{p.major_b}, p.from_registers),
      params, 128, 64 * 128 + 256 * 128);
  const auto got = out.read<float>();
  for (size_t i = 0; i < 64; ++i)
    for (size_t j = 0; j < p.n; ++j) {
      int want = 0;
      for (size_t e = 0; e < k; ++e) want += a.value[i * k + e] * b.value[j * k + e];
      ASSERT_EQ(got[i * p.n + j], static_cast<float>(want)) << i << " " << j;
    }
}

std::vector<Product> products() {
  constexpr hstu_dtype kBf16 = HSTU_DTYPE_BF16, kF16 = HSTU_DTYPE_F16, kE4 = HSTU_DTYPE_E4M3, kE5 = HSTU_DTYPE_E5M2;
  std::vector<Product> out;
  for (const size_t n : {8, 16, 24, 32, 40, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240, 256})
    out.push_back({kBf16, kBf16, n});
  for (const size_t n : {64, 96, 128, 192, 256}) out.push_back({kBf16, kBf16, n, false, true});
  out.push_back({kBf16, kBf16, 128, true, false});
  out.push_back({kF16, kF16, 128, true, true});
  out.push_back({kF16, kF16, 256});
  out.push_back({kBf16, kBf16, 128, false, true, true});
  out.push_back({kF16, kF16, 64, false, false, true});
  for (const hstu_dtype a : {kE4, kE5})
    for (const hstu_dtype b : {kE4, kE5}) {
      out.push_back({a, b, 128});
      out.push_back({a, b, 64, false, false, true});
    }
  out.push_back({kE4, kE4, 256});
  return out;
}
INSTANTIATE_TEST_SUITE_P(Products, PrimWgmma, testing::ValuesIn(products()),
                         [](const auto& p) { return name_of_product(p.param); });

// ---- Fragments to memory

TEST(PrimStmatrix, IsTheReverseOfLdmatrix) {
  HSTU_NEEDS_SM90A();
  std::vector<uint32_t> in(128);
  for (uint32_t i = 0; i < 128; ++i) in[i] = (2 * i + 1) << 16 | 2 * i;
  const std::vector<uint16_t> poison(3 * 256, 0xdead);
  const DeviceBuffer words(in.data(), in.size() * 4), result(poison.data(), poison.size() * 2);
  MapParams params{};
  params.in = words.data();
  params.out = result.data();
  run("stmatrix", params, 32);
  const auto out = result.read<uint16_t>();
  const auto word = [&](uint32_t row, uint32_t column, uint32_t matrix) {  // of an 8x8 matrix
    return 2 * (4 * (row * 4 + column / 2) + matrix) + column % 2;
  };
  for (uint32_t row = 0; row < 16; ++row)
    for (uint32_t column = 0; column < 16; ++column) {
      const uint32_t matrix = row / 8 + 2 * (column / 8), at = row * 16 + column;
      EXPECT_EQ(out[at], word(row % 8, column % 8, matrix)) << row << " " << column;
      EXPECT_EQ(out[256 + at], word(column % 8, row % 8, matrix)) << row << " " << column;
      EXPECT_EQ(out[512 + at], column < 8 ? word(row % 8, column, row / 8) : 0xffffu) << row << " " << column;
    }
}

// ---- Boxes

constexpr int kWide = 44, kHigh = 13, kDeep = 3;

hstu::TensorMap box_map(const DeviceBuffer& of) {
  TensorMapSpec spec;
  spec.base = of.data();
  spec.dtype = HSTU_DTYPE_F32;
  spec.rank = 3;
  spec.extent[0] = kWide, spec.extent[1] = kHigh, spec.extent[2] = kDeep;
  spec.stride[0] = kWide * 4, spec.stride[1] = kWide * kHigh * 4;
  spec.box[0] = 16, spec.box[1] = 8, spec.box[2] = 2;
  spec.swizzle = Swizzle::none;
  hstu::TensorMap map;
  encode_tensor_map(spec, map);
  return map;
}

TEST(PrimTma, BoxesAreZeroOutsideAndStoredInsideOnly) {
  HSTU_NEEDS_SM90A();
  std::vector<float> in(kWide * kHigh * kDeep);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i + 1);
  const std::vector<float> poison(in.size(), -7), four(4, 0);
  for (const auto& at : {std::array<int32_t, 6>{4, 2, 0, 8, 3, 1}, {36, 9, 2, 40, 10, 2}, {-4, -2, -1, 0, 6, 0}}) {
    const DeviceBuffer from(in.data(), in.size() * 4), to(poison.data(), in.size() * 4);
    const DeviceBuffer where(at.data(), sizeof at), ones(four.data(), 16);
    MapParams params{box_map(from), box_map(to), where.data(), ones.data()};
    run("boxes", params, 32);
    const auto out = to.read<float>();
    const auto inside = [](int x, int y, int z) {
      return x >= 0 && x < kWide && y >= 0 && y < kHigh && z >= 0 && z < kDeep;
    };
    const auto place = [](int x, int y, int z) { return static_cast<size_t>((z * kHigh + y) * kWide + x); };
    std::vector<float> want = poison;
    for (int z = 0; z < 2; ++z)
      for (int y = 0; y < 8; ++y)
        for (int x = 0; x < 16; ++x) {
          if (!inside(at[3] + x, at[4] + y, at[5] + z)) continue;
          const bool there = inside(at[0] + x, at[1] + y, at[2] + z);
          want[place(at[3] + x, at[4] + y, at[5] + z)] =
              there ? 2 * in[place(at[0] + x, at[1] + y, at[2] + z)] : 0.0f;  // stored, and added once
        }
    EXPECT_EQ(out, want);
    EXPECT_EQ(ones.read<float>(), std::vector<float>(4, 1));
  }
}

// ---- Clusters and roles

TEST(PrimCluster, BlocksFetchForEachOtherAndTellEachOther) {
  HSTU_NEEDS_SM90A();
  std::vector<uint16_t> in(64 * 16);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<uint16_t>(i);
  const std::vector<uint32_t> poison(2 * 1036, 0xffffffffu);
  const DeviceBuffer from(in.data(), in.size() * 2), result(poison.data(), poison.size() * 4);
  MapParams params{};
  params.a = lines_map(from, HSTU_DTYPE_BF16, 64, 16, 8);
  params.out = result.data();
  run("pair", params, 64, 0, 2);
  const auto out = result.read<uint32_t>();
  for (uint32_t rank = 0; rank < 2; ++rank) {
    const uint32_t* got = &out[rank * 1036];
    for (uint32_t row = 0; row < 16; ++row)
      for (uint32_t column = 0; column < 64; ++column)  // 16-byte chunks, exchanged by the swizzle
        ASSERT_EQ(got[row * 64 + (((column / 8) ^ (row % 8)) * 8 + column % 8)], row * 64 + column)
            << row << " " << column;
    EXPECT_EQ(got[1024], (rank ^ 1) + 100);
    EXPECT_EQ(got[1025], (rank ^ 1) + 200);
    EXPECT_EQ(got[1026], rank + 100);
    EXPECT_EQ(got[1027], 2001u);  // two blocks, cluster 0 of 1
    for (uint32_t i = 0; i < 4; ++i) EXPECT_EQ(got[1028 + i], (rank ^ 1) * 10 + i);
    for (uint32_t i = 0; i < 4; ++i) EXPECT_EQ(got[1032 + i], rank * 10 + i);
  }
}

TEST(PrimWarpgroup, RolesTradeRegistersAndHandOver) {
  HSTU_NEEDS_SM90A();
  const std::vector<uint32_t> zero(2, 0);
  const DeviceBuffer result(zero.data(), 8);
  MapParams params{};
  params.out = result.data();
  run("roles", params, 256);
  EXPECT_EQ(result.read<uint32_t>(), (std::vector<uint32_t>{8, 0}));
}

// ---- Launches that depend on the one before

struct Overlap {
  int started_early = 0, wrong = 0;
};
Overlap overlap_of_pairs(bool dependent, int pairs) {
  const auto first = test::kernel_of_tests("prim_sm90_checks.cuh", "hstu::check::first");
  const auto second = test::kernel_of_tests("prim_sm90_checks.cuh", "hstu::check::second");
  const Driver& driver = *test::gpu()->driver;
  Overlap seen;
  for (int i = 0; i < pairs; ++i) {
    const std::vector<uint32_t> poison(1024, 0xffffffffu);
    const std::vector<uint64_t> zero(3, 0);
    const DeviceBuffer words(poison.data(), 4096), out(zero.data(), 24);
    Launch launch;
    launch.block[0] = 128;
    launch.dependent = dependent;
    MapParams& params = launch.emplace<MapParams>();
    params.in = words.data();
    params.out = out.data();
    driver.check(first->launch(launch, nullptr), "launching the first");
    driver.check(second->launch(launch, nullptr), "launching the second");
    driver.check(driver.cuStreamSynchronize(nullptr), "waiting for both");
    const auto told = out.read<uint64_t>();
    EXPECT_GT(told[0], 0u);
    EXPECT_GT(told[1], 0u);
    seen.started_early += told[1] < told[0];
    seen.wrong += static_cast<int>(told[2]);
  }
  return seen;
}

TEST(PrimDependentLaunch, TheSecondKernelStartsEarlyAndReadsWhatTheFirstWrote) {
  HSTU_NEEDS_SM90A();
  const Overlap seen = overlap_of_pairs(true, 20);
  EXPECT_EQ(seen.wrong, 0);
  EXPECT_GT(seen.started_early, 0) << "the attribute did nothing";
}

TEST(PrimDependentLaunch, WithoutTheAttributeKernelsFollowEachOther) {
  HSTU_NEEDS_SM90A();
  const Overlap seen = overlap_of_pairs(false, 5);
  EXPECT_EQ(seen.wrong, 0);
  EXPECT_EQ(seen.started_early, 0);
}

}  // namespace
}  // namespace hstujit
