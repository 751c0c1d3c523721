// The output stage before its projection, on the device against the oracle: every combination of flags, both norms,
// lengths, types and layouts; and any options with any others, norms and dropout among them, which have sweeps of their
// own (dropout_sweep_test.cpp).
#include "support/device_call.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hstujit {
namespace {

using test::HostMemory;
using test::Layout;

constexpr hstu_dtype kF32 = HSTU_DTYPE_F32, kF16 = HSTU_DTYPE_F16, kBf16 = HSTU_DTYPE_BF16;

struct Case {
  hstu_dtype dtype = kBf16, weight = kBf16;
  int64_t rows = 45, dim = 256;
  int32_t groups = 0;
  int32_t concat_u = 1, concat_x = 1, silu_u = 0;
  hstu_activation activation = HSTU_ACTIVATION_NONE;
  Layout attn{}, u{}, weights{}, out{};
  hstu_norm norm = HSTU_NORM_LAYER;
  hstu_dropout_stream stream = HSTU_DROPOUT_COMPAT;
  float ratio = 0;
};

std::string name_of_case(const Case& c) {
  const auto layout = [](const Layout& l) { return fmt::format("p{}s{}", l.row_padding, l.shift); };
  const bool plain = c.norm == HSTU_NORM_LAYER && c.ratio == 0;
  return fmt::format("{}_{}_{}x{}_g{}_u{}x{}s{}a{}_{}_{}_{}_{}", name_of(c.dtype), name_of(c.weight), c.rows, c.dim,
                     c.groups, c.concat_u, c.concat_x, c.silu_u, static_cast<int>(c.activation), layout(c.attn),
                     layout(c.u), layout(c.weights), layout(c.out)) +
         (plain ? ""
                : fmt::format("_n{}d{}r{:.0f}", static_cast<int>(c.norm), static_cast<int>(c.stream), 100 * c.ratio));
}

void PrintTo(const Case& c, std::ostream* out) { *out << name_of_case(c); }

hstu_norm_mul_args args_of(HostMemory& memory, const Case& c) {
  hstu_norm_mul_args args{};
  args.struct_size = sizeof args;
  args.attn = memory.random(c.dtype, {c.rows, c.dim}, c.attn, 0.1);
  args.u = memory.random(c.dtype, {c.rows, c.dim}, c.u);
  const int64_t weights = c.groups > 0 ? c.groups : c.dim;
  args.weight = memory.random(c.weight, {weights}, c.weights, 1, 0.3);
  if (c.norm != HSTU_NORM_RMS) args.bias = memory.random(c.weight, {weights}, c.weights);
  const bool one_segment = c.groups > 0 && !(c.concat_u && c.concat_x);
  const int64_t segments = one_segment ? 1 : 1 + c.concat_u + c.concat_x;
  args.out = memory.poison(c.dtype, {c.rows, segments * c.dim}, c.out);
  args.num_groups = c.groups;
  args.concat_u = c.concat_u;
  args.concat_x = c.concat_x;
  args.silu_u = c.silu_u;
  args.activation = c.activation;
  args.norm = c.norm;
  args.dropout_stream = c.stream;
  args.dropout_ratio = c.ratio;
  args.seed = 0x123456789abcdef;
  return args;
}

class NormMulSweep : public testing::TestWithParam<Case> {};

TEST_P(NormMulSweep, EqualsTheOracle) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  const auto args = args_of(memory, GetParam());
  const hstu_dtype dtype = GetParam().dtype;
  test::expect_correct(memory, args, &hstu_norm_mul_args::out,
                       GetParam().dim < 32 ? test::rounded_once_of_few(dtype) : test::rounded_once(dtype));
}

std::vector<Case> flags() {
  std::vector<Case> cases;
  for (const int32_t u : {0, 1})
    for (const int32_t x : {0, 1})
      for (const hstu_activation activation : {HSTU_ACTIVATION_NONE, HSTU_ACTIVATION_SILU, HSTU_ACTIVATION_SIGMOID})
        for (int32_t silu = 0; silu <= u; ++silu)
          cases.push_back({.concat_u = u, .concat_x = x, .silu_u = silu, .activation = activation});
  for (const int32_t groups : {1, 4})
    for (const int32_t both : {0, 1})
      for (const int32_t silu : {0, 1})
        cases.push_back({.groups = groups, .concat_u = both, .concat_x = both, .silu_u = silu});
  return cases;
}

