// Products of FP8 matrices on the device against the descaled oracle: every pair of scalings, types, ragged shapes,
// residuals, activations, results in parts.
#include "support/device_call.hpp"

#include <fmt/format.h>

namespace hstujit {
namespace {

using test::HostMemory;
using test::Layout;

constexpr hstu_dtype kF32 = HSTU_DTYPE_F32, kF16 = HSTU_DTYPE_F16, kBf16 = HSTU_DTYPE_BF16, kE4m3 = HSTU_DTYPE_E4M3,
                     kE5m2 = HSTU_DTYPE_E5M2;
constexpr auto kTensor = HSTU_FP8_TENSOR, kRow = HSTU_FP8_ROW, kGroup = HSTU_FP8_GROUP, kBlock = HSTU_FP8_BLOCK;

enum class Residual { none, apart, in_place };

struct Case {
  hstu_dtype dtype;
  int64_t m, k, n;
  hstu_fp8_scaling a = kRow, b = kRow;
  hstu_dtype dtype_a = kE4m3, dtype_b = kE4m3, bias = HSTU_DTYPE_NONE;
  Layout layout_a{}, layout_b{}, out{};
  hstu_fp8_accumulation accumulation = HSTU_FP8_ACCUMULATE_128;
  Residual residual = Residual::none;
  Layout layout_residual{};
  hstu_activation activation = HSTU_ACTIVATION_NONE;
  int64_t activation_columns = 0;
  std::vector<int64_t> parts{};       ///< columns of out, out1, ...; none: out has all
  hstu_dtype residual_dtype = kBf16;  ///< beside results in FP8
};

bool in_fp8(const Case& c) { return c.dtype == kE4m3 || c.dtype == kE5m2; }

/// What is done with the product; "" for most.
std::string name_of_ending(const Case& c) {
  std::string name;
  if (c.residual != Residual::none)
    name += fmt::format("_residual{}p{}s{}{}", static_cast<int>(c.residual), c.layout_residual.row_padding,
                        c.layout_residual.shift, in_fp8(c) ? name_of(c.residual_dtype) : "");
  if (c.activation != HSTU_ACTIVATION_NONE)
    name += fmt::format("_act{}c{}", static_cast<int>(c.activation), c.activation_columns);
  if (!c.parts.empty()) name += fmt::format("_parts_{}", fmt::join(c.parts, "_"));
  return name;
}
std::string name_of_case(const Case& c) {
  const auto layout = [](const Layout& l) { return fmt::format("p{}s{}", l.row_padding, l.shift); };
  return fmt::format("{}_{}x{}x{}_{}{}_{}{}_{}_{}_{}_{}{}{}", name_of(c.dtype), c.m, c.k, c.n, static_cast<int>(c.a),
                     static_cast<int>(c.b), name_of(c.dtype_a), name_of(c.dtype_b), name_of(c.bias), layout(c.layout_a),
                     layout(c.layout_b), layout(c.out), c.accumulation == HSTU_FP8_ACCUMULATE_FAST ? "_fast" : "",
                     name_of_ending(c));
}
void PrintTo(const Case& c, std::ostream* out) { *out << name_of_case(c); }

hstu_tensor descale(HostMemory& memory, hstu_fp8_scaling scaling, int64_t rows, int64_t columns) {
  const int64_t across = (columns + 127) / 128, down = scaling == kBlock ? (rows + 127) / 128 : rows;
  if (scaling == kTensor) return memory.floats({0.75f});
  if (scaling == kRow) return memory.random(kF32, {rows}, {}, 1, 0.25);
  return memory.random(kF32, {down, across}, {.row_padding = 3}, 1, 0.25);
}

using Args = hstu_fp8_gemm_args;

Args args_of(HostMemory& memory, const Case& c) {
  Args args{};
  args.struct_size = sizeof args;
  const double size = 1 / std::sqrt(static_cast<double>(std::max<int64_t>(c.k, 1)));
  args.x = memory.random(c.dtype_a, {c.m, c.k}, c.layout_a);
  args.w = memory.random(c.dtype_b, {c.n, c.k}, c.layout_b, 0, size);
  args.x_descale = descale(memory, c.a, c.m, c.k);
  args.w_descale = descale(memory, c.b, c.n, c.k);
  args.x_scaling = c.a;
  args.w_scaling = c.b;
  args.accumulation = c.accumulation;
  if (c.bias != HSTU_DTYPE_NONE) args.bias = memory.random(c.bias, {c.n});
  if (c.residual == Residual::apart)
    args.residual = memory.random(in_fp8(c) ? c.residual_dtype : c.dtype, {c.m, c.n}, c.layout_residual);
  if (c.residual == Residual::in_place)
    args.residual = args.out = memory.random(c.dtype, {c.m, c.n}, c.out);
  else
    args.out = memory.poison(c.dtype, {c.m, c.parts.empty() ? c.n : c.parts[0]}, c.out);
  hstu_tensor* const more[] = {&args.out1, &args.out2, &args.out3};
  for (size_t i = 1; i < c.parts.size(); ++i) *more[i - 1] = memory.poison(c.dtype, {c.m, c.parts[i]}, c.out);
  if (in_fp8(c)) args.out_descale = memory.floats({0.02f});
  args.activation = c.activation;
  args.activation_columns = c.activation_columns;
  return args;
}

class Fp8GemmSweep : public testing::TestWithParam<Case> {};

TEST_P(Fp8GemmSweep, EqualsTheOracle) {
  HSTU_NEEDS_DEVICE();
  const Case& c = GetParam();
  HostMemory memory;
  const Args args = args_of(memory, c);
  // Sums of f16 products are cut off rather than rounded by tensor cores.
  test::Tolerance tolerance = c.dtype == kF32 ? test::Tolerance{2e-5, 300} : test::rounded_once(c.dtype);
  if (in_fp8(c))
    tolerance = c.n < static_cast<int64_t>(test::kFewElements) ? test::rounded_to_fp8_of_few(c.dtype)
                                                               : test::rounded_to_fp8(c.dtype);
  // Six deviations of what fp8.h says of sums, which is of normal data; slopes of activations exceed 1.
  const bool fast = c.accumulation == HSTU_FP8_ACCUMULATE_FAST;
  const double sums = fast ? 3.3e-4 * std::sqrt(static_cast<double>(c.k) / 512) : 1.2e-4;
  if (c.dtype != kF32) tolerance.ulps_of_row += 1.13 * 6 * sums / test::ulp(c.dtype);
  test::expect_correct(memory, args, {&Args::out, &Args::out1, &Args::out2, &Args::out3}, tolerance);
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
  const auto many = [&](int64_t k, hstu_fp8_scaling a, hstu_fp8_scaling b, hstu_dtype bias, bool fast,
                        int64_t n = 504) {
    Case c{kBf16, 8460, k, n, a, b, kE4m3, kE5m2, bias};
    if (fast) c.accumulation = HSTU_FP8_ACCUMULATE_FAST;
    all.push_back(c);
  };
  for (const int64_t k : {128, 144, 384, 512, 640, 1024}) {
    many(k, kRow, kRow, HSTU_DTYPE_NONE, false);
    many(k, kRow, kRow, HSTU_DTYPE_NONE, true);
    many(k, kGroup, kBlock, kBf16, false);
  }
  many(768, kGroup, kRow, HSTU_DTYPE_NONE, false);
  many(1024, kBlock, kBlock, HSTU_DTYPE_NONE, false);
  many(896, kBlock, kRow, kF32, false);
  many(896, kRow, kBlock, HSTU_DTYPE_NONE, false);
  many(1032, kGroup, kBlock, kBf16, false);
  many(1920, kBlock, kTensor, HSTU_DTYPE_NONE, false);
  many(512, kTensor, kRow, kF32, false);
  many(512, kBlock, kTensor, HSTU_DTYPE_NONE, false);
  many(256, kTensor, kTensor, kBf16, true);
  // And for tiles that take two turns each, an odd number of them in some blocks.
  for (const int64_t k : {64, 128, 144, 256, 384, 512}) many(k, kRow, kRow, HSTU_DTYPE_NONE, false, 1272);
  for (const hstu_fp8_scaling a : {kTensor, kRow})
    for (const hstu_fp8_scaling b : {kTensor, kRow}) many(320, a, b, kF32, false, 1272);
  return all;
}
INSTANTIATE_TEST_SUITE_P(Cases, Fp8GemmSweep, testing::ValuesIn(cases()),
                         [](const auto& c) { return name_of_case(c.param); });

/// Residuals, activations and parts, each on rows that one tile nearly holds and on tiles enough for every schedule.
std::vector<Case> endings() {
  constexpr hstu_activation kSilu = HSTU_ACTIVATION_SILU;
  constexpr auto kApart = Residual::apart, kInPlace = Residual::in_place;
  std::vector<Case> all;
  const auto add = [&](Case c, Residual residual, hstu_activation activation = HSTU_ACTIVATION_NONE,
                       int64_t activation_columns = 0, std::vector<int64_t> parts = {}) -> Case& {
    c.residual = residual;
    c.activation = activation;
    c.activation_columns = activation_columns;
    c.parts = std::move(parts);
    return all.emplace_back(std::move(c));
  };
  const auto row = [](Case c, hstu_dtype bias = kBf16) {
    c.bias = bias;
    return c;
  };
  const auto fast = [](Case c) {
    c.accumulation = HSTU_FP8_ACCUMULATE_FAST;
    return c;
  };
  // Every pair of scalings.
  for (const hstu_fp8_scaling a : {kTensor, kRow, kGroup, kBlock})
    for (const hstu_fp8_scaling b : {kTensor, kRow, kGroup, kBlock}) {
      add({kBf16, 150, 512, 264, a, b}, kApart, kSilu, 100);
      add(row({kBf16, 150, 512, 256, a, b}), Residual::none, kSilu, 72, {64, 192});
      add({kF32, 129, 300, 130, a, b, kE4m3, kE5m2}, kInPlace, kSilu, 33);
      if (b == kGroup || a == kTensor) continue;
      if (b == kRow)
        add(row({kBf16, 8460, 512, 512, a, b}), Residual::none, kSilu, 128, {128, 384});
      else
        add({kBf16, 8460, 384, 504, a, b}, kInPlace);
    }
  // Slices in every number, with either accumulation; columns of the activation within a tile.
  for (const int64_t k : {64, 128, 512, 1024, 1536})
    for (const Case& c : {Case{kBf16, 300, k, 200}, fast({kBf16, 300, k, 200})}) {
      add(c, kApart);
      add(c, kInPlace, kSilu, 136);
      add(row(c), Residual::none, kSilu);
      add(row(c, kF32), Residual::none, kSilu, 1);
    }
  for (const int64_t k : {128, 512, 1536})
    for (const Case& c : {Case{kBf16, 8460, k, 512}, fast({kBf16, 8460, k, 512})}) {
      add(c, kInPlace, kSilu, 136);
      add(row(c), Residual::none, kSilu);
    }
  add({kF16, 8460, 1536, 512, kGroup, kRow}, kApart, kSilu, 511);
  add({kBf16, 8460, 1024, 512, kGroup, kBlock}, kApart, kSilu, 100);
  add(row({kBf16, 8460, 896, 512, kGroup, kBlock}), Residual::none, kSilu);
  add({kF16, 8460, 768, 512, kGroup, kBlock}, kInPlace, kSilu);
  add({kF16, 300, 512, 200, kRow, kBlock, kE5m2, kE4m3}, kInPlace, kSilu);
  // Two, three and four parts, cut at, between and within boxes and accesses.
  add(row({kBf16, 8460, 512, 2048}), Residual::none, kSilu, 512, {512, 1536});
  add(fast(row({kBf16, 8460, 512, 2048})), Residual::none, kSilu, 512, {512, 1536});
  // Columns of the activation spread over blocks, whose tiles hang over.
  add(fast(row({kBf16, 8460, 512, 1000})), Residual::none, kSilu, 320);
  add(row({kF16, 8460, 512, 1000}, kF16), Residual::none, kSilu, 320);
  add({kBf16, 8460, 512, 1272}, kInPlace, kSilu, 136);
  add({kF16, 8460, 384, 1272, kTensor, kTensor}, kApart, kSilu);
  add(row({kBf16, 8460, 256, 1024}, kF32), Residual::none, kSilu, 300, {64, 320, 512, 128});
  add(row({kF16, 300, 96, 512}, kF32), Residual::none, kSilu, 128, {128, 128, 192, 64}).out = {.row_padding = 8};
  add({kBf16, 8460, 512, 320}, kApart, HSTU_ACTIVATION_NONE, 0, {64, 128, 128});
  add({kBf16, 8460, 640, 192, kGroup, kBlock}, kApart, kSilu, 70, {64, 64, 64}).out = {.row_padding = 16};
  add({kBf16, 150, 128, 256}, Residual::none, HSTU_ACTIVATION_NONE, 0, {32, 224});
  add(row({kBf16, 77, 64, 256}), Residual::none, kSilu, 100, {100, 56, 100});
  add(row({kF16, 77, 64, 130}, kF16), Residual::none, kSilu, 5, {1, 2, 3, 124});
  add({kBf16, 77, 64, 130, kGroup, kGroup}, kApart, kSilu, 0, {63, 67}).out = {.row_padding = 1};
  add(row({kF32, 90, 40, 96}, kF32), Residual::none, kSilu, 50, {4, 20, 8, 64});
  add({kF32, 90, 40, 97}, kApart, HSTU_ACTIVATION_NONE, 0, {60, 37}).layout_residual = {.row_padding = 3};
  // Residuals that TMA and wide accesses do not take.
  for (const int64_t padding : {1, 2, 4, 8}) {
    add({kBf16, 140, 256, 160}, kApart).layout_residual = {.row_padding = padding};
    add({kBf16, 140, 256, 160}, kApart, kSilu).layout_residual = {.shift = padding};
    add({kBf16, 140, 256, 160}, kInPlace).out = {.row_padding = padding};
  }
  // Few rows, one column, no terms, no rows.
  add({kBf16, 1, 512, 2048}, kApart, kSilu, 512);
  add({kBf16, 17, 33, 1}, kApart, kSilu);
  add({kBf16, 64, 0, 64}, kApart, kSilu, 32);
  add(row({kBf16, 0, 64, 128}), Residual::none, kSilu, 64, {64, 64});
  add({kBf16, 0, 64, 64}, kApart);
  add({kBf16, 17001, 144, 520}, kInPlace, kSilu, 200);
  return all;
}

/// Of every type, with a bias row and a residual, of all columns and of some; on every schedule.
std::vector<Case> gelus() {
  std::vector<Case> all;
  for (const hstu_activation gelu : {HSTU_ACTIVATION_GELU, HSTU_ACTIVATION_GELU_TANH}) {
    const auto add = [&](Case c, hstu_dtype bias, int64_t activation_columns = 0) -> Case& {
      c.activation = gelu;
      c.activation_columns = activation_columns;
      c.bias = bias;
      if (bias == HSTU_DTYPE_NONE) c.residual = Residual::apart;
      return all.emplace_back(std::move(c));
    };
    for (const hstu_dtype dtype : {kBf16, kF16, kF32}) {
      add({dtype, 300, 512, 264, kRow, kRow}, kF32);
      add({dtype, 300, 512, 264, kRow, kRow}, HSTU_DTYPE_NONE, 100);
      add({dtype, 150, 384, 200, kGroup, kBlock}, HSTU_DTYPE_NONE);
    }
    for (const hstu_dtype dtype : {kBf16, kF16}) {
      add({dtype, 8460, 512, 512, kRow, kRow}, dtype, 128);
      add({dtype, 8460, 384, 1272, kRow, kRow}, kF32);
      add({dtype, 2300, 1536, 520, kRow, kTensor}, dtype);
    }
    add({kBf16, 8460, 512, 512, kRow, kRow}, kF32).accumulation = HSTU_FP8_ACCUMULATE_FAST;
    add({kBf16, 8460, 512, 1024, kRow, kRow}, kBf16, 320).accumulation = HSTU_FP8_ACCUMULATE_FAST;
    add({kBf16, 2300, 1536, 520, kRow, kTensor}, kBf16).accumulation = HSTU_FP8_ACCUMULATE_FAST;
    add({kBf16, 300, 256, 320}, kBf16, 100).parts = {64, 128, 128};
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(Gelus, Fp8GemmSweep, testing::ValuesIn(gelus()),
                         [](const auto& c) { return name_of_case(c.param); });

/// Results in FP8, of every ending, to any alignment.
std::vector<Case> fp8_results() {
  std::vector<Case> all;
  const auto add = [&](hstu_dtype dtype, int64_t m, int64_t k, int64_t n, hstu_dtype bias) -> Case& {
    Case c{dtype, m, k, n};
    c.bias = bias;
    return all.emplace_back(std::move(c));
  };
  for (const hstu_dtype dtype : {kE4m3, kE5m2}) {
    add(dtype, 150, 512, 264, HSTU_DTYPE_NONE);
    add(dtype, 150, 512, 264, kF32).activation = HSTU_ACTIVATION_SILU;
    for (const hstu_dtype residual : {kBf16, kF16, kF32})
      for (const int64_t n : {264, 272}) {
        Case& c = add(dtype, 150, 512, n, HSTU_DTYPE_NONE);
        c.residual = Residual::apart;
        c.residual_dtype = residual;
        c.activation = HSTU_ACTIVATION_GELU;
        c.activation_columns = 100;
      }
  }
  for (const bool blocks : {false, true}) {
    Case& many = add(kE4m3, 8460, 512, 528, HSTU_DTYPE_NONE);
    many.residual = Residual::apart;
    many.accumulation = HSTU_FP8_ACCUMULATE_FAST;
    if (blocks) many.a = kGroup, many.b = kBlock;
    Case& parts = add(kE5m2, 300, 1152, 256, HSTU_DTYPE_NONE);
    parts.residual = Residual::apart;
    parts.residual_dtype = kF16;
    parts.parts = {64, 192};
    if (blocks) parts.a = kGroup, parts.b = kBlock;
  }
  for (const auto& [m, k, bias] :
       {std::tuple<int64_t, int64_t, hstu_dtype>{300, 384, kBf16}, {8460, 640, kF32}, {8460, 1024, HSTU_DTYPE_NONE}}) {
    Case& blocks = add(kE4m3, m, k, 400, bias);
    blocks.a = kGroup;
    blocks.b = kBlock;
  }
  add(kE4m3, 8460, 512, 512, kBf16).accumulation = HSTU_FP8_ACCUMULATE_FAST;
  add(kE5m2, 8460, 384, 1280, kF32).parts = {64, 320, 512, 384};
  add(kE4m3, 1, 512, 2048, kBf16);
  for (const int64_t padding : {1, 2, 4, 8}) {
    add(kE4m3, 140, 256, 160, kBf16).out = {.row_padding = padding};
    Case& c = add(kE5m2, 140, 256, 160, HSTU_DTYPE_NONE);
    c.out = {.shift = padding};
    c.residual = Residual::apart;
    c.layout_residual = {.row_padding = padding};
  }
  for (const auto& parts : std::vector<std::vector<int64_t>>{{64, 192}, {100, 56, 100}, {1, 2, 3, 250}})
    add(kE4m3, 77, 64, 256, kBf16).parts = parts;
  return all;
}
/// A bias row and a residual, on every schedule, to any alignment, and beside results in FP8 of every two types.
std::vector<Case> both() {
  constexpr hstu_activation kSilu = HSTU_ACTIVATION_SILU, kGelu = HSTU_ACTIVATION_GELU;
  std::vector<Case> all;
  const auto add = [&](Case c, hstu_dtype bias, hstu_activation activation = HSTU_ACTIVATION_NONE,
                       int64_t activation_columns = 0) -> Case& {
    c.bias = bias;
    c.residual = Residual::apart;
    c.activation = activation;
    c.activation_columns = activation_columns;
    return all.emplace_back(std::move(c));
  };
  for (const hstu_dtype dtype : {kBf16, kF16, kF32})
    for (const hstu_dtype bias : {dtype, kF32 == dtype ? kBf16 : kF32}) {
      add({dtype, 150, 512, 264}, bias, kSilu, 100);
      add({dtype, 129, 300, 130, kGroup, kBlock}, bias).residual = Residual::in_place;
      add({dtype, 140, 256, 160}, bias).layout_residual = {.row_padding = 1};
      add({dtype, 8460, 512, 512}, bias, kSilu, 136);
      add({dtype, 8460, 384, 1272}, bias, kGelu);  // two turns
      add({dtype, 8460, 512, 504}, bias).accumulation = HSTU_FP8_ACCUMULATE_FAST;
      add({dtype, 8460, 512, 1000}, bias, kSilu, 320).accumulation = HSTU_FP8_ACCUMULATE_FAST;  // spread
      add({dtype, 8460, 640, 512, kGroup, kBlock}, bias, kSilu);
      add({dtype, 2300, 1536, 520, kRow, kTensor}, bias, kGelu).residual = Residual::in_place;
      add({dtype, 300, 1536, 256}, bias, kSilu, 70).parts = {64, 192};
      add({dtype, 77, 64, 256}, bias, kSilu, 70).parts = {100, 56, 100};
    }
  for (const hstu_dtype dtype : {kE4m3, kE5m2})
    for (const hstu_dtype bias : {kF32, kBf16})
      for (const hstu_dtype residual : {kBf16, kF16, kF32})
        for (const int64_t n : {264, 272}) add({dtype, 150, 512, n}, bias, kGelu, 100).residual_dtype = residual;
  for (const bool fast : {false, true}) {
    Case& c = add({kE4m3, 8460, 512, 528}, kBf16, kSilu);
    if (fast) c.accumulation = HSTU_FP8_ACCUMULATE_FAST;
  }
  add({kE5m2, 8460, 384, 400, kGroup, kBlock}, kBf16).residual_dtype = kF16;
  add({kE4m3, 300, 1152, 256}, kF32).parts = {64, 192};
  add({kBf16, 0, 64, 64}, kBf16);
  add({kBf16, 64, 0, 64}, kBf16, kSilu, 32);
  return all;
}
INSTANTIATE_TEST_SUITE_P(BiasAndResidual, Fp8GemmSweep, testing::ValuesIn(both()),
                         [](const auto& c) { return name_of_case(c.param); });

INSTANTIATE_TEST_SUITE_P(Fp8Results, Fp8GemmSweep, testing::ValuesIn(fp8_results()),
                         [](const auto& c) { return name_of_case(c.param); });

INSTANTIATE_TEST_SUITE_P(Endings, Fp8GemmSweep, testing::ValuesIn(endings()),
                         [](const auto& c) { return name_of_case(c.param); });

TEST(Fp8GemmOnDevice, BroadcastResidual) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  Case c{kBf16, 150, 256, 160};
  c.residual = Residual::apart;
  Args args = args_of(memory, c);
  args.residual.stride[0] = 0;
  test::expect_correct(memory, args, &Args::out, test::rounded_once(kBf16));
}

// A layer writes u behind the attention's rows: parts of different row strides.
TEST(Fp8GemmOnDevice, PartsOfOtherRowStrides) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  Case c{kBf16, 4300, 512, 2048, kRow, kRow, kE4m3, kE4m3, kBf16};
  c.activation = HSTU_ACTIVATION_SILU;
  c.activation_columns = 512;
  c.parts = {512, 1536};
  Args args = args_of(memory, c);
  args.out = memory.poison(kBf16, {4300, 512}, {.row_padding = 1024});
  const test::Tolerance tolerance = test::rounded_once(kBf16);
  test::expect_correct(memory, args, {{&Args::out, tolerance}, {&Args::out1, tolerance}});
}

TEST(Fp8GemmOnDevice, NanOfAResidualStaysInItsElement) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  Case c{kBf16, 300, 256, 320};
  c.residual = Residual::apart;
  c.activation = HSTU_ACTIVATION_SILU;
  c.activation_columns = 100;
  const Args args = args_of(memory, c);
  test::fill(test::columns_of(test::rows_of(args.residual, 70, 1), 50, 1), std::nan(""));
  test::expect_correct(memory, args, &Args::out, test::rounded_once(kBf16));
}

}  // namespace
}  // namespace hstujit
