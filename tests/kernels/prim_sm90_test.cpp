// Primitives of sm_90 on the device alone: wgmma behind TMA, stmatrix, boxes, clusters, roles. The device side is
// prim_sm90_checks.cuh.
#include "cuda/tensor_map.hpp"
#include "support/element.hpp"
#include "support/gpu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>
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
  test::run_check(*kernel, launch);
}

/// What a block makes of `in`: `count` elements, all bits of which are set before.
template <class Out, class In>
std::vector<Out> result_of(const std::string& entry, const std::vector<In>& in, size_t count, uint32_t threads = 128) {
  const std::vector<Out> poison(count, static_cast<Out>(~Out{0}));
  const DeviceBuffer from(in.data(), in.size() * sizeof(In)), out(poison.data(), poison.size() * sizeof(Out));
  MapParams params{};
  params.in = from.data();
  params.out = out.data();
  run(entry, params, threads);
  return out.read<Out>();
}

/// A map of `lines` lines of `length` elements, dense, in boxes of `bytes` (128 or 64, swizzled so) x `box` lines.
hstu::TensorMap lines_map(const DeviceBuffer& of, hstu_dtype dtype, uint64_t length, uint64_t lines, uint32_t box,
                          uint32_t bytes = 128) {
  TensorMapSpec spec;
  spec.base = of.data();
  spec.dtype = dtype;
  spec.rank = 2;
  spec.extent[0] = length;
  spec.extent[1] = lines;
  spec.stride[0] = length * static_cast<uint64_t>(size_of(dtype));
  spec.box[0] = bytes / static_cast<uint32_t>(size_of(dtype));
  spec.box[1] = box;
  spec.swizzle = bytes == 128 ? Swizzle::bytes128 : Swizzle::bytes64;
  hstu::TensorMap map;
  encode_tensor_map(spec, map);
  return map;
}

// ---- Products

