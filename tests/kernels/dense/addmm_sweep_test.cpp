// The matrix product on the device against the oracle: shapes around and far from tile sizes, biases, activations, and
// operands whose layout breaks alignment one by one.
#include "capi/handle.hpp"
#include "support/device_call.hpp"
#include "support/streams.hpp"

#include <fmt/format.h>

namespace hstujit {
namespace {

using test::HostMemory;
using test::Layout;

constexpr hstu_dtype kF32 = HSTU_DTYPE_F32, kF16 = HSTU_DTYPE_F16, kBf16 = HSTU_DTYPE_BF16;

enum class Bias { none, row, wide_row /* f32 */, residual, in_place, both, wide_both /* row f32 */, both_in_place };
bool has_row(Bias bias) { return bias == Bias::row || bias == Bias::both || bias == Bias::both_in_place; }
bool has_wide_row(Bias bias) { return bias == Bias::wide_row || bias == Bias::wide_both; }
bool has_residual(Bias bias) { return bias == Bias::residual || bias == Bias::both || bias == Bias::wide_both; }
bool is_in_place(Bias bias) { return bias == Bias::in_place || bias == Bias::both_in_place; }

struct Case {
  hstu_dtype dtype;
  int64_t m, k, n;
  Bias bias = Bias::row;
  hstu_activation activation = HSTU_ACTIVATION_NONE;
  int64_t activation_columns = 0;
  bool transposed = false;
  Layout x{}, w{}, y{}, z{};
  std::vector<int64_t> parts{};      ///< columns of z, z1, ...; none: z has all
  hstu_dtype fp8 = HSTU_DTYPE_NONE;  ///< of z
  float descale = 0.02f;
};

std::string name_of_case(const Case& c) {
  const auto layout = [](const Layout& l) { return fmt::format("p{}s{}", l.row_padding, l.shift); };
  std::string name =
      fmt::format("{}_{}x{}x{}_bias{}_act{}c{}_t{}_{}_{}_{}_{}_{}", name_of(c.dtype), c.m, c.k, c.n,
                  static_cast<int>(c.bias), static_cast<int>(c.activation), c.activation_columns, int{c.transposed},
                  layout(c.x), layout(c.w), layout(c.y), layout(c.z), fmt::join(c.parts, "_"));
  if (c.fp8 != HSTU_DTYPE_NONE) name += fmt::format("_{}d{:.0f}", name_of(c.fp8), 1000 * c.descale);
  return name;
}

void PrintTo(const Case& c, std::ostream* out) { *out << name_of_case(c); }

hstu_addmm_args args_of(HostMemory& memory, const Case& c) {
  hstu_addmm_args args{};
  args.struct_size = sizeof args;
  const double deviation = 1 / std::sqrt(static_cast<double>(std::max<int64_t>(c.k, 1)));  // results of order one
  args.x = memory.random(c.dtype, {c.m, c.k}, c.x);
  args.w = c.transposed ? test::transposed(memory.random(c.dtype, {c.n, c.k}, c.w, 0, deviation))
                        : memory.random(c.dtype, {c.k, c.n}, c.w, 0, deviation);
  const hstu_dtype stored = c.fp8 != HSTU_DTYPE_NONE ? c.fp8 : c.dtype;
  if (has_row(c.bias)) args.bias = memory.random(c.dtype, {c.n}, c.y);
  if (has_wide_row(c.bias)) args.bias = memory.random(kF32, {c.n}, c.y);
  if (has_residual(c.bias)) args.residual = memory.random(c.dtype, {c.m, c.n}, c.y);
  if (is_in_place(c.bias))
    args.residual = args.out = memory.random(c.dtype, {c.m, c.n}, c.z);
  else
    args.out = memory.poison(stored, {c.m, c.parts.empty() ? c.n : c.parts[0]}, c.z);
  hstu_tensor* const more[] = {&args.out1, &args.out2, &args.out3};
  for (size_t i = 1; i < c.parts.size(); ++i) *more[i - 1] = memory.poison(stored, {c.m, c.parts[i]}, c.z);
  if (c.fp8 != HSTU_DTYPE_NONE) args.out_descale = memory.floats({c.descale});
  args.activation = c.activation;
  args.activation_columns = c.activation_columns;
  return args;
}

test::Tolerance tolerance_in_fp8(hstu_dtype fp8, bool few) {
  return few ? test::rounded_to_fp8_of_few(fp8) : test::rounded_to_fp8(fp8);
}

class AddmmSweep : public testing::TestWithParam<Case> {};

TEST_P(AddmmSweep, EqualsTheOracle) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  const auto args = args_of(memory, GetParam());
  const Case& c = GetParam();
  const bool few = args.out.shape[1] < static_cast<int64_t>(test::kFewElements);
  const test::Tolerance tolerance = c.fp8 != HSTU_DTYPE_NONE ? tolerance_in_fp8(c.fp8, few)
                                    : few                    ? test::rounded_once_of_few(c.dtype)
                                                             : test::rounded_once(c.dtype);
  using Args = hstu_addmm_args;
  test::expect_correct(memory, args, {&Args::out, &Args::out1, &Args::out2, &Args::out3}, tolerance);
}

std::vector<Case> shapes() {
  std::vector<Case> cases;
  for (const auto& [m, k, n] : {std::array<int64_t, 3>{1, 1, 1},
                                {1, 64, 256},
                                {2, 512, 2048},
                                {17, 33, 40},
                                {64, 64, 64},
                                {127, 65, 129},
                                {128, 32, 128},
                                {129, 96, 127},
                                {200, 100, 300},
                                {255, 72, 257},
                                {300, 256, 512},
                                {1000, 512, 96},
                                {31, 2048, 100},
                                {5, 5000, 8},
                                {3000, 8, 16},
                                {17001, 72, 520},  // more tiles than blocks
                                {16, 512, 2048},   // few rows
                                {40, 328, 520},
                                {64, 1096, 3080},
                                {100, 8200, 136},  // few tiles, whose k is divided
                                {300, 4104, 264}}) {
    cases.push_back({kBf16, m, k, n});
    if (m % 2 == 1) cases.push_back({kF16, m, k, n, Bias::none});
  }
  return cases;
}

std::vector<Case> epilogues() {
  constexpr hstu_activation kSilu = HSTU_ACTIVATION_SILU, kNone = HSTU_ACTIVATION_NONE;
  return {
      {kBf16, 150, 128, 256, Bias::none},
      {kBf16, 150, 128, 256, Bias::row, kSilu},
      {kBf16, 150, 128, 256, Bias::row, kSilu, 128},
      {kBf16, 150, 128, 256, Bias::row, kSilu, 100},
      {kBf16, 150, 128, 256, Bias::row, kSilu, 1},
      {kBf16, 150, 128, 250, Bias::row, kSilu, 249},
      {kBf16, 150, 128, 256, Bias::wide_row, kSilu, 64},
      {kF16, 150, 128, 256, Bias::wide_row, kNone},
      {kBf16, 150, 128, 256, Bias::residual},
      {kF16, 150, 128, 256, Bias::residual, kSilu},
      {kBf16, 150, 128, 255, Bias::residual},
      {kBf16, 150, 128, 256, Bias::in_place},
      {kF16, 133, 40, 77, Bias::in_place, kNone},
      {kBf16, 150, 128, 256, Bias::none, kSilu, 37},
      {kBf16, 21, 256, 328, Bias::row, kSilu, 100},
      {kF16, 21, 256, 328, Bias::wide_row, kSilu, 328},
      {kBf16, 21, 256, 328, Bias::residual, kSilu, 37},
      {kBf16, 21, 256, 328, Bias::in_place},
      {kBf16, 70, 4096, 200, Bias::row, kSilu, 100},
      {kF16, 70, 4096, 200, Bias::in_place},
  };
}

/// Each with every bias and type, of all columns and of some; few rows, a divided k, columns of w that stay, parts.
std::vector<Case> gelus() {
  std::vector<Case> cases;
  for (const hstu_activation gelu : {HSTU_ACTIVATION_GELU, HSTU_ACTIVATION_GELU_TANH}) {
    const bool exact = gelu == HSTU_ACTIVATION_GELU;
    for (const hstu_dtype dtype : {kBf16, kF16, kF32})
      for (const Bias bias : {Bias::none, Bias::row, Bias::residual})
        cases.push_back({dtype, 150, 128, 256, bias, gelu, exact == (bias == Bias::row) ? 100 : 0});
    for (const Bias bias : {Bias::wide_row, Bias::in_place}) cases.push_back({kBf16, 150, 128, 256, bias, gelu});
    for (const hstu_dtype dtype : {kBf16, kF16}) {
      cases.push_back({dtype, 21, 256, 328, Bias::row, gelu, exact ? 0 : 100});
      cases.push_back({dtype, 70, 4096, 200, Bias::residual, gelu, exact ? 100 : 0});
      cases.push_back({dtype, 8460, 256, 1000, Bias::row, gelu, exact ? 300 : 0});
      cases.push_back({dtype, 2300, 1088, 1152, Bias::row, gelu});
    }
    cases.push_back({kBf16, 77, 64, 250, Bias::row, gelu, 249});
    cases.push_back({kBf16, 150, 128, 320, Bias::residual, gelu, 128, false, {}, {}, {}, {}, {64, 128, 128}});
  }
  return cases;
}

/// Results that go to several tensors, cut at, between and within boxes and accesses.
std::vector<Case> split_outputs() {
  constexpr hstu_activation kSilu = HSTU_ACTIVATION_SILU;
  const Layout gap{.row_padding = 8}, gap1{.row_padding = 1};
  const auto split = [](Case c, std::vector<int64_t> parts) {
    c.parts = std::move(parts);
    return c;
  };
  return {
      split({kBf16, 150, 128, 256, Bias::row, kSilu, 64}, {64, 192}),
      split({kF16, 300, 96, 512, Bias::row, kSilu, 128, false, {}, {}, {}, gap}, {128, 128, 192, 64}),
      split({kBf16, 1000, 512, 2048, Bias::row, kSilu, 512}, {512, 1536}),
      split({kBf16, 150, 128, 320, Bias::residual}, {64, 128, 128}),
      split({kBf16, 150, 128, 256, Bias::none}, {32, 224}),
      split({kBf16, 77, 64, 256, Bias::wide_row, kSilu, 100}, {100, 56, 100}),
      split({kF16, 77, 64, 130, Bias::row}, {1, 2, 3, 124}),
      split({kBf16, 77, 64, 130, Bias::residual, kSilu, 0, false, {}, {}, gap1, gap1}, {63, 67}),
      split({kF32, 90, 40, 96, Bias::row, kSilu, 50}, {4, 20, 8, 64}),
      split({kF32, 90, 40, 97, Bias::none}, {60, 37}),
  };
}

/// Results in FP8, of every type of operands and every ending, to any alignment; most of one case saturate.
std::vector<Case> fp8_results() {
  constexpr hstu_dtype kE4m3 = HSTU_DTYPE_E4M3, kE5m2 = HSTU_DTYPE_E5M2;
  constexpr hstu_activation kNone = HSTU_ACTIVATION_NONE, kSilu = HSTU_ACTIVATION_SILU, kGelu = HSTU_ACTIVATION_GELU;
  std::vector<Case> cases;
  const auto add = [&](hstu_dtype fp8, Case c) -> Case& {
    c.fp8 = fp8;
    return cases.emplace_back(std::move(c));
  };
  for (const hstu_dtype fp8 : {kE4m3, kE5m2})
    for (const hstu_dtype dtype : {kBf16, kF16, kF32})
      for (const Bias bias : {Bias::none, Bias::row, Bias::residual})
        add(fp8, {dtype, 150, 128, 256, bias, fp8 == kE4m3 ? kSilu : kNone, 100});
  add(kE4m3, {kBf16, 150, 128, 256, Bias::row}).descale = 0.002f;
  for (const int64_t n : {520, 528}) add(kE4m3, {kBf16, 17001, 72, n, Bias::residual, kGelu});
  add(kE5m2, {kF16, 300, 1096, 272, Bias::residual, kSilu, 100, true});
  add(kE4m3, {kBf16, 77, 64, 256, Bias::residual, kSilu, 100, false, {}, {}, {.row_padding = 16}}).parts = {64, 192};
  add(kE4m3, {kBf16, 21, 256, 328, Bias::wide_row, kSilu, 100});
  add(kE5m2, {kF16, 1, 64, 256});
  add(kE4m3, {kBf16, 300, 1096, 264, Bias::row, kNone, 0, true});
  add(kE4m3, {kBf16, 8460, 256, 1008, Bias::row, kGelu, 300});
  add(kE5m2, {kF16, 2300, 1088, 1152, Bias::row});
  for (const hstu_dtype dtype : {kBf16, kF32}) {
    for (const int64_t n : {252, 250, 255}) add(kE4m3, {dtype, 77, 64, n, Bias::residual});
    for (const int64_t padding : {1, 2, 4, 8}) {
      add(kE4m3, {dtype, 77, 64, 160, Bias::row, kNone, 0, false, {}, {}, {}, {.row_padding = padding}});
      add(kE5m2, {dtype, 77, 64, 160, Bias::residual, kNone, 0, false, {}, {}, {}, {.shift = padding}});
    }
    for (const auto& parts : std::vector<std::vector<int64_t>>{{64, 192}, {100, 56, 100}, {1, 2, 3, 250}})
      add(kE4m3, {dtype, 77, 64, 256, Bias::row, kSilu, 100}).parts = parts;
  }
  return cases;
}

std::vector<Case> layouts() {
  constexpr hstu_activation kNone = HSTU_ACTIVATION_NONE;
  constexpr Bias kRow = Bias::row, kResidual = Bias::residual;
  const Layout gap{.row_padding = 8}, gap4{.row_padding = 4}, gap2{.row_padding = 2}, gap1{.row_padding = 1};
  const Layout shift4{.shift = 4}, shift2{.shift = 2}, shift1{.shift = 1};
  return {
      {kBf16, 140, 96, 160, kRow, kNone, 0, false, gap, gap, {}, gap},
      {kBf16, 140, 96, 160, kRow, kNone, 0, false, gap4},
      {kBf16, 140, 96, 160, kRow, kNone, 0, false, gap2},
      {kBf16, 140, 96, 160, kRow, kNone, 0, false, gap1},
      {kBf16, 140, 96, 160, kRow, kNone, 0, false, shift4},
      {kBf16, 140, 96, 160, kRow, kNone, 0, false, shift1},
      {kBf16, 140, 96, 160, kRow, kNone, 0, false, {}, gap4},
      {kBf16, 140, 96, 160, kRow, kNone, 0, false, {}, shift2},
      {kBf16, 140, 96, 160, kRow, kNone, 0, false, {}, gap1},
      {kBf16, 140, 96, 160, kRow, kNone, 0, false, {}, {}, {}, gap4},
      {kBf16, 140, 96, 160, kRow, kNone, 0, false, {}, {}, {}, shift2},
      {kBf16, 140, 96, 160, kRow, kNone, 0, false, {}, {}, {}, gap1},
      {kBf16, 140, 96, 160, kRow, kNone, 0, false, {}, {}, shift1},
      {kBf16, 140, 96, 160, kResidual, kNone, 0, false, {}, {}, gap1},
      {kBf16, 140, 96, 160, kResidual, kNone, 0, false, {}, {}, gap, gap4},
      // Weights stored [n, k].
      {kBf16, 140, 96, 160, kRow, kNone, 0, true},
      {kF16, 140, 96, 160, kResidual, kNone, 0, true},
      {kBf16, 77, 100, 45, kRow, kNone, 0, true},
      {kBf16, 77, 33, 45, kRow, kNone, 0, true},
      {kBf16, 140, 96, 160, kRow, kNone, 0, true, {}, gap},
      {kBf16, 140, 96, 160, kRow, kNone, 0, true, {}, gap1},
      {kBf16, 140, 96, 160, kRow, kNone, 0, true, {}, shift4},
      {kBf16, 77, 1, 45, kRow, kNone, 0, true, {}, gap},
      // Few rows, and few tiles of a long k.
      {kBf16, 24, 136, 200, kRow, kNone, 0, true, gap, gap, {}, gap2},
      {kBf16, 24, 136, 200, kResidual, kNone, 0, false, gap, gap, gap2, gap2},
      {kBf16, 24, 136, 200, kRow, kNone, 0, false, {}, {}, {}, gap1},
      {kBf16, 80, 4096, 104, kRow, kNone, 0, true, gap, gap, {}, gap2},
  };
}

const auto kNameOf = [](const auto& info) { return name_of_case(info.param); };
/// A bias row and a residual: every type, kernel and ending, and what breaks the alignment of either.
std::vector<Case> both() {
  constexpr hstu_activation kNone = HSTU_ACTIVATION_NONE, kSilu = HSTU_ACTIVATION_SILU, kGelu = HSTU_ACTIVATION_GELU;
  std::vector<Case> cases;
  for (const hstu_dtype dtype : {kBf16, kF16, kF32})
    for (const Bias bias : {Bias::both, Bias::wide_both, Bias::both_in_place}) {
      cases.push_back({dtype, 150, 128, 256, bias});
      cases.push_back({dtype, 21, 256, 328, bias, kSilu, 100});  // few rows
      cases.push_back({dtype, 70, 4096, 200, bias, kGelu, 37});  // few tiles, whose k is divided
      cases.push_back({dtype, 77, 33, 45, bias, kSilu});         // no alignment at all
      cases.push_back({dtype, 300, 96, 257, bias, kNone, 0, true});
    }
  for (const Bias bias : {Bias::both, Bias::wide_both}) {
    cases.push_back({kBf16, 17001, 72, 520, bias, kSilu, 200});  // more tiles than blocks
    cases.push_back({kF16, 8460, 256, 1000, bias, kGelu, 300});  // columns of w that stay
    cases.push_back({kBf16, 2300, 1088, 1152, bias, kSilu});
    cases.push_back({kBf16, 0, 64, 64, bias});
    cases.push_back({kBf16, 70, 0, 64, bias, kSilu});
    cases.push_back({kBf16, 140, 96, 160, bias, kNone, 0, false, {}, {}, {.shift = 1}});
    cases.push_back({kBf16, 140, 96, 160, bias, kNone, 0, false, {}, {}, {.row_padding = 2}, {.row_padding = 4}});
    Case parts{kBf16, 150, 128, 320, bias, kSilu, 70};
    parts.parts = {64, 128, 128};
    cases.push_back(parts);
    parts.parts = {100, 56, 164};
    cases.push_back(parts);
  }
  for (const hstu_dtype fp8 : {HSTU_DTYPE_E4M3, HSTU_DTYPE_E5M2})
    for (const hstu_dtype dtype : {kBf16, kF16, kF32})
      for (const Bias bias : {Bias::both, Bias::wide_both})
        for (const int64_t n : {256, 250}) {
          Case c{dtype, 150, 128, n, bias, kSilu, 100};
          c.fp8 = fp8;
          cases.push_back(c);
        }
  Case many{kBf16, 17001, 72, 528, Bias::both, kGelu};
  many.fp8 = HSTU_DTYPE_E4M3;
  cases.push_back(many);
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Shapes, AddmmSweep, testing::ValuesIn(shapes()), kNameOf);
INSTANTIATE_TEST_SUITE_P(Epilogues, AddmmSweep, testing::ValuesIn(epilogues()), kNameOf);
INSTANTIATE_TEST_SUITE_P(BiasAndResidual, AddmmSweep, testing::ValuesIn(both()), kNameOf);
INSTANTIATE_TEST_SUITE_P(Gelus, AddmmSweep, testing::ValuesIn(gelus()), kNameOf);
INSTANTIATE_TEST_SUITE_P(Fp8Results, AddmmSweep, testing::ValuesIn(fp8_results()), kNameOf);
INSTANTIATE_TEST_SUITE_P(SplitOutputs, AddmmSweep, testing::ValuesIn(split_outputs()), kNameOf);
INSTANTIATE_TEST_SUITE_P(Layouts, AddmmSweep, testing::ValuesIn(layouts()), kNameOf);

TEST(AddmmOnDevice, EmptyOperands) {
  HSTU_NEEDS_DEVICE();
  for (const auto& [m, k, n] : {std::array<int64_t, 3>{0, 64, 64}, {64, 64, 0}, {70, 0, 64}, {0, 0, 0}})
    for (const Bias bias : {Bias::none, Bias::row, Bias::residual, Bias::both}) {
      HostMemory memory;
      test::expect_correct(memory, args_of(memory, {kBf16, m, k, n, bias, HSTU_ACTIVATION_SILU}), &hstu_addmm_args::out,
                           test::rounded_once(kBf16));
    }
}

TEST(AddmmOnDevice, NanStaysInItsRowOfXAndColumnOfW) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  const auto args = args_of(memory, {kBf16, 150, 96, 160});
  test::fill(test::columns_of(test::rows_of(args.x, 70, 1), 50, 1), std::nan(""));
  test::fill(test::columns_of(test::rows_of(args.w, 3, 1), 130, 1), std::nan(""));
  test::expect_correct(memory, args, &hstu_addmm_args::out, test::rounded_once(kBf16));
}

