// Gated products on the device against the oracle: activations, layouts, types, ragged shapes.
#include "support/device_call.hpp"

#include <fmt/format.h>

namespace hstujit {
namespace {

using test::HostMemory;
using test::Layout;

constexpr hstu_dtype kF32 = HSTU_DTYPE_F32, kF16 = HSTU_DTYPE_F16, kBf16 = HSTU_DTYPE_BF16;

struct Case {
  hstu_dtype dtype;
  int64_t m, k, n;
  hstu_activation activation = HSTU_ACTIVATION_SILU;
  int32_t activate_gate = 0;
  bool x_transposed = false, gate_transposed = true, up_transposed = true;
  Layout x{}, w{}, out{};
  int32_t allow_tf32 = 0;
  hstu_dtype fp8 = HSTU_DTYPE_NONE;  ///< of out
  float descale = 0.01f;
};

std::string name_of_case(const Case& c) {
  const auto layout = [](const Layout& l) { return fmt::format("p{}s{}", l.row_padding, l.shift); };
  std::string name =
      fmt::format("{}_{}x{}x{}_a{}g{}_t{}{}{}_{}_{}_{}_{}", name_of(c.dtype), c.m, c.k, c.n,
                  static_cast<int>(c.activation), c.activate_gate, int{c.x_transposed}, int{c.gate_transposed},
                  int{c.up_transposed}, layout(c.x), layout(c.w), layout(c.out), c.allow_tf32);
  if (c.fp8 != HSTU_DTYPE_NONE) name += fmt::format("_{}d{:.0f}", name_of(c.fp8), 10000 * c.descale);
  return name;
}
void PrintTo(const Case& c, std::ostream* out) { *out << name_of_case(c); }

hstu_tensor matrix(HostMemory& memory, hstu_dtype dtype, int64_t rows, int64_t columns, bool transposed, Layout layout,
                   double size) {
  if (!transposed) return memory.random(dtype, {rows, columns}, layout, 0, size);
  return test::transposed(memory.random(dtype, {columns, rows}, layout, 0, size));
}

hstu_gated_mlp_args args_of(HostMemory& memory, const Case& c) {
  hstu_gated_mlp_args args{};
  args.struct_size = sizeof args;
  const double size = 1 / std::sqrt(static_cast<double>(std::max<int64_t>(c.k, 1)));
  args.x = matrix(memory, c.dtype, c.m, c.k, c.x_transposed, c.x, 1);
  args.gate = matrix(memory, c.dtype, c.k, c.n, c.gate_transposed, c.w, size);
  args.up = matrix(memory, c.dtype, c.k, c.n, c.up_transposed, c.w, size);
  args.out = memory.poison(c.fp8 != HSTU_DTYPE_NONE ? c.fp8 : c.dtype, {c.m, c.n}, c.out);
  if (c.fp8 != HSTU_DTYPE_NONE) args.out_descale = memory.floats({c.descale});
  args.activation = c.activation;
  args.activate_gate = c.activate_gate;
  args.allow_tf32 = c.allow_tf32;
  return args;
}

class GatedMlpSweep : public testing::TestWithParam<Case> {};

TEST_P(GatedMlpSweep, EqualsTheOracle) {
  HSTU_NEEDS_DEVICE();
  const Case& c = GetParam();
  HostMemory memory;
  const auto args = args_of(memory, c);
  // An error of a factor shows in the product as large as the other factor is.
  test::Tolerance tolerance = c.allow_tf32 ? test::Tolerance{2e-3, 1 << 14}
                              : c.n < 32   ? test::rounded_once_of_few(c.dtype)
                                           : test::rounded_once(c.dtype);
  if (!c.allow_tf32 && c.dtype == kF32) tolerance.ulps_of_row *= 4;
  if (c.fp8 != HSTU_DTYPE_NONE)
    tolerance = c.n < static_cast<int64_t>(test::kFewElements) ? test::rounded_to_fp8_of_few(c.fp8)
                                                               : test::rounded_to_fp8(c.fp8);
  test::expect_correct(memory, args, &hstu_gated_mlp_args::out, tolerance);
}

std::vector<Case> cases() {
  constexpr auto kSilu = HSTU_ACTIVATION_SILU, kGelu = HSTU_ACTIVATION_GELU, kTanh = HSTU_ACTIVATION_GELU_TANH;
  std::vector<Case> all;
  for (const hstu_dtype dtype : {kBf16, kF16, kF32})
    for (const hstu_activation activation : {kSilu, kGelu, kTanh})
      for (const int32_t gate : {0, 1}) all.push_back({dtype, 150, 96, 136, activation, gate});
  for (const hstu_dtype dtype : {kBf16, kF32})
    for (const bool x : {false, true})
      for (const bool gate : {false, true})
        for (const bool up : {false, true}) all.push_back({dtype, 72, 40, 88, kSilu, 1, x, gate, up});
  for (const auto& [m, k, n] : {std::array<int64_t, 3>{1, 1, 1},
                                {1, 64, 256},
                                {17, 33, 40},
                                {129, 65, 127},
                                {300, 512, 512},
                                {5, 3000, 8},
                                {1000, 8, 33},
                                {64, 0, 64},
                                {0, 64, 64}}) {
    all.push_back({kBf16, m, k, n, kGelu});
    all.push_back({kF32, m, k, n, kSilu, 1});
  }
  all.push_back({kBf16, 17001, 72, 264, kSilu, 1});  // more tiles than blocks
  for (const int64_t padding : {1, 2, 4}) {
    all.push_back({kBf16, 140, 96, 160, kSilu, 0, false, true, true, {.row_padding = padding}});
    all.push_back({kBf16, 140, 96, 160, kSilu, 0, false, true, true, {}, {.row_padding = padding}});
    all.push_back({kBf16, 140, 96, 160, kSilu, 0, false, false, false, {}, {.shift = padding}});
    all.push_back({kBf16, 140, 96, 160, kSilu, 0, false, true, true, {}, {}, {.row_padding = padding}});
  }
  all.push_back({kF32, 140, 96, 160, kGelu, 0, false, true, true, {}, {}, {}, 1});
  return all;
}
INSTANTIATE_TEST_SUITE_P(Cases, GatedMlpSweep, testing::ValuesIn(cases()),
                         [](const auto& c) { return name_of_case(c.param); });

/// Results in FP8, of every type and activation of either factor, ragged and to any alignment; most of one case
/// saturate.
std::vector<Case> fp8_results() {
  constexpr auto kSilu = HSTU_ACTIVATION_SILU, kGelu = HSTU_ACTIVATION_GELU, kTanh = HSTU_ACTIVATION_GELU_TANH;
  constexpr auto kE4m3 = HSTU_DTYPE_E4M3, kE5m2 = HSTU_DTYPE_E5M2;
  std::vector<Case> all;
  const auto add = [&](hstu_dtype fp8, Case c) -> Case& {
    c.fp8 = fp8;
    return all.emplace_back(c);
  };
  for (const hstu_dtype fp8 : {kE4m3, kE5m2})
    for (const hstu_dtype dtype : {kBf16, kF16, kF32})
      for (const hstu_activation activation : {kSilu, kGelu, kTanh})
        for (const int32_t gate : {0, 1}) add(fp8, {dtype, 150, 96, 144, activation, gate});
  add(kE4m3, {kBf16, 150, 96, 256}).descale = 0.0005f;
  for (const hstu_dtype dtype : {kBf16, kF32}) {
    add(kE4m3, {dtype, 17001, 72, 272, kSilu, 1});  // more tiles than blocks
    add(kE5m2, {dtype, 1, 64, 256});
    add(kE4m3, {dtype, 300, 520, 528, kGelu, 0, true, false, false});
    for (const int64_t n : {1, 33, 127, 250, 252}) add(kE4m3, {dtype, 77, 64, n, kSilu, 1});
    for (const int64_t padding : {1, 2, 4, 8}) {
      add(kE4m3, {dtype, 77, 64, 160, kSilu, 1, false, true, true, {}, {}, {.row_padding = padding}});
      add(kE5m2, {dtype, 77, 64, 160, kTanh, 0, false, true, true, {}, {}, {.shift = padding}});
    }
    add(kE4m3, {dtype, 64, 0, 64});
    add(kE4m3, {dtype, 0, 64, 64});
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(Fp8Results, GatedMlpSweep, testing::ValuesIn(fp8_results()),
                         [](const auto& c) { return name_of_case(c.param); });

TEST(GatedMlpOnDevice, NanAndInfinityInFp8) {
  HSTU_NEEDS_DEVICE();
  for (const int64_t n : {160, 155}) {
    HostMemory memory;
    Case c{kBf16, 150, 96, n, HSTU_ACTIVATION_SILU, 1};
    c.fp8 = HSTU_DTYPE_E4M3;
    const auto args = args_of(memory, c);
    test::fill(test::columns_of(test::rows_of(args.x, 70, 1), 50, 1), std::nan(""));
    test::fill(test::columns_of(test::rows_of(args.x, 71, 1), 51, 1), INFINITY);
    test::expect_correct(memory, args, &hstu_gated_mlp_args::out, test::rounded_to_fp8(c.fp8));
  }
}

}  // namespace
}  // namespace hstujit