struct Product {
  hstu_dtype a, b;
  size_t n;
  bool major_a = false, major_b = false, from_registers = false;
  uint32_t line = 128;  ///< bytes
};
std::string name_of_product(const Product& p) {
  return fmt::format("{}_{}_n{}_{}{}{}{}", name_of(p.a), name_of(p.b), p.n, p.major_a ? "ma" : "ka",
                     p.major_b ? "mb" : "kb", p.from_registers ? "_registers" : "", p.line == 64 ? "_64" : "");
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
  const size_t k = p.line / static_cast<size_t>(size_of(p.a));
  const Operand a(p.a, 64, k, p.major_a, random), b(p.b, p.n, k, p.major_b, random);
  const std::vector<uint32_t> words = p.from_registers ? fragments(a, p.a) : std::vector<uint32_t>(1);
  const std::vector<float> poison(64 * p.n, std::nanf(""));
  const DeviceBuffer buffer_a(a.bytes.data(), a.bytes.size()), buffer_b(b.bytes.data(), b.bytes.size());
  const DeviceBuffer in(words.data(), words.size() * 4), out(poison.data(), poison.size() * 4);
  MapParams params{};
  params.a = p.major_a ? lines_map(buffer_a, p.a, 64, k, 64) : lines_map(buffer_a, p.a, k, 64, 64, p.line);
  params.b = p.major_b ? lines_map(buffer_b, p.b, p.n, k, 64)
                       : lines_map(buffer_b, p.b, k, p.n, static_cast<uint32_t>(p.n), p.line);
  params.in = in.data();
  params.out = out.data();
  run(fmt::format("wgmma<{}, {}, {}, {}, {}, {}, {}>", device_name(p.a), device_name(p.b), p.n, int{p.major_a},
                  int{p.major_b}, p.from_registers, p.line),
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
  for (const size_t n : {8, 64, 128, 256}) out.push_back({kBf16, kBf16, n, false, false, false, 64});
  out.push_back({kF16, kF16, 128, false, false, false, 64});
  out.push_back({kE4, kE4, 128, false, false, false, 64});
  out.push_back({kE5, kE4, 256, false, false, false, 64});
  return out;
}
INSTANTIATE_TEST_SUITE_P(Products, PrimWgmma, testing::ValuesIn(products()),
                         [](const auto& p) { return name_of_product(p.param); });

// ---- Fragments to memory

TEST(PrimStmatrix, IsTheReverseOfLdmatrix) {
  HSTU_NEEDS_SM90A();
  std::vector<uint32_t> in(128);
  for (uint32_t i = 0; i < 128; ++i) in[i] = (2 * i + 1) << 16 | 2 * i;
  const auto out = result_of<uint16_t>("stmatrix", in, 256, 32);
  const auto word = [&](uint32_t row, uint32_t column, uint32_t matrix) {  // of an 8x8 matrix
    return 2 * (4 * (row * 4 + column / 2) + matrix) + column % 2;
  };
  for (uint32_t row = 0; row < 16; ++row)
    for (uint32_t column = 0; column < 16; ++column) {
      const uint32_t matrix = row / 8 + 2 * (column / 8), at = row * 16 + column;
      EXPECT_EQ(out[at], word(row % 8, column % 8, matrix)) << row << " " << column;
    }
}

// ---- Packed pairs and words

/// Words whose halves have magnitudes from `least` to `most`, as bits, and random signs.
std::vector<uint32_t> words_of_pairs(size_t count, uint32_t least, uint32_t most) {
  std::mt19937 random(8);
  std::uniform_int_distribution<uint32_t> magnitude(least, most), sign(0, 1);
  std::vector<uint32_t> words(count);
  for (uint32_t& word : words)
    for (const int shift : {0, 16}) word |= (magnitude(random) | sign(random) << 15) << shift;
  return words;
}

TEST(PrimBulk, BringsWhatItIsTold) {
  HSTU_NEEDS_SM90A();
  std::vector<uint32_t> words(1024);
  std::mt19937 random(9);
  for (uint32_t& word : words) word = static_cast<uint32_t>(random());
  EXPECT_EQ(result_of<uint32_t>("bulk", words, words.size()), words);
}

TEST(PrimMath, GreaterMagnitudesOfPairsKeepNan) {
  HSTU_NEEDS_SM90A();
  auto in = words_of_pairs(256, 0, 0x7bff);
  in[7] |= 0x7fffu;
  in[20] |= 0x7fff0000u;
  const auto out = result_of<uint32_t>("pairs", in, 3 * 128);
  for (size_t i = 0; i < 128; ++i)
    for (const int shift : {0, 16}) {
      const auto magnitude = [&](uint32_t word) { return word >> shift & 0x7fff; };
      const uint32_t want = std::max(magnitude(in[2 * i]), magnitude(in[2 * i + 1]));  // NaN is the largest
      EXPECT_EQ(magnitude(out[3 * i]), want) << i;
      EXPECT_EQ(magnitude(out[3 * i + 1]), want) << i;
    }
}

TEST(PrimMath, ProductsOfPairsAreRoundedOnce) {
  HSTU_NEEDS_SM90A();
  const auto in = words_of_pairs(256, 0x3000, 0x4f00);  // whose products are normal numbers
  const auto out = result_of<uint32_t>("pairs", in, 3 * 128);
  for (size_t i = 0; i < 128; ++i)
    for (const int shift : {0, 16}) {
      const auto half = [&](uint32_t word) { return static_cast<uint16_t>(word >> shift); };
      EXPECT_EQ(half(out[3 * i + 2]), Bf16::round(Bf16::widen(half(in[2 * i])) * Bf16::widen(half(in[2 * i + 1]))));
    }
}

TEST(PrimFp8, FourFloatsAreAWord) {
  HSTU_NEEDS_SM90A();
  std::mt19937 random(9);
  std::normal_distribution<float> normal(0, 150);
  std::vector<float> in(4 * 128);
  for (float& v : in) v = normal(random);
  in[1] = 1e30f, in[6] = -1e30f, in[11] = 1e-30f, in[12] = std::nanf("");
  const auto out = result_of<uint32_t>("four", in, 128);
  for (size_t i = 0; i < in.size(); ++i) {
    const auto got = static_cast<uint8_t>(out[i / 4] >> (8 * (i % 4)));
    if (std::isnan(in[i]))
      EXPECT_EQ(got & 0x7f, 0x7f);
    else
      EXPECT_EQ(got, E4m3::round(static_cast<double>(in[i]))) << in[i];
  }
}

// ---- Boxes

constexpr int kExtent[5] = {44, 13, 5, 4, 3}, kBox[5] = {16, 8, 2, 2, 2};

/// A dense tensor's first dimensions, in boxes of as many; further ones of the box are 1.
hstu::TensorMap box_map(const DeviceBuffer& of, int rank, int box_rank) {
  TensorMapSpec spec;
  spec.base = of.data();
  spec.dtype = HSTU_DTYPE_F32;
  spec.rank = rank;
  uint64_t bytes = 4;
  for (int d = 0; d < rank; ++d) {
    spec.extent[d] = static_cast<uint64_t>(kExtent[d]);
    bytes *= spec.extent[d];
    if (d + 1 < rank) spec.stride[d] = bytes;
    spec.box[d] = d < box_rank ? static_cast<uint32_t>(kBox[d]) : 1;
  }
  spec.swizzle = Swizzle::none;
  hstu::TensorMap map;
  encode_tensor_map(spec, map);
  return map;
}

/// From a tensor of one rank to one of another, at least as great.
struct Boxes {
  int from, to;
};
class PrimTma : public testing::TestWithParam<Boxes> {};

TEST_P(PrimTma, BoxesAreZeroOutsideAndStoredInsideOnly) {
  HSTU_NEEDS_SM90A();
  using Place = std::array<int, 5>;
  const auto [rank, rank_to] = GetParam();
  size_t elements = 1;
  for (const int extent : kExtent) elements *= static_cast<size_t>(extent);
  std::vector<float> in(elements);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i + 1);
  const std::vector<float> poison(elements, -7);
  /// Where an element lies; none beyond the dimensions of a tensor of that rank.
  const auto index_of = [](const Place& at, int of_rank) -> std::optional<size_t> {
    size_t index = 0;
    for (int d = of_rank - 1; d >= 0; --d) {
      const auto i = static_cast<size_t>(d);
      if (at[i] < 0 || at[i] >= kExtent[d]) return std::nullopt;
      index = index * static_cast<size_t>(kExtent[d]) + static_cast<size_t>(at[i]);
    }
    return index;
  };
  const Place places[][2] = {{{4, 2, 0, 1, 0}, {8, 3, 1, 0, 1}},
                             {{36, 9, 4, 3, 2}, {40, 10, 2, 3, 2}},
                             {{-4, -2, -1, -1, -1}, {0, 6, 0, 3, 1}}};
  for (const auto& [at, to] : places) {
    size_t box = 1;
    for (int d = 0; d < rank; ++d) box *= static_cast<size_t>(kBox[d]);
    std::array<int32_t, 11> words{};
    std::copy(at.begin(), at.end(), words.begin());
    std::copy(to.begin(), to.end(), words.begin() + 5);
    words[10] = static_cast<int32_t>(box * 4);
    const DeviceBuffer source(in.data(), elements * 4), target(poison.data(), elements * 4);
    const DeviceBuffer where(words.data(), sizeof words);
    MapParams params{};
    params.a = box_map(source, rank, rank);
    params.b = box_map(target, rank_to, rank);
    params.in = where.data();
    run(fmt::format("boxes<{}, {}>", rank, rank_to), params, 32);

    std::vector<float> want = poison;
    for (size_t i = 0; i < box; ++i) {
      Place from = at, there = to;
      size_t rest = i;
      for (int d = 0; d < rank; ++d) {
        const auto length = static_cast<size_t>(kBox[d]), dimension = static_cast<size_t>(d);
        from[dimension] += static_cast<int>(rest % length);
        there[dimension] += static_cast<int>(rest % length);
        rest /= length;
      }
      if (const auto stored = index_of(there, rank_to)) {
        const auto loaded = index_of(from, rank);
        want[*stored] = loaded ? in[*loaded] : 0.0f;
      }
    }
    EXPECT_TRUE(target.read<float>() == want) << "from " << at[0] << " to " << to[0];
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, PrimTma, testing::Values(Boxes{2, 2}, Boxes{3, 4}, Boxes{4, 4}, Boxes{5, 5}),
                         [](const auto& b) { return fmt::format("from_{}_to_{}", b.param.from, b.param.to); });

// ---- Clusters and roles

TEST(PrimCluster, BlocksFetchForEachOtherAndTellEachOther) {
  HSTU_NEEDS_SM90A();
  std::vector<uint16_t> in(64 * 16);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<uint16_t>(i);
  const std::vector<uint32_t> poison(2 * 1032, 0xffffffffu);
  const DeviceBuffer from(in.data(), in.size() * 2), result(poison.data(), poison.size() * 4);
  MapParams params{};
  params.a = lines_map(from, HSTU_DTYPE_BF16, 64, 16, 8);
  params.out = result.data();
  run("pair", params, 64, 0, 2);
  const auto out = result.read<uint32_t>();
  for (uint32_t rank = 0; rank < 2; ++rank) {
    const uint32_t* got = &out[rank * 1032];
    for (uint32_t row = 0; row < 16; ++row)
      for (uint32_t column = 0; column < 64; ++column)  // 16-byte chunks, exchanged by the swizzle
        ASSERT_EQ(got[row * 64 + (((column / 8) ^ (row % 8)) * 8 + column % 8)], row * 64 + column)
            << row << " " << column;
    for (uint32_t i = 0; i < 4; ++i) EXPECT_EQ(got[1024 + i], (rank ^ 1) * 10 + i);
    for (uint32_t i = 0; i < 4; ++i) EXPECT_EQ(got[1028 + i], rank * 10 + i);
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