TEST(AddmmOnDevice, NanAndInfinityInFp8) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  Case c{kBf16, 150, 96, 160, Bias::residual};
  c.fp8 = HSTU_DTYPE_E4M3;
  const auto args = args_of(memory, c);
  test::fill(test::columns_of(test::rows_of(args.residual, 70, 1), 50, 1), std::nan(""));
  test::fill(test::columns_of(test::rows_of(args.residual, 71, 1), 51, 1), -INFINITY);
  test::expect_correct(memory, args, &hstu_addmm_args::out, test::rounded_to_fp8(c.fp8));
}

TEST(AddmmOnDevice, BroadcastResidual) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  auto args = args_of(memory, {kBf16, 150, 96, 160, Bias::residual});
  args.residual.stride[0] = 0;
  test::expect_correct(memory, args, &hstu_addmm_args::out, test::rounded_once(kBf16));
}

// ---- Operands in any layout: row-major, column-major, contiguous along neither dimension.

enum class Order { rows, columns, apart };

struct LayoutCase {
  hstu_dtype dtype;
  int64_t m, k, n;
  Order x, w, y = Order::rows;
  Bias bias = Bias::residual;  ///< a bias row has gaps between its elements
  int32_t allow_tf32 = 0;
  int64_t padding = 0;
};