std::vector<Case> shapes() {
  std::vector<Case> cases;
  for (const int64_t dim : {1, 6, 64, 130, 200, 512, 1024, 2048}) cases.push_back({.dim = dim});
  for (const int64_t dim : {5, 128, 516}) {
    cases.push_back({.dtype = kF32, .weight = kF32, .dim = dim, .silu_u = 1});
    cases.push_back({.dtype = kF16, .weight = kF16, .dim = dim, .activation = HSTU_ACTIVATION_SILU});
  }
  for (const int64_t dim : {8192, 20001}) cases.push_back({.weight = kF32, .rows = 3, .dim = dim});
  for (const auto& [groups, dim] :
       {std::pair<int32_t, int64_t>{2, 512}, {8, 512}, {4, 100}, {3, 21}, {16, 16}, {2, 6000}})
    cases.push_back({.dim = dim, .groups = groups});
  cases.push_back({.dtype = kF32, .weight = kF32, .dim = 512, .groups = 4});
  cases.push_back({.dtype = kF16, .weight = kF32, .dim = 256, .groups = 4});
  cases.push_back({.weight = kF32});
  cases.push_back({.rows = 1});
  cases.push_back({.rows = 5000});
  return cases;
}

std::vector<Case> layouts() {
  const Layout gap{.row_padding = 256}, gap4{.row_padding = 4}, gap1{.row_padding = 1}, shift2{.shift = 2},
      shift1{.shift = 1};
  return {{.attn = gap, .u = gap, .out = gap},
          {.attn = gap4},
          {.u = gap4},
          {.out = gap4},
          {.attn = gap1, .u = gap1, .out = gap1},
          {.attn = shift2},
          {.u = shift1},
          {.out = shift1},
          {.weights = shift2},
          {.weight = kF32, .weights = shift1},
          {.groups = 4, .attn = gap4, .weights = shift1}};
}

/// Any options with any others. Seeded, so that names stay.
std::vector<Case> combinations() {
  Random random(20263);
  const auto below = [&](int end) { return static_cast<int32_t>(random.below(static_cast<uint64_t>(end))); };
  const auto any_of = [&](auto... values) {
    using T = std::common_type_t<decltype(values)...>;
    const T all[] = {values...};
    return all[below(static_cast<int>(sizeof...(values)))];
  };
  const auto layout = [&] {
    return below(3) > 0 ? Layout{} : Layout{.row_padding = any_of(0, 1, 4, 64), .shift = any_of(0, 1, 2)};
  };
  std::vector<Case> cases;
  while (cases.size() < 64) {
    Case c{.dtype = any_of(kBf16, kF16, kF32), .weight = any_of(kBf16, kF16, kF32), .rows = 1 + below(70)};
    c.groups = any_of(0, 0, 1, 2, 4, 7);
    c.dim = std::max(c.groups, 1) * any_of(1, 8, 33, 64, 96, 128, 250, 512, 1024);
    c.concat_u = below(2), c.concat_x = below(2), c.silu_u = below(2);
    c.activation = any_of(HSTU_ACTIVATION_NONE, HSTU_ACTIVATION_SILU, HSTU_ACTIVATION_SIGMOID);
    c.attn = layout(), c.u = layout(), c.weights = layout(), c.out = layout();
    c.norm = any_of(HSTU_NORM_LAYER, HSTU_NORM_RMS, HSTU_NORM_SWISH);
    c.stream = any_of(HSTU_DROPOUT_COMPAT, HSTU_DROPOUT_FAST, HSTU_DROPOUT_MASKS, HSTU_DROPOUT_ROWS);
    c.ratio = any_of(0.0f, 0.1f, 0.5f, 0.9f);
    const auto same = [&](const Case& other) { return name_of_case(other) == name_of_case(c); };
    if (std::none_of(cases.begin(), cases.end(), same)) cases.push_back(c);
  }
  return cases;
}

const auto kNameOf = [](const auto& info) { return name_of_case(info.param); };
INSTANTIATE_TEST_SUITE_P(Combinations, NormMulSweep, testing::ValuesIn(combinations()), kNameOf);
INSTANTIATE_TEST_SUITE_P(Flags, NormMulSweep, testing::ValuesIn(flags()), kNameOf);
INSTANTIATE_TEST_SUITE_P(Shapes, NormMulSweep, testing::ValuesIn(shapes()), kNameOf);
INSTANTIATE_TEST_SUITE_P(Layouts, NormMulSweep, testing::ValuesIn(layouts()), kNameOf);

TEST(NormMulOnDevice, ReadsAttentionAndUInPlace) {
  HSTU_NEEDS_DEVICE();
  // u is a column slice of the projection's buffer, as in a layer.
  HostMemory memory;
  auto args = args_of(memory, {});
  args.u = test::columns_of(memory.random(kBf16, {45, 1024}), 0, 256);
  test::expect_correct(memory, args, &hstu_norm_mul_args::out, test::rounded_once(kBf16));
}

TEST(NormMulOnDevice, NanStaysInItsRow) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  const auto args = args_of(memory, {});
  test::fill(test::rows_of(args.attn, 17, 1), std::nan(""));
  test::expect_correct(memory, args, &hstu_norm_mul_args::out, test::rounded_once(kBf16));
}

TEST(NormMulOnDevice, NothingToDo) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  test::expect_correct(memory, args_of(memory, {.rows = 0}), &hstu_norm_mul_args::out, test::rounded_once(kBf16));
}

}  // namespace
}  // namespace hstujit
