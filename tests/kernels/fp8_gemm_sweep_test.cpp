// Products of FP8 matrices on the device against the descaled oracle: every pair of scalings, types, ragged shapes.
#include "support/device_call.hpp"

#include <fmt/format.h>

namespace hstujit {
namespace {

using test::HostMemory;
using test::Layout;

constexpr hstu_dtype kF32 = HSTU_DTYPE_F32, kF16 = HSTU_DTYPE_F16, kBf16 = HSTU_DTYPE_BF16, kE4m3 = HSTU_DTYPE_E4M3,
                     kE5m2 = HSTU_DTYPE_E5M2;
constexpr auto kTensor = HSTU_FP8_TENSOR, kRow = HSTU_FP8_ROW, kGroup = HSTU_FP8_GROUP, kBlock = HSTU_FP8_BLOCK;

struct Case {
  hstu_dtype dtype;
  int64_t m, k, n;
  hstu_fp8_scaling a = kRow, b = kRow;
  hstu_dtype dtype_a = kE4m3, dtype_b = kE4m3, bias = HSTU_DTYPE_NONE;
  Layout layout_a{}, layout_b{}, out{};
  hstu_fp8_accumulation accumulation = HSTU_FP8_ACCUMULATE_128;
};

std::string name_of_case(const Case& c) {
  const auto layout = [](const Layout& l) { return fmt::format("p{}s{}", l.row_padding, l.shift); };
  return fmt::format("{}_{}x{}x{}_{}{}_{}{}_{}_{}_{}_{}{}", name_of(c.dtype), c.m, c.k, c.n, static_cast<int>(c.a),
                     static_cast<int>(c.b), name_of(c.dtype_a), name_of(c.dtype_b), name_of(c.bias), layout(c.layout_a),
                     layout(c.layout_b), layout(c.out), c.accumulation == HSTU_FP8_ACCUMULATE_FAST ? "_fast" : "");
}
void PrintTo(const Case& c, std::ostream* out) { *out << name_of_case(c); }

hstu_tensor descale(HostMemory& memory, hstu_fp8_scaling scaling, int64_t rows, int64_t columns) {
  const int64_t across = (columns + 127) / 128, down = scaling == kBlock ? (rows + 127) / 128 : rows;
  if (scaling == kTensor) return memory.floats({0.75f});
  if (scaling == kRow) return memory.random(kF32, {rows}, {}, 1, 0.25);
  return memory.random(kF32, {down, across}, {.row_padding = 3}, 1, 0.25);
}

class Fp8GemmSweep : public testing::TestWithParam<Case> {};

TEST_P(Fp8GemmSweep, EqualsTheOracle) {
  HSTU_NEEDS_DEVICE();
  const Case& c = GetParam();
  HostMemory memory;
  hstu_fp8_gemm_args args{};
  args.struct_size = sizeof args;
  const double size = 1 / std::sqrt(static_cast<double>(std::max<int64_t>(c.k, 1)));
  args.a = memory.random(c.dtype_a, {c.m, c.k}, c.layout_a);
  args.b = memory.random(c.dtype_b, {c.n, c.k}, c.layout_b, 0, size);
  args.a_descale = descale(memory, c.a, c.m, c.k);
  args.b_descale = descale(memory, c.b, c.n, c.k);
  args.a_scaling = c.a;
  args.b_scaling = c.b;
  args.accumulation = c.accumulation;
  if (c.bias != HSTU_DTYPE_NONE) args.bias = memory.random(c.bias, {c.n});
  args.out = memory.poison(c.dtype, {c.m, c.n}, c.out);
  // Sums of f16 products are cut off rather than rounded by tensor cores.
  test::Tolerance tolerance = c.dtype == kF32 ? test::Tolerance{2e-5, 300} : test::rounded_once(c.dtype);
  if (c.accumulation == HSTU_FP8_ACCUMULATE_FAST && c.dtype == kBf16)  // six deviations of what fp8.h says of it
    tolerance.ulps_of_row += 6 * 3.3e-4 * std::sqrt(static_cast<double>(c.k) / 512) * 256;
  test::expect_correct(memory, args, &hstu_fp8_gemm_args::out, tolerance);
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const hstu_fp8_scaling a : {kTensor, kRow, kGroup, kBlock})
    for (const hstu_fp8_scaling b : {kTensor, kRow, kGroup, kBlock}) {
      all.push_back({kBf16, 150, 512, 264, a, b});
      all.push_back({kF32, 129, 300, 130, a, b, kE4m3, kE5m2, kF32});
    }
  for (const hstu_dtype type_a : {kE4m3, kE5m2})
    for (const hstu_dtype type_b : {kE4m3, kE5m2})
      all.push_back({kF16, 70, 256, 72, kRow, kBlock, type_a, type_b, kF16});
  for (const auto& [m, k, n] : {std::array<int64_t, 3>{1, 1, 1},
                                {1, 64, 256},
                                {17, 33, 40},
                                {64, 0, 64},
                                {0, 64, 64},
                                {127, 128, 129},
                                {300, 1030, 257},
                                {1000, 256, 1024},
                                {17001, 144, 520},
                                {5, 5000, 8}}) {
    all.push_back({kBf16, m, k, n, kRow, kRow, kE4m3, kE4m3, kBf16});
    all.push_back({kBf16, m, k, n, kGroup, kBlock});
  }
  for (const int64_t padding : {1, 2, 4, 8}) {
    all.push_back({kBf16, 140, 256, 160, kGroup, kBlock, kE4m3, kE4m3, kF32, {.row_padding = padding}});
    all.push_back({kBf16, 140, 256, 160, kTensor, kTensor, kE4m3, kE4m3, kF32, {}, {.shift = padding}});
    all.push_back({kBf16, 140, 256, 160, kGroup, kGroup, kE4m3, kE4m3, kF32, {}, {}, {.row_padding = padding}});
  }
  // Tiles enough for warpgroups with rings of their own: every count of slices, and scales of each kind.
  const auto many = [&](int64_t k, hstu_fp8_scaling a, hstu_fp8_scaling b, hstu_dtype bias, bool fast) {
    Case c{kBf16, 8460, k, 504, a, b, kE4m3, kE5m2, bias};
    if (fast) c.accumulation = HSTU_FP8_ACCUMULATE_FAST;
    all.push_back(c);
  };
  for (const int64_t k : {128, 144, 384, 512, 640, 1024}) {
    many(k, kRow, kRow, HSTU_DTYPE_NONE, false);
    many(k, kRow, kRow, HSTU_DTYPE_NONE, true);
    if (k <= 512) many(k, kGroup, kBlock, kBf16, false);
  }
  many(512, kTensor, kRow, kF32, false);
  many(512, kBlock, kTensor, HSTU_DTYPE_NONE, false);
  many(256, kTensor, kTensor, kBf16, true);
  return all;
}
INSTANTIATE_TEST_SUITE_P(Cases, Fp8GemmSweep, testing::ValuesIn(cases()),
                         [](const auto& c) { return name_of_case(c.param); });

}  // namespace
}  // namespace hstujit