std::string name_of_layout(const LayoutCase& c) {
  return fmt::format("{}_{}x{}x{}_x{}w{}y{}_b{}_t{}p{}", name_of(c.dtype), c.m, c.k, c.n, static_cast<int>(c.x),
                     static_cast<int>(c.w), static_cast<int>(c.y), static_cast<int>(c.bias), c.allow_tf32, c.padding);
}
void PrintTo(const LayoutCase& c, std::ostream* out) { *out << name_of_layout(c); }

/// A matrix of random numbers in that order. The slab holds rows, or columns, or rows with every other element unused.
hstu_tensor ordered(HostMemory& memory, const LayoutCase& c, Order order, int64_t rows, int64_t columns, double size) {
  const Layout layout{.row_padding = c.padding};
  if (order == Order::rows) return memory.random(c.dtype, {rows, columns}, layout, 0, size);
  hstu_tensor t = order == Order::columns ? memory.random(c.dtype, {columns, rows}, layout, 0, size)
                                          : memory.random(c.dtype, {rows, 2 * columns}, layout, 0, size);
  t.shape[0] = rows;
  t.shape[1] = columns;
  if (order == Order::columns)
    std::swap(t.stride[0], t.stride[1]);
  else
    t.stride[1] = 2;
  return t;
}

class AddmmLayouts : public testing::TestWithParam<LayoutCase> {};

