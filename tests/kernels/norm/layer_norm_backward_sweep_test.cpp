// The gradient of layer norm on the device against the oracle: lengths from one element to rows that fit no register
// file, types, every set of outputs, layouts, and rows that must not count; the same bits in every run.
#include "operators/norm/layer_norm_backward.hpp"
#include "support/norm_gradients.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>

namespace hstujit {
namespace {

using test::HostMemory;
using test::Layout;
using Args = hstu_layer_norm_backward_args;

constexpr hstu_dtype kF32 = HSTU_DTYPE_F32, kF16 = HSTU_DTYPE_F16, kBf16 = HSTU_DTYPE_BF16, kNone = HSTU_DTYPE_NONE,
                     kI32 = HSTU_DTYPE_I32;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Case {
  hstu_dtype dtype, weight, gradient;
  int64_t rows, dim;
  bool moments = false, dresidual = false, dx = true, dweight = true, dbias = true;
  bool accumulate = false;
  int64_t valid_rows = -1;  ///< -1: all, by an absent tensor
  Layout x{}, dout{}, dx_layout{};
  double mean = 0;
};

std::string name_of_case(const Case& c) {
  return fmt::format("{}_{}_{}_{}x{}_m{}r{}_d{}{}{}_a{}_v{}_{}_{}_{}_{}_mean{}", name_of(c.dtype), name_of(c.weight),
                     name_of(c.gradient), c.rows, c.dim, int{c.moments}, int{c.dresidual}, int{c.dx}, int{c.dweight},
                     int{c.dbias}, int{c.accumulate}, c.valid_rows < 0 ? "all" : std::to_string(c.valid_rows),
                     c.x.row_padding, c.x.shift, c.dout.row_padding, c.dx_layout.shift, c.mean);
}
void PrintTo(const Case& c, std::ostream* out) { *out << name_of_case(c); }

/// Of x, as the forward leaves them.
hstu_tensor moments_of(HostMemory& memory, const hstu_tensor& x) {
  const hstu_tensor moments = memory.poison(kF32, {x.shape[0], 1, 2});
  const std::vector<double> values = test::values(x);
  const auto dim = static_cast<size_t>(x.shape[1]);
  for (size_t row = 0; row < static_cast<size_t>(x.shape[0]); ++row) {
    double pair[2] = {};
    for (size_t i = 0; i < dim; ++i) pair[0] += values[row * dim + i] / static_cast<double>(dim);
    for (size_t i = 0; i < dim; ++i) pair[1] += std::pow(values[row * dim + i] - pair[0], 2);
    store(moments, static_cast<int64_t>(2 * row), 2, pair);
  }
  return moments;
}

Args args_of(HostMemory& memory, const Case& c) {
  auto args = sized<Args>();
  args.forward.x = memory.random(c.dtype, {c.rows, c.dim}, c.x, c.mean);
  args.dout = memory.random(c.dtype, {c.rows, c.dim}, c.dout);
  if (c.weight != kNone) {
    args.forward.weight = memory.random(c.weight, {c.dim}, {}, 1, 0.3);
    args.forward.bias = memory.random(c.weight, {c.dim});
  }
  if (c.moments) args.moments = moments_of(memory, args.forward.x);
  if (c.dresidual) args.dresidual = memory.random(c.dtype, {c.rows, c.dim});
  if (c.dx) args.dx = memory.poison(c.dtype, {c.rows, c.dim}, c.dx_layout);
  const auto sum = [&] {
    return c.accumulate ? memory.random(c.gradient, {c.dim}) : memory.poison(c.gradient, {c.dim});
  };
  if (c.dweight) args.dweight = sum();
  if (c.dbias) args.dbias = sum();
  args.accumulate = c.accumulate;
  test::give_workspace(memory, args);
  if (c.valid_rows < 0) return args;
  args.valid_rows = memory.integers(c.rows % 2 == 0 ? kI32 : HSTU_DTYPE_I64, {c.valid_rows});
  const int64_t valid = std::min(c.valid_rows, c.rows);
  if (!c.dx)  // which would be NaN, too
    for (const hstu_tensor& t : {args.forward.x, args.dout}) test::fill(test::rows_of(t, valid, c.rows - valid), kNan);
  return args;
}

class LayerNormBackwardSweep : public testing::TestWithParam<Case> {};

TEST_P(LayerNormBackwardSweep, EqualsTheOracle) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  const Args args = args_of(memory, GetParam());
  test::expect_correct(memory, args, test::expected_gradients(args));
}

std::vector<Case> dims() {
  std::vector<Case> cases;
  for (const int64_t dim : {1, 2, 7, 8, 33, 64, 100, 128, 200, 256, 512, 768, 1000, 1024, 2048, 5000, 8192})
    cases.push_back({kBf16, kBf16, kBf16, 67, dim});
  for (const int64_t dim : {3, 96, 512, 1028, 4096}) {
    cases.push_back({kF32, kF32, kF32, 35, dim});
    cases.push_back({kF16, kF16, kF16, 35, dim});
  }
  for (const int64_t dim : {5001, 8193, 16384, 20001}) cases.push_back({kBf16, kF32, kF32, 3, dim, true, true});
  cases.push_back({kF32, kF32, kF32, 2, 40000});
  return cases;
}

std::vector<Case> outputs() {
  std::vector<Case> cases;
  for (int set = 1; set < 8; ++set)
    for (const bool moments : {false, true})
      cases.push_back({.dtype = kBf16,
                       .weight = kBf16,
                       .gradient = kBf16,
                       .rows = 300,
                       .dim = 512,
                       .moments = moments,
                       .dresidual = moments && set & 1,
                       .dx = (set & 1) != 0,
                       .dweight = (set & 2) != 0,
                       .dbias = (set & 4) != 0});
  cases.push_back({kF16, kNone, kNone, 70, 96, false, true, true, false, false});
  for (const int64_t rows : {1, 2, 1000, 20000}) cases.push_back({kBf16, kBf16, kF32, rows, 64});
  for (const int64_t valid : {0, 1, 150, 299, 300, 1000}) {
    cases.push_back({kBf16, kF32, kF32, 300, 512, false, false, true, true, true, valid % 2 == 0, valid});
    cases.push_back({kF16, kF16, kF16, 301, 130, true, false, false, true, true, valid % 2 == 1, valid});
  }
  cases.push_back({kF32, kBf16, kBf16, 50, 9000, false, true, true, true, true, true, 20});
  return cases;
}

std::vector<Case> layouts() {
  const auto with = [](Layout x, Layout dout, Layout dx, double mean = 0) {
    return Case{.dtype = kBf16,
                .weight = kBf16,
                .gradient = kBf16,
                .rows = 40,
                .dim = 512,
                .x = x,
                .dout = dout,
                .dx_layout = dx,
                .mean = mean};
  };
  return {with({.row_padding = 512}, {.row_padding = 8}, {}),
          with({.row_padding = 4}, {}, {}),
          with({}, {.row_padding = 2}, {}),
          with({.row_padding = 1}, {.row_padding = 3}, {}),
          with({.shift = 4}, {}, {}),
          with({}, {.shift = 2}, {.shift = 1}),
          with({}, {}, {}, 20)};
}

const auto kNamed = [](const auto& info) {
  std::string name = name_of_case(info.param);
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  return name;
};
INSTANTIATE_TEST_SUITE_P(Dims, LayerNormBackwardSweep, testing::ValuesIn(dims()), kNamed);
INSTANTIATE_TEST_SUITE_P(Outputs, LayerNormBackwardSweep, testing::ValuesIn(outputs()), kNamed);
INSTANTIATE_TEST_SUITE_P(Layouts, LayerNormBackwardSweep, testing::ValuesIn(layouts()), kNamed);

/// dx may take the place of what it is made of.
TEST(LayerNormBackward, WritesInPlace) {
  HSTU_NEEDS_DEVICE();
  for (hstu_tensor Args::*place : {&Args::dout, &Args::dresidual}) {
    HostMemory memory;
    Args args = args_of(memory, {kBf16, kBf16, kBf16, 500, 512, false, true});
    args.dx = args.*place;
    test::expect_correct(memory, args, test::expected_gradients(args));
  }
}

/// What a training step does: the forward's call leaves the statistics that the gradient takes.
TEST(LayerNormBackward, TakesWhatItsForwardLeft) {
  HSTU_NEEDS_RESULTS();
  for (const hstu_dtype dtype : {kBf16, kF32})
    for (const int64_t dim : {33, 512, 1028, 5000, 20001}) {
      SCOPED_TRACE(fmt::format("{} {}", name_of(dtype), dim));
      HostMemory memory;
      Args args =
          args_of(memory, {.dtype = dtype, .weight = kF32, .gradient = kF32, .rows = 70, .dim = dim, .mean = 3});
      hstu_layer_norm_args forward = args.forward;
      forward.struct_size = sizeof forward;
      forward.out = memory.poison(dtype, {70, dim});
      forward.moments = args.moments = memory.poison(kF32, {70, 1, 2});
      test::DeviceCall saving(memory, Op::layer_norm, &forward);
      ASSERT_EQ(saving.status(), HSTU_OK) << saving.error();
      const std::vector<double> saved = test::values(saving.after(forward.moments));
      store(args.moments, 0, static_cast<int64_t>(saved.size()), saved.data());
      test::expect_correct(memory, args, test::expected_gradients(args));
    }
}

TEST(LayerNormBackward, HasTheSameBitsInEveryRun) {
  HSTU_NEEDS_RESULTS();
  HostMemory memory;
  const Args args = args_of(memory, {kBf16, kBf16, kF32, 20000, 256});
  test::DeviceCall first(memory, Op::layer_norm_backward, &args), second(memory, Op::layer_norm_backward, &args);
  ASSERT_EQ(first.status(), HSTU_OK) << first.error();
  for (const hstu_tensor& t : {args.dx, args.dweight, args.dbias})
    EXPECT_EQ(std::memcmp(first.after(t).data, second.after(t).data, static_cast<size_t>(extent_bytes(t))), 0);
}

TEST(LayerNormBackward, OfNoRowsWritesZeroSums) {
  HSTU_NEEDS_RESULTS();
  HostMemory memory;
  const Args args = args_of(memory, {kBf16, kF32, kF32, 0, 512});
  test::DeviceCall call(memory, Op::layer_norm_backward, &args);
  ASSERT_EQ(call.status(), HSTU_OK) << call.error();
  for (const double value : test::values(call.after(args.dweight))) EXPECT_EQ(value, 0);
}

TEST(LayerNormBackward, OfNothingLaunchesNothing) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  const Args args = args_of(memory, {kBf16, kBf16, kBf16, 30, 512, false, false, false, false, false});
  test::DeviceCall call(memory, Op::layer_norm_backward, &args);
  EXPECT_EQ(call.status(), HSTU_OK) << call.error();
}

}  // namespace
}  // namespace hstujit
