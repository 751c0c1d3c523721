// The gradient of the output stage on the device against the oracle: flags and norms, lengths from one element to rows
// that fit no register file, groups, types, moments of parts, every set of outputs, dropout, layouts, rows that must
// not count, any options with any others; the bits of the forward's results, and the same bits in every run.
#include "operators/norm/norm_mul.hpp"
#include "support/norm_mul_gradients.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <limits>

namespace hstujit {
namespace {

using test::HostMemory;
using test::Layout;
using Args = hstu_norm_mul_backward_args;

constexpr hstu_dtype kF32 = HSTU_DTYPE_F32, kF16 = HSTU_DTYPE_F16, kBf16 = HSTU_DTYPE_BF16;

struct Case {
  hstu_dtype dtype = kBf16, weight = kBf16, gradient = kF32;
  int64_t rows = 45, dim = 256;
  int32_t groups = 0;
  int32_t concat_u = 1, concat_x = 1, silu_u = 0;
  hstu_activation activation = HSTU_ACTIVATION_NONE;
  hstu_norm norm = HSTU_NORM_LAYER;
  int64_t parts = 0;  ///< of moments
  bool dattn = true, du = true, dweight = true, dbias = true, out = true;
  bool accumulate = false;
  int64_t valid_rows = -1;  ///< -1: all, by an absent tensor
  hstu_dropout_stream stream = HSTU_DROPOUT_COMPAT;
  float ratio = 0;
  Layout inputs{}, dout{}, results{};
  double mean = 0.1;
};

std::string name_of_case(const Case& c) {
  std::string name =
      fmt::format("{}_{}_{}_{}x{}_g{}_u{}x{}s{}a{}n{}_m{}_d{}{}{}{}{}_a{}_v{}_s{}r{:.0f}_{}_{}_{}_{}_{}_{}_mean{}",
                  name_of(c.dtype), name_of(c.weight), name_of(c.gradient), c.rows, c.dim, c.groups, c.concat_u,
                  c.concat_x, c.silu_u, static_cast<int>(c.activation), static_cast<int>(c.norm), c.parts, int{c.dattn},
                  int{c.du}, int{c.dweight}, int{c.dbias}, int{c.out}, int{c.accumulate},
                  c.valid_rows < 0 ? "all" : std::to_string(c.valid_rows), static_cast<int>(c.stream), 100 * c.ratio,
                  c.inputs.row_padding, c.inputs.shift, c.dout.row_padding, c.dout.shift, c.results.row_padding,
                  c.results.shift, c.mean);
  std::replace_if(
      name.begin(), name.end(), [](char each) { return !std::isalnum(static_cast<unsigned char>(each)); }, '_');
  return name;
}
void PrintTo(const Case& c, std::ostream* out) { *out << name_of_case(c); }

Args args_of(HostMemory& memory, const Case& c) {
  auto args = sized<Args>();
  hstu_norm_mul_args& forward = args.forward;
  forward.attn = memory.random(c.dtype, {c.rows, c.dim}, c.inputs, c.mean);
  forward.u = memory.random(c.dtype, {c.rows, c.dim}, c.inputs);
  const int64_t weights = c.groups > 0 ? c.groups : c.dim;
  forward.weight = memory.random(c.weight, {weights}, {}, 1, 0.3);
  const bool biased = c.norm != HSTU_NORM_RMS;
  if (biased) forward.bias = memory.random(c.weight, {weights});
  const bool one_segment = c.groups > 0 && !(c.concat_u && c.concat_x);
  const int64_t columns = (one_segment ? 1 : 1 + c.concat_u + c.concat_x) * c.dim;
  forward.num_groups = c.groups;
  forward.concat_u = c.concat_u;
  forward.concat_x = c.concat_x;
  forward.silu_u = c.silu_u;
  forward.activation = c.activation;
  forward.norm = c.norm;
  forward.dropout_stream = c.stream;
  forward.dropout_ratio = c.ratio;
  forward.seed = 0x123456789abcdef;
  args.dout = memory.random(c.dtype, {c.rows, columns}, c.dout);
  if (c.parts > 0) args.moments = test::part_moments_of(memory, forward.attn, c.parts);
  if (c.dattn) args.dattn = memory.poison(c.dtype, {c.rows, c.dim}, c.results);
  if (c.du) args.du = memory.poison(c.dtype, {c.rows, c.dim}, c.results);
  if (c.out) args.out = memory.poison(c.dtype, {c.rows, columns}, c.results);
  const auto sum = [&] {
    return c.accumulate ? memory.random(c.gradient, {weights}) : memory.poison(c.gradient, {weights});
  };
  if (c.dweight) args.dweight = sum();
  if (c.dbias && biased) args.dbias = sum();
  args.accumulate = c.accumulate;
  test::give_workspace(memory, args);
  if (c.valid_rows < 0) return args;
  args.valid_rows = memory.integers(c.rows % 2 == 0 ? HSTU_DTYPE_I32 : HSTU_DTYPE_I64, {c.valid_rows});
  const int64_t valid = std::min(c.valid_rows, c.rows);
  if (!c.dattn && !c.du && !c.out)  // which would be NaN, too
    for (const hstu_tensor& t : {forward.u, args.dout})
      test::fill(test::rows_of(t, valid, c.rows - valid), std::numeric_limits<double>::quiet_NaN());
  return args;
}

class NormMulBackwardSweep : public testing::TestWithParam<Case> {};

TEST_P(NormMulBackwardSweep, EqualsTheOracle) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  const Args args = args_of(memory, GetParam());
  test::expect_correct(memory, args, test::expected_gradients(args));
}

std::vector<Case> flags() {
  std::vector<Case> cases;
  for (const hstu_norm norm : {HSTU_NORM_LAYER, HSTU_NORM_RMS, HSTU_NORM_SWISH}) {
    for (const int32_t u : {0, 1})
      for (const int32_t x : {0, 1})
        for (const hstu_activation activation : {HSTU_ACTIVATION_NONE, HSTU_ACTIVATION_SILU, HSTU_ACTIVATION_SIGMOID})
          cases.push_back(
              {.concat_u = u, .concat_x = x, .silu_u = u & (activation != 0), .activation = activation, .norm = norm});
    for (const int32_t groups : {1, 4})
      for (const int32_t both : {0, 1})
        for (const int32_t silu : {0, 1})
          cases.push_back({.groups = groups, .concat_u = both, .concat_x = both, .silu_u = silu, .norm = norm});
  }
  return cases;
}

std::vector<Case> shapes() {
  std::vector<Case> cases;
  for (const int64_t dim : {1, 6, 33, 64, 130, 200, 512, 1000, 1024, 2048, 4096}) cases.push_back({.dim = dim});
  for (const int64_t dim : {5, 128, 516, 1028}) {
    cases.push_back({.dtype = kF32, .weight = kF32, .dim = dim, .silu_u = 1});
    cases.push_back({.dtype = kF16, .weight = kF16, .gradient = kF16, .dim = dim, .activation = HSTU_ACTIVATION_SILU});
  }
  for (const int64_t dim : {5001, 8192, 20001}) cases.push_back({.weight = kF32, .rows = 3, .dim = dim});
  cases.push_back({.dtype = kF32, .weight = kF32, .rows = 2, .dim = 40000});
  cases.push_back({.dtype = kF16, .weight = kF16, .rows = 5, .dim = 33000, .norm = HSTU_NORM_SWISH, .ratio = 0.2f});
  for (const auto& [groups, dim] : {std::pair<int32_t, int64_t>{2, 512},
                                    {8, 512},
                                    {4, 100},
                                    {3, 21},
                                    {16, 16},
                                    {2, 6000},
                                    {3, 30000},
                                    {1000, 2000}})
    cases.push_back({.rows = 37, .dim = dim, .groups = groups});
  cases.push_back({.dtype = kF32, .weight = kF32, .dim = 512, .groups = 4});
  cases.push_back({.dtype = kF16, .weight = kF32, .dim = 256, .groups = 4});
  for (const int64_t rows : {1, 2, 1000, 20000}) {
    cases.push_back({.rows = rows, .dim = 64});
    cases.push_back({.rows = rows, .dim = 96, .groups = 3});
  }
  cases.push_back({.dim = 512, .mean = 20});
  return cases;
}

std::vector<Case> outputs() {
  std::vector<Case> cases;
  for (int set = 1; set < 32; ++set)
    for (const int32_t groups : {0, 4})
      for (const int64_t dim : {64, 512, 24000}) {
        if (dim > 1000 && set % 3 != 0) continue;
        cases.push_back({.weight = kBf16,
                         .gradient = set % 2 ? kBf16 : kF32,
                         .rows = dim < 1000 ? 300 : 11,
                         .dim = dim,
                         .groups = groups,
                         .parts = set % 4 == 3 ? 8 : 0,
                         .dattn = (set & 1) != 0,
                         .du = (set & 2) != 0,
                         .dweight = (set & 4) != 0,
                         .dbias = (set & 8) != 0,
                         .out = (set & 16) != 0});
      }
  for (const int64_t valid : {0, 1, 150, 299, 300, 1000}) {
    cases.push_back({.rows = 300, .dim = 512, .accumulate = valid % 2 == 0, .valid_rows = valid});
    cases.push_back({.rows = 301, .dim = 132, .groups = 4, .accumulate = valid % 2 == 1, .valid_rows = valid});
    for (const int32_t groups : {0, 2})
      cases.push_back(
          {.rows = 300, .dim = 130, .groups = groups, .dattn = false, .du = false, .out = false, .valid_rows = valid});
  }
  return cases;
}

std::vector<Case> moments() {
  std::vector<Case> cases;
  for (const hstu_norm norm : {HSTU_NORM_LAYER, HSTU_NORM_RMS, HSTU_NORM_SWISH})
    for (const auto& [dim, parts] :
         {std::pair<int64_t, int64_t>{512, 1}, {512, 4}, {512, 64}, {96, 12}, {24, 24}, {20000, 8}, {3072, 768}}) {
      cases.push_back({.rows = 33, .dim = dim, .norm = norm, .parts = parts});
      if (parts % 4 == 0) cases.push_back({.rows = 33, .dim = dim, .groups = 4, .norm = norm, .parts = parts});
    }
  return cases;
}

std::vector<Case> layouts() {
  const Layout gap{.row_padding = 256}, gap4{.row_padding = 4}, gap1{.row_padding = 1}, shift2{.shift = 2},
      shift1{.shift = 1};
  return {{.inputs = gap, .dout = gap, .results = gap},    {.inputs = gap4},   {.dout = gap4},   {.results = gap4},
          {.inputs = gap1, .dout = gap1, .results = gap1}, {.inputs = shift2}, {.dout = shift1}, {.results = shift1},
          {.groups = 4, .inputs = gap4, .results = gap}};
}

/// Any options with any others. Seeded, so that names stay.
std::vector<Case> combinations() {
  Random random(20264);
  const auto below = [&](int end) { return static_cast<int32_t>(random.below(static_cast<uint64_t>(end))); };
  const auto any_of = [&](auto... values) {
    using T = std::common_type_t<decltype(values)...>;
    const T all[] = {values...};
    return all[below(static_cast<int>(sizeof...(values)))];
  };
  std::vector<Case> cases;
  while (cases.size() < 96) {
    Case c{.dtype = any_of(kBf16, kF16, kF32), .weight = any_of(kBf16, kF16, kF32), .rows = 1 + below(70)};
    c.gradient = any_of(kF32, c.weight);
    c.groups = any_of(0, 0, 1, 2, 4, 7);
    c.dim = std::max(c.groups, 1) * any_of(1, 8, 33, 64, 96, 128, 250, 512, 1024);
    c.concat_u = below(2), c.concat_x = below(2), c.silu_u = below(2);
    c.activation = any_of(HSTU_ACTIVATION_NONE, HSTU_ACTIVATION_SILU, HSTU_ACTIVATION_SIGMOID);
    c.norm = any_of(HSTU_NORM_LAYER, HSTU_NORM_RMS, HSTU_NORM_SWISH);
    c.parts = below(3) == 0 ? std::max(c.groups, 1) : 0;
    c.dattn = below(4) > 0, c.du = below(4) > 0, c.dweight = below(4) > 0, c.dbias = below(4) > 0, c.out = below(2) > 0;
    c.accumulate = below(2) > 0;
    c.stream = any_of(HSTU_DROPOUT_COMPAT, HSTU_DROPOUT_FAST, HSTU_DROPOUT_MASKS, HSTU_DROPOUT_ROWS);
    c.ratio = any_of(0.0f, 0.1f, 0.5f, 0.9f);
    if (below(3) == 0) c.inputs = {.row_padding = any_of(0, 1, 4, 64), .shift = any_of(0, 1, 2)};
    if (below(3) == 0) c.results = {.row_padding = any_of(0, 1, 4, 64), .shift = any_of(0, 1, 2)};
    const bool any = c.dattn || c.du || c.dweight || c.out || (c.dbias && c.norm != HSTU_NORM_RMS);
    const auto same = [&](const Case& other) { return name_of_case(other) == name_of_case(c); };
    if (any && std::none_of(cases.begin(), cases.end(), same)) cases.push_back(c);
  }
  return cases;
}

const auto kNamed = [](const auto& info) { return name_of_case(info.param); };
INSTANTIATE_TEST_SUITE_P(Flags, NormMulBackwardSweep, testing::ValuesIn(flags()), kNamed);
INSTANTIATE_TEST_SUITE_P(Shapes, NormMulBackwardSweep, testing::ValuesIn(shapes()), kNamed);
INSTANTIATE_TEST_SUITE_P(Outputs, NormMulBackwardSweep, testing::ValuesIn(outputs()), kNamed);
INSTANTIATE_TEST_SUITE_P(Moments, NormMulBackwardSweep, testing::ValuesIn(moments()), kNamed);
INSTANTIATE_TEST_SUITE_P(Layouts, NormMulBackwardSweep, testing::ValuesIn(layouts()), kNamed);
INSTANTIATE_TEST_SUITE_P(Combinations, NormMulBackwardSweep, testing::ValuesIn(combinations()), kNamed);

/// dattn and du as columns of the buffer that an attention's gradient writes the rest of.
TEST(NormMulBackward, WritesColumnsOfOneBuffer) {
  HSTU_NEEDS_DEVICE();
  for (const int32_t groups : {0, 4}) {
    HostMemory memory;
    Args args = args_of(memory, {.rows = 77, .dim = 512, .groups = groups, .dattn = false, .du = false});
    const hstu_tensor wide = memory.poison(kBf16, {77, 2048});
    args.du = test::columns_of(wide, 0, 512);
    args.dattn = test::columns_of(wide, 512, 512);
    test::expect_correct(memory, args, test::expected_gradients(args));
  }
}

/// Each result may take the place of what it is of.
TEST(NormMulBackward, WritesInPlace) {
  HSTU_NEEDS_DEVICE();
  for (const int64_t dim : {512, 12000})
    for (const int32_t groups : {0, 2})
      for (const int place : {0, 1, 2, 3}) {
        SCOPED_TRACE(fmt::format("{} {} {}", dim, groups, place));
        HostMemory memory;
        Args args =
            args_of(memory, {.rows = 100, .dim = dim, .groups = groups, .norm = HSTU_NORM_SWISH, .ratio = 0.1f});
        if (place == 0 || place == 3) args.dattn = args.forward.attn;
        if (place == 1 || place == 3) args.du = args.forward.u;
        if (place == 2 || place == 3) args.out = args.dout;
        test::expect_correct(memory, args, test::expected_gradients(args));
      }
}

/// What the forward writes: exactly where the statistics are exact, as of rows whose sums f32 holds.
TEST(NormMulBackward, WritesTheBitsOfTheForward) {
  HSTU_NEEDS_RESULTS();
  for (const int32_t groups : {0, 2})
    for (const hstu_activation activation : {HSTU_ACTIVATION_NONE, HSTU_ACTIVATION_SILU, HSTU_ACTIVATION_SIGMOID})
      for (const float ratio : {0.0f, 0.3f}) {
        HostMemory memory;
        Args args = args_of(
            memory, {.rows = 50, .dim = 256, .groups = groups, .silu_u = 1, .activation = activation, .ratio = ratio});
        std::vector<double> attn(256);
        for (size_t i = 0; i < attn.size(); ++i) attn[i] = i % 2 ? 1 : -3;  // mean -1, deviations of 2
        for (int64_t row = 0; row < 50; ++row)
          store(args.forward.attn, row * args.forward.attn.stride[0], 256, attn.data());
        hstu_norm_mul_args forward = args.forward;
        forward.struct_size = sizeof forward;
        forward.out = memory.poison(kBf16, {50, 3 * 256});
        test::DeviceCall written(memory, Op::norm_mul, &forward), again(memory, Op::norm_mul_backward, &args);
        ASSERT_EQ(written.status(), HSTU_OK) << written.error();
        ASSERT_EQ(again.status(), HSTU_OK) << again.error();
        EXPECT_EQ(std::memcmp(written.after(forward.out).data, again.after(args.out).data,
                              static_cast<size_t>(extent_bytes(args.out))),
                  0);
      }
}

TEST(NormMulBackward, HasTheSameBitsInEveryRun) {
  HSTU_NEEDS_RESULTS();
  for (const int32_t groups : {0, 4}) {
    HostMemory memory;
    const Args args = args_of(memory, {.rows = 20000, .dim = 256, .groups = groups, .ratio = 0.1f});
    test::DeviceCall first(memory, Op::norm_mul_backward, &args), second(memory, Op::norm_mul_backward, &args);
    ASSERT_EQ(first.status(), HSTU_OK) << first.error();
    for (const hstu_tensor& t : {args.dattn, args.du, args.dweight, args.dbias, args.out})
      EXPECT_EQ(std::memcmp(first.after(t).data, second.after(t).data, static_cast<size_t>(extent_bytes(t))), 0);
  }
}

TEST(NormMulBackward, OfNoRowsWritesZeroSums) {
  HSTU_NEEDS_RESULTS();
  for (const int32_t groups : {0, 4}) {
    HostMemory memory;
    const Args args = args_of(memory, {.rows = 0, .dim = 512, .groups = groups});
    test::DeviceCall call(memory, Op::norm_mul_backward, &args);
    ASSERT_EQ(call.status(), HSTU_OK) << call.error();
    for (const hstu_tensor& t : {args.dweight, args.dbias})
      for (const double value : test::values(call.after(t))) EXPECT_EQ(value, 0);
  }
}

TEST(NormMulBackward, OfNothingLaunchesNothing) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  const Args args = args_of(memory, {.dattn = false, .du = false, .dweight = false, .dbias = false, .out = false});
  test::DeviceCall call(memory, Op::norm_mul_backward, &args);
  EXPECT_EQ(call.status(), HSTU_OK) << call.error();
}

}  // namespace
}  // namespace hstujit
