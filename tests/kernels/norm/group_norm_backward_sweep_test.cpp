// The gradient of group norm on the device against the oracle: groups from one element to those that fit no register
// file, few of them and more than the grid has teams, types, every set of outputs, layouts, and rows that must not
// count; the same bits in every run.
#include "operators/norm/group_norm_backward.hpp"
#include "support/group_norm_gradients.hpp"
#include "support/row_norm_gradients.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <limits>

namespace hstujit {
namespace {

using test::HostMemory;
using test::Layout;
using Args = hstu_group_norm_backward_args;

constexpr hstu_dtype kF32 = HSTU_DTYPE_F32, kF16 = HSTU_DTYPE_F16, kBf16 = HSTU_DTYPE_BF16, kNone = HSTU_DTYPE_NONE;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Case {
  hstu_dtype dtype, weight, gradient;
  int64_t rows;
  int32_t groups;
  int64_t length;
  bool moments = false, dresidual = false, dx = true, dweight = true, dbias = true;
  bool accumulate = false;
  int64_t valid_rows = -1;  ///< -1: all, by an absent tensor
  Layout x{}, dout{}, dx_layout{};
  double mean = 0;
};

std::string name_of_case(const Case& c) {
  std::string name = fmt::format("{}_{}_{}_{}x{}x{}_m{}r{}_d{}{}{}_a{}_v{}_{}_{}_{}_{}_mean{}", name_of(c.dtype),
                                 name_of(c.weight), name_of(c.gradient), c.rows, c.groups, c.length, int{c.moments},
                                 int{c.dresidual}, int{c.dx}, int{c.dweight}, int{c.dbias}, int{c.accumulate},
                                 c.valid_rows < 0 ? "all" : std::to_string(c.valid_rows), c.x.row_padding, c.x.shift,
                                 c.dout.row_padding, c.dx_layout.shift, c.mean);
  std::replace_if(
      name.begin(), name.end(), [](char each) { return !std::isalnum(static_cast<unsigned char>(each)); }, '_');
  return name;
}
void PrintTo(const Case& c, std::ostream* out) { *out << name_of_case(c); }

Args args_of(HostMemory& memory, const Case& c) {
  const int64_t dim = c.groups * c.length;
  auto args = sized<Args>();
  args.forward.num_groups = c.groups;
  args.forward.x = memory.random(c.dtype, {c.rows, dim}, c.x, c.mean);
  args.dout = memory.random(c.dtype, {c.rows, dim}, c.dout);
  if (c.weight != kNone) {
    args.forward.weight = memory.random(c.weight, {c.groups}, {}, 1, 0.3);
    args.forward.bias = memory.random(c.weight, {c.groups});
  }
  if (c.moments) {
    args.moments = memory.poison(kF32, {c.rows, c.groups, 2});
    test::store_moments(args.forward.x, args.moments);
  }
  if (c.dresidual) args.dresidual = memory.random(c.dtype, {c.rows, dim});
  if (c.dx) args.dx = memory.poison(c.dtype, {c.rows, dim}, c.dx_layout);
  const auto sum = [&] {
    return c.accumulate ? memory.random(c.gradient, {c.groups}) : memory.poison(c.gradient, {c.groups});
  };
  if (c.dweight) args.dweight = sum();
  if (c.dbias) args.dbias = sum();
  args.accumulate = c.accumulate;
  test::give_workspace(memory, args);
  if (c.valid_rows < 0) return args;
  args.valid_rows = memory.integers(c.rows % 2 == 0 ? HSTU_DTYPE_I32 : HSTU_DTYPE_I64, {c.valid_rows});
  const int64_t valid = std::min(c.valid_rows, c.rows);
  if (!c.dx)  // which would be NaN, too
    for (const hstu_tensor& t : {args.forward.x, args.dout}) test::fill(test::rows_of(t, valid, c.rows - valid), kNan);
  return args;
}

class GroupNormBackwardSweep : public testing::TestWithParam<Case> {};

TEST_P(GroupNormBackwardSweep, EqualsTheOracle) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  const Args args = args_of(memory, GetParam());
  test::expect_correct(memory, args, test::expected_gradients(args));
}

std::vector<Case> shapes() {
  std::vector<Case> cases;
  for (const int64_t length : {1, 2, 7, 8, 33, 64, 100, 128, 256, 1000, 2048, 5000, 8192})
    for (const int32_t groups : {1, 3, 4}) cases.push_back({kBf16, kBf16, kBf16, 67, groups, length});
  for (const int64_t length : {3, 64, 96, 1028, 4096}) {
    cases.push_back({kF32, kF32, kF32, 35, 2, length});
    cases.push_back({kF16, kF16, kF16, 35, 6, length});
  }
  for (const int64_t length : {5001, 8193, 20001}) cases.push_back({kBf16, kF32, kF32, 3, 2, length, true, true});
  cases.push_back({kF32, kF32, kF32, 2, 1, 40000});
  // More groups than lines of sums, than teams of a block, than teams of the grid.
  for (const int32_t groups : {33, 100, 1000, 4099}) cases.push_back({kBf16, kBf16, kF32, 9, groups, 8});
  cases.push_back({kF16, kF16, kF16, 3, 9000, 1});
  cases.push_back({kBf16, kBf16, kBf16, 2, 700, 9000});
  return cases;
}

std::vector<Case> outputs() {
  std::vector<Case> cases;
  for (int set = 1; set < 8; ++set)
    for (const bool moments : {false, true})
      for (const int64_t length : {16, 128, 12000})
        cases.push_back({.dtype = kBf16,
                         .weight = kBf16,
                         .gradient = kBf16,
                         .rows = length < 1000 ? 300 : 20,
                         .groups = 4,
                         .length = length,
                         .moments = moments,
                         .dresidual = moments && set & 1,
                         .dx = (set & 1) != 0,
                         .dweight = (set & 2) != 0,
                         .dbias = (set & 4) != 0});
  for (const int64_t length : {96, 9000})
    cases.push_back({kF16, kNone, kNone, 70, 2, length, false, true, true, false, false});
  for (const int64_t rows : {1, 2, 1000, 20000}) cases.push_back({kBf16, kBf16, kF32, rows, 4, 16});
  for (const int64_t valid : {0, 1, 150, 299, 300, 1000}) {
    cases.push_back({kBf16, kF32, kF32, 300, 4, 128, false, false, true, true, true, valid % 2 == 0, valid});
    cases.push_back({kF16, kF16, kF16, 301, 5, 26, true, false, false, true, true, valid % 2 == 1, valid});
  }
  cases.push_back({kF32, kBf16, kBf16, 50, 2, 9000, false, true, true, true, true, true, 20});
  return cases;
}

std::vector<Case> layouts() {
  std::vector<Case> cases;
  const auto add = [&](Layout x, Layout dout, Layout dx, double mean = 0) {
    cases.push_back({.dtype = kBf16,
                     .weight = kBf16,
                     .gradient = kBf16,
                     .rows = 40,
                     .groups = 4,
                     .length = 128,
                     .x = x,
                     .dout = dout,
                     .dx_layout = dx,
                     .mean = mean});
  };
  add({.row_padding = 512}, {.row_padding = 8}, {});
  add({.row_padding = 4}, {}, {});
  add({}, {.row_padding = 2}, {});
  add({.row_padding = 1}, {.row_padding = 3}, {});
  add({.shift = 4}, {}, {});
  add({}, {.shift = 2}, {.shift = 1});
  add({}, {}, {}, 20);
  return cases;
}

const auto kNamed = [](const auto& info) { return name_of_case(info.param); };
INSTANTIATE_TEST_SUITE_P(Shapes, GroupNormBackwardSweep, testing::ValuesIn(shapes()), kNamed);
INSTANTIATE_TEST_SUITE_P(Outputs, GroupNormBackwardSweep, testing::ValuesIn(outputs()), kNamed);
INSTANTIATE_TEST_SUITE_P(Layouts, GroupNormBackwardSweep, testing::ValuesIn(layouts()), kNamed);

/// dx may take the place of what it is made of.
TEST(GroupNormBackward, WritesInPlace) {
  HSTU_NEEDS_DEVICE();
  for (const int64_t length : {128, 9000})
    for (const int place : {0, 1, 2}) {
      SCOPED_TRACE(fmt::format("{} {}", length, place));
      HostMemory memory;
      Args args = args_of(memory, {kBf16, kBf16, kBf16, 100, 4, length, false, true});
      args.dx = place == 0 ? args.dout : place == 1 ? args.dresidual : args.forward.x;
      test::expect_correct(memory, args, test::expected_gradients(args));
    }
}

TEST(GroupNormBackward, HasTheSameBitsInEveryRun) {
  HSTU_NEEDS_RESULTS();
  HostMemory memory;
  const Args args = args_of(memory, {kBf16, kBf16, kF32, 20000, 4, 64});
  test::DeviceCall first(memory, Op::group_norm_backward, &args), second(memory, Op::group_norm_backward, &args);
  ASSERT_EQ(first.status(), HSTU_OK) << first.error();
  ASSERT_EQ(second.status(), HSTU_OK) << second.error();
  for (const hstu_tensor& t : {args.dx, args.dweight, args.dbias})
    EXPECT_EQ(std::memcmp(first.after(t).data, second.after(t).data, static_cast<size_t>(extent_bytes(t))), 0);
}

TEST(GroupNormBackward, OfNoRowsWritesZeroSums) {
  HSTU_NEEDS_RESULTS();
  HostMemory memory;
  const Args args = args_of(memory, {kBf16, kF32, kF32, 0, 4, 128});
  test::DeviceCall call(memory, Op::group_norm_backward, &args);
  ASSERT_EQ(call.status(), HSTU_OK) << call.error();
  for (const hstu_tensor& t : {args.dweight, args.dbias})
    for (const double value : test::values(call.after(t))) EXPECT_EQ(value, 0);
}

TEST(GroupNormBackward, OfNothingLaunchesNothing) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  const Args args = args_of(memory, {kBf16, kBf16, kBf16, 30, 4, 128, false, false, false, false, false});
  test::DeviceCall call(memory, Op::group_norm_backward, &args);
  EXPECT_EQ(call.status(), HSTU_OK) << call.error();
}

/// Without x and without statistics, an eps of 0 must not divide by 0.
TEST(GroupNormBackward, OfABiasAloneNeedsNoEps) {
  HSTU_NEEDS_DEVICE();
  for (const int64_t length : {128, 9000}) {
    HostMemory memory;
    Args args = args_of(memory, {kBf16, kBf16, kF32, 20, 2, length, false, false, false, false, true});
    args.forward.eps = HSTU_EXACT_ZERO;
    test::fill(args.forward.x, 1);
    test::expect_correct(memory, args, test::expected_gradients(args));
  }
}

}  // namespace
}  // namespace hstujit