TEST_P(AddmmLayouts, EqualTheOracle) {
  HSTU_NEEDS_DEVICE();
  const LayoutCase& c = GetParam();
  HostMemory memory;
  hstu_addmm_args args{};
  args.struct_size = sizeof args;
  args.x = ordered(memory, c, c.x, c.m, c.k, 1);
  args.w = ordered(memory, c, c.w, c.k, c.n, 1 / std::sqrt(static_cast<double>(std::max<int64_t>(c.k, 1))));
  if (has_residual(c.bias)) args.residual = ordered(memory, c, c.y, c.m, c.n, 1);
  if (has_row(c.bias)) {
    args.bias = memory.random(c.dtype, {2 * c.n});
    args.bias.shape[0] = c.n;
    args.bias.stride[0] = 2;
  }
  args.out = memory.poison(c.dtype, {c.m, c.n});
  args.allow_tf32 = c.allow_tf32;
  args.activation = HSTU_ACTIVATION_SILU;
  args.activation_columns = (c.n + 1) / 2;
  const test::Tolerance tolerance = c.allow_tf32 ? test::Tolerance{2e-3, 1 << 14} : test::rounded_once(c.dtype);
  test::expect_correct(memory, args, &hstu_addmm_args::out, tolerance);
}

std::vector<LayoutCase> layout_cases() {
  std::vector<LayoutCase> cases;
  for (const hstu_dtype dtype : {kBf16, kF16, kF32})
    for (const Order x : {Order::rows, Order::columns, Order::apart})
      for (const Order w : {Order::rows, Order::columns, Order::apart}) {
        cases.push_back({dtype, 136, 96, 160, x, w});
        cases.push_back({dtype, 77, 33, 45, x, w, Order::columns});
      }
  for (const Order y : {Order::columns, Order::apart})
    cases.push_back({kBf16, 140, 96, 160, Order::rows, Order::rows, y});
  for (const int64_t padding : {1, 2, 4, 8}) {
    cases.push_back({kBf16, 136, 64, 128, Order::columns, Order::rows, Order::rows, Bias::residual, 0, padding});
    cases.push_back({kF32, 136, 64, 128, Order::columns, Order::columns, Order::rows, Bias::residual, 0, padding});
  }
  cases.push_back({kBf16, 140, 96, 160, Order::columns, Order::rows, Order::rows, Bias::row});
  cases.push_back({kF32, 300, 512, 257, Order::rows, Order::rows, Order::rows, Bias::row});
  cases.push_back({kF32, 1, 2000, 3, Order::rows, Order::columns, Order::rows, Bias::none});
  cases.push_back({kF32, 1000, 256, 512, Order::rows, Order::rows, Order::rows, Bias::none});
  cases.push_back({kF32, 300, 256, 128, Order::rows, Order::columns, Order::rows, Bias::none, 1});
  for (const hstu_dtype dtype : {kBf16, kF16, kF32})
    for (const Order y : {Order::rows, Order::columns, Order::apart})
      for (const int64_t m : {24, 300}) cases.push_back({dtype, m, 96, 160, Order::rows, Order::rows, y, Bias::both});
  cases.push_back({kBf16, 1, 64, 1, Order::apart, Order::apart});
  cases.push_back({kF32, 64, 0, 64, Order::columns, Order::columns});
  return cases;
}
INSTANTIATE_TEST_SUITE_P(Orders, AddmmLayouts, testing::ValuesIn(layout_cases()),
                         [](const auto& c) { return name_of_layout(c.param); });

