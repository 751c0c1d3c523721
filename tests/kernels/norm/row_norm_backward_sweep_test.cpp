// The gradients of RMS norm, of SiLU of it and of swish layer norm on the device against the oracle: lengths from one
// element to rows that fit no register file, types, every set of outputs, layouts, and rows that must not count; the
// same bits in every run.
#include "operators/norm/row_norm_backward.hpp"
#include "support/row_norm_gradients.hpp"

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
using Rms = hstu_rms_norm_backward_args;
using Swish = hstu_swish_layer_norm_backward_args;

constexpr hstu_dtype kF32 = HSTU_DTYPE_F32, kF16 = HSTU_DTYPE_F16, kBf16 = HSTU_DTYPE_BF16, kNone = HSTU_DTYPE_NONE,
                     kI32 = HSTU_DTYPE_I32;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

enum class Norm { rms, silu, swish };
constexpr Norm kNorms[] = {Norm::rms, Norm::silu, Norm::swish};
constexpr const char* kNames[] = {"rms", "silu", "swish"};

/// dbias is of swish layer norm alone.
struct Case {
  Norm norm;
  hstu_dtype dtype, weight, gradient;
  int64_t rows, dim;
  bool moments = false, dresidual = false, dx = true, dweight = true, dbias = true;
  bool accumulate = false;
  int64_t valid_rows = -1;  ///< -1: all, by an absent tensor
  Layout x{}, dout{}, dx_layout{};
  double mean = 0;
};

std::string name_of_case(const Case& c) {
  std::string name =
      fmt::format("{}_{}_{}_{}_{}x{}_m{}r{}_d{}{}{}_a{}_v{}_{}_{}_{}_{}_mean{}", kNames[static_cast<size_t>(c.norm)],
                  name_of(c.dtype), name_of(c.weight), name_of(c.gradient), c.rows, c.dim, int{c.moments},
                  int{c.dresidual}, int{c.dx}, int{c.dweight}, int{c.dbias}, int{c.accumulate},
                  c.valid_rows < 0 ? "all" : std::to_string(c.valid_rows), c.x.row_padding, c.x.shift,
                  c.dout.row_padding, c.dx_layout.shift, c.mean);
  std::replace_if(
      name.begin(), name.end(), [](char each) { return !std::isalnum(static_cast<unsigned char>(each)); }, '_');
  return name;
}
void PrintTo(const Case& c, std::ostream* out) { *out << name_of_case(c); }

template <class Args>
Args args_of(HostMemory& memory, const Case& c) {
  auto args = sized<Args>();
  args.forward.x = memory.random(c.dtype, {c.rows, c.dim}, c.x, c.mean);
  args.dout = memory.random(c.dtype, {c.rows, c.dim}, c.dout);
  if (c.weight != kNone) args.forward.weight = memory.random(c.weight, {c.dim}, {}, 1, 0.3);
  if (c.moments) {
    args.moments = memory.poison(kF32, {c.rows, 1, 2});
    test::store_moments(args.forward.x, args.moments);
  }
  if (c.dresidual) args.dresidual = memory.random(c.dtype, {c.rows, c.dim});
  if (c.dx) args.dx = memory.poison(c.dtype, {c.rows, c.dim}, c.dx_layout);
  const auto sum = [&] {
    return c.accumulate ? memory.random(c.gradient, {c.dim}) : memory.poison(c.gradient, {c.dim});
  };
  if (c.dweight) args.dweight = sum();
  if constexpr (requires { args.dbias; }) {
    if (c.weight != kNone) args.forward.bias = memory.random(c.weight, {c.dim});
    if (c.dbias) args.dbias = sum();
  } else {
    args.forward.activation = c.norm == Norm::silu ? HSTU_ACTIVATION_SILU : HSTU_ACTIVATION_NONE;
  }
  args.accumulate = c.accumulate;
  test::give_workspace(memory, args);
  if (c.valid_rows < 0) return args;
  args.valid_rows = memory.integers(c.rows % 2 == 0 ? kI32 : HSTU_DTYPE_I64, {c.valid_rows});
  const int64_t valid = std::min(c.valid_rows, c.rows);
  if (!c.dx)  // which would be NaN, too
    for (const hstu_tensor& t : {args.forward.x, args.dout}) test::fill(test::rows_of(t, valid, c.rows - valid), kNan);
  return args;
}

/// Calls f with args of the case's operator.
template <class F>
void with_args(HostMemory& memory, const Case& c, const F& f) {
  if (c.norm == Norm::swish)
    f(args_of<Swish>(memory, c));
  else
    f(args_of<Rms>(memory, c));
}

class RowNormBackwardSweep : public testing::TestWithParam<Case> {};

TEST_P(RowNormBackwardSweep, EqualsTheOracle) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  with_args(memory, GetParam(),
            [&](const auto& args) { test::expect_correct(memory, args, test::expected_gradients(args)); });
}

std::vector<Case> dims() {
  std::vector<Case> cases;
  for (const Norm norm : kNorms) {
    for (const int64_t dim : {1, 2, 7, 8, 33, 64, 100, 128, 200, 256, 512, 768, 1000, 1024, 2048, 5000, 8192})
      cases.push_back({norm, kBf16, kBf16, kBf16, 67, dim});
    for (const int64_t dim : {3, 96, 512, 1028, 4096}) {
      cases.push_back({norm, kF32, kF32, kF32, 35, dim});
      cases.push_back({norm, kF16, kF16, kF16, 35, dim});
    }
    for (const int64_t dim : {5001, 8193, 16384, 20001}) cases.push_back({norm, kBf16, kF32, kF32, 3, dim, true, true});
    cases.push_back({norm, kF32, kF32, kF32, 2, 40000});
    cases.push_back({norm, kF16, kF16, kF32, 5, 33000, false, false, false});  // sums that shared memory does not hold
  }
  return cases;
}

std::vector<Case> outputs() {
  std::vector<Case> cases;
  for (const Norm norm : kNorms) {
    for (int set = 1; set < (norm == Norm::swish ? 8 : 4); ++set)
      for (const bool moments : {false, true})
        for (const int64_t dim : {64, 512, 12000})
          cases.push_back({.norm = norm,
                           .dtype = kBf16,
                           .weight = kBf16,
                           .gradient = kBf16,
                           .rows = dim < 1000 ? 300 : 20,
                           .dim = dim,
                           .moments = moments,
                           .dresidual = moments && set & 1,
                           .dx = (set & 1) != 0,
                           .dweight = (set & 2) != 0,
                           .dbias = (set & 4) != 0});
    for (const int64_t dim : {96, 9000})
      cases.push_back({norm, kF16, kNone, kNone, 70, dim, false, true, true, false, false});
    for (const int64_t rows : {1, 2, 1000, 20000}) cases.push_back({norm, kBf16, kBf16, kF32, rows, 64});
    for (const int64_t valid : {0, 1, 150, 299, 300, 1000}) {
      cases.push_back({norm, kBf16, kF32, kF32, 300, 512, false, false, true, true, true, valid % 2 == 0, valid});
      cases.push_back({norm, kF16, kF16, kF16, 301, 130, true, false, false, true, true, valid % 2 == 1, valid});
    }
    cases.push_back({norm, kF32, kBf16, kBf16, 50, 9000, false, true, true, true, true, true, 20});
  }
  return cases;
}

std::vector<Case> layouts() {
  std::vector<Case> cases;
  for (const Norm norm : kNorms) {
    const auto add = [&](Layout x, Layout dout, Layout dx, double mean = 0) {
      cases.push_back({.norm = norm,
                       .dtype = kBf16,
                       .weight = kBf16,
                       .gradient = kBf16,
                       .rows = 40,
                       .dim = 512,
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
  }
  return cases;
}

const auto kNamed = [](const auto& info) { return name_of_case(info.param); };
INSTANTIATE_TEST_SUITE_P(Dims, RowNormBackwardSweep, testing::ValuesIn(dims()), kNamed);
INSTANTIATE_TEST_SUITE_P(Outputs, RowNormBackwardSweep, testing::ValuesIn(outputs()), kNamed);
INSTANTIATE_TEST_SUITE_P(Layouts, RowNormBackwardSweep, testing::ValuesIn(layouts()), kNamed);

/// dx may take the place of what it is made of.
TEST(RowNormBackward, WritesInPlace) {
  HSTU_NEEDS_DEVICE();
  for (const Norm norm : kNorms)
    for (const int64_t dim : {512, 9000})
      for (const int place : {0, 1, 2}) {
        SCOPED_TRACE(fmt::format("{} {} {}", kNames[static_cast<size_t>(norm)], dim, place));
        HostMemory memory;
        with_args(memory, {norm, kBf16, kBf16, kBf16, 100, dim, false, true}, [&](auto args) {
          args.dx = place == 0 ? args.dout : place == 1 ? args.dresidual : args.forward.x;
          test::expect_correct(memory, args, test::expected_gradients(args));
        });
      }
}

TEST(RowNormBackward, HasTheSameBitsInEveryRun) {
  HSTU_NEEDS_RESULTS();
  for (const Norm norm : kNorms) {
    HostMemory memory;
    with_args(memory, {norm, kBf16, kBf16, kF32, 20000, 256}, [&](const auto& args) {
      const Op op = op_of<std::remove_cvref_t<decltype(args)>>();
      test::DeviceCall first(memory, op, &args), second(memory, op, &args);
      ASSERT_EQ(first.status(), HSTU_OK) << first.error();
      for (const hstu_tensor& t : {args.dx, args.dweight})
        EXPECT_EQ(std::memcmp(first.after(t).data, second.after(t).data, static_cast<size_t>(extent_bytes(t))), 0);
    });
  }
}

TEST(RowNormBackward, OfNoRowsWritesZeroSums) {
  HSTU_NEEDS_RESULTS();
  for (const Norm norm : kNorms) {
    HostMemory memory;
    with_args(memory, {norm, kBf16, kF32, kF32, 0, 512}, [&](const auto& args) {
      test::DeviceCall call(memory, op_of<std::remove_cvref_t<decltype(args)>>(), &args);
      ASSERT_EQ(call.status(), HSTU_OK) << call.error();
      for (const double value : test::values(call.after(args.dweight))) EXPECT_EQ(value, 0);
    });
  }
}

TEST(RowNormBackward, OfNothingLaunchesNothing) {
  HSTU_NEEDS_DEVICE();
  for (const Norm norm : kNorms) {
    HostMemory memory;
    with_args(memory, {norm, kBf16, kBf16, kBf16, 30, 512, false, false, false, false, false}, [&](const auto& args) {
      test::DeviceCall call(memory, op_of<std::remove_cvref_t<decltype(args)>>(), &args);
      EXPECT_EQ(call.status(), HSTU_OK) << call.error();
    });
  }
}

}  // namespace
}  // namespace hstujit