// Blocks that divide a tile's k among themselves add their sums up in one order, whichever comes first.
TEST(AddmmOnDevice, ADividedKGivesTheSameBitsAgainAndOnTwoStreams) {
  HSTU_NEEDS_GPU();
  HSTU_NEEDS_RESULTS();
  const test::TestDevice& device = *test::test_device();
  if (device.cpu || device.facts().compute_capability < 90) GTEST_SKIP() << "the device divides no k";
  for (const Case& c : {Case{kBf16, 100, 8200, 136}, Case{kF16, 300, 4104, 264, Bias::residual},
                        Case{kBf16, 300, 4104, 264, Bias::both}}) {
    SCOPED_TRACE(name_of_case(c));
    HostMemory memory;
    hstu_addmm_args args = args_of(memory, c), prepared = args;
    const Problem problem = prepare(prepared);
    std::vector<hstu_tensor> results{args.out};
    while (results.size() < 12) results.push_back(memory.poison(c.dtype, {c.m, c.n}));
    test::DeviceSlabs slabs(memory);
    for (hstu_tensor* t : {&args.x, &args.w, &args.bias, &args.residual})
      if (t->data) t->data = slabs.copy_of(t->data);
    const test::Streams streams(2);
    for (size_t i = 0; i < results.size(); ++i) {
      args.out = results[i];
      args.out.data = slabs.copy_of(args.out.data);
      const hstu_stream stream = i < 2 ? nullptr : streams[i % 2];
      ASSERT_EQ(hstu_addmm(device.context, &args, stream), HSTU_OK) << hstu_last_error();
    }
    streams.wait();
    slabs.fetch();
    const Choice& choice = device.context->context.plan_for(problem, nullptr, nullptr).choice;
    ASSERT_EQ(choice.family->name, "addmm_split_sm90");
    ASSERT_EQ(text(choice).find(" split=1 "), std::string::npos) << text(choice);
    const std::vector<double> first = test::values(slabs.after(results[0]));
    for (const hstu_tensor& result : results) EXPECT_TRUE(test::values(slabs.after(result)) == first);
  }
}

TEST(AddmmOnDevice, F32SumsOfOneSignStayExact) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  hstu_addmm_args args{};
  args.struct_size = sizeof args;
  args.x = memory.random(kF32, {64, 4096}, {}, 1, 0.2);  // all positive: truncated sums would drift
  args.w = memory.random(kF32, {4096, 96}, {}, 1, 0.2);
  args.out = memory.poison(kF32, {64, 96});
  test::expect_correct(memory, args, &hstu_addmm_args::out, test::rounded_once(kF32));
}

}  // namespace
}  // namespace hstujit
