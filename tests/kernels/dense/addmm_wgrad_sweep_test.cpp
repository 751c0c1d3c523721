// The gradients of a product's weight and bias on the device against the oracle: shapes around and far from tile sizes,
// one row to sums longer than tensor cores make, types, every set of outputs, layouts, parts of the rows, and rows that
// must not count; the same bits in every run. The gradient of x, which is a call of addmm.
#include "operators/dense/addmm_wgrad.hpp"
#include "support/dense_gradients.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstring>
#include <limits>

namespace hstujit {
namespace {

using test::HostMemory;
using test::Layout;
using Args = hstu_addmm_wgrad_args;

constexpr hstu_dtype kF32 = HSTU_DTYPE_F32, kF16 = HSTU_DTYPE_F16, kBf16 = HSTU_DTYPE_BF16, kNone = HSTU_DTYPE_NONE,
                     kI32 = HSTU_DTYPE_I32, kI64 = HSTU_DTYPE_I64;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

enum class Order { rows, columns, apart };  ///< what is contiguous

struct Case {
  hstu_dtype dtype, gradient, bias;  ///< gradient, bias: NONE, absent
  int64_t m, k, n;
  bool transposed = false, accumulate = false, tf32 = false;
  int64_t valid_rows = -1;  ///< -1: all, by an absent tensor
  Order x = Order::rows, dout = Order::rows;
  Layout x_layout{}, dout_layout{}, dw_layout{};
};

std::string name_of_case(const Case& c) {
  const auto layout = [](const Layout& l) { return fmt::format("p{}s{}", l.row_padding, l.shift); };
  return fmt::format("{}_{}_{}_{}x{}x{}_t{}a{}f{}_v{}_{}{}_{}_{}_{}", name_of(c.dtype), name_of(c.gradient),
                     name_of(c.bias), c.m, c.k, c.n, int{c.transposed}, int{c.accumulate}, int{c.tf32},
                     c.valid_rows < 0 ? "all" : std::to_string(c.valid_rows), static_cast<int>(c.x),
                     static_cast<int>(c.dout), layout(c.x_layout), layout(c.dout_layout), layout(c.dw_layout));
}
void PrintTo(const Case& c, std::ostream* out) { *out << name_of_case(c); }

hstu_tensor operand(HostMemory& memory, hstu_dtype dtype, int64_t rows, int64_t columns, Order order, Layout layout) {
  if (order == Order::columns) return test::transposed(memory.random(dtype, {columns, rows}, layout));
  if (order == Order::rows) return memory.random(dtype, {rows, columns}, layout);
  hstu_tensor t = memory.random(dtype, {rows, 2 * columns}, layout);
  t.shape[1] = columns;
  t.stride[1] = 2;
  return t;
}

/// NaN in the rows from `first` on.
void spoil_rows(const hstu_tensor& t, int64_t first) {
  for (int64_t row = first; row < t.shape[0]; ++row)
    for (int64_t column = 0; column < t.shape[1]; ++column)
      store(t, row * t.stride[0] + column * t.stride[1], 1, &kNan);
}

Args args_of(HostMemory& memory, const Case& c) {
  auto args = sized<Args>();
  args.x = operand(memory, c.dtype, c.m, c.k, c.x, c.x_layout);
  args.dout = operand(memory, c.dtype, c.m, c.n, c.dout, c.dout_layout);
  const int64_t rows = c.transposed ? c.n : c.k, columns = c.transposed ? c.k : c.n;
  if (c.gradient != kNone)
    args.dw = c.accumulate ? memory.random(c.gradient, {rows, columns}, c.dw_layout)
                           : memory.poison(c.gradient, {rows, columns}, c.dw_layout);
  if (c.bias != kNone) args.dbias = c.accumulate ? memory.random(c.bias, {c.n}) : memory.poison(c.bias, {c.n});
  args.transposed = c.transposed;
  args.accumulate = c.accumulate;
  args.allow_tf32 = c.tf32;
  test::give_workspace(memory, args);
  if (c.valid_rows < 0) return args;
  args.valid_rows = memory.integers(c.m % 2 == 0 ? kI32 : kI64, {c.valid_rows});
  for (const hstu_tensor& t : {args.x, args.dout}) spoil_rows(t, std::clamp<int64_t>(c.valid_rows, 0, c.m));
  return args;
}

class AddmmWgradSweep : public testing::TestWithParam<Case> {};

TEST_P(AddmmWgradSweep, EqualsTheOracle) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  const Args args = args_of(memory, GetParam());
  test::expect_correct(memory, args, test::expected_gradients(args));
}

std::vector<Case> shapes() {
  std::vector<Case> cases;
  for (const auto& [m, k, n] : {std::array<int64_t, 3>{1, 1, 1},
                                {1, 64, 96},
                                {2, 33, 40},
                                {17, 64, 64},
                                {31, 129, 127},
                                {33, 128, 128},
                                {64, 130, 258},
                                {100, 257, 31},
                                {255, 72, 520},
                                {256, 512, 1},
                                {257, 1, 300},
                                {1000, 96, 200},
                                {3000, 520, 264},
                                {4097, 64, 128},
                                {9001, 40, 72},
                                {20000, 64, 64}}) {
    cases.push_back({kBf16, kBf16, kBf16, m, k, n});
    cases.push_back({kF16, kF32, kF32, m, k, n, true});
  }
  for (const auto& [m, k, n] :
       {std::array<int64_t, 3>{1, 3, 5}, {77, 64, 128}, {300, 130, 36}, {1000, 33, 65}, {5000, 32, 40}}) {
    cases.push_back({kF32, kF32, kF32, m, k, n});
    cases.push_back({kF32, kF32, kF32, m, k, n, true, false, true});
  }
  return cases;
}

std::vector<Case> outputs() {
  std::vector<Case> cases;
  for (const bool transposed : {false, true})
    for (const bool accumulate : {false, true}) {
      cases.push_back({kBf16, kBf16, kNone, 700, 136, 264, transposed, accumulate});
      cases.push_back({kBf16, kF32, kF16, 700, 136, 264, transposed, accumulate});
      cases.push_back({kF16, kNone, kF16, 700, 136, 264, transposed, accumulate});
      cases.push_back({kF16, kF16, kBf16, 130, 67, 41, transposed, accumulate});
      cases.push_back({kF32, kF32, kBf16, 300, 40, 64, transposed, accumulate});
      cases.push_back({kF32, kNone, kF32, 300, 40, 67, transposed, accumulate});
    }
  for (const int64_t n : {1, 7, 32, 64, 100, 512, 2048, 5001})
    for (const int64_t m : {1, 63, 1000}) cases.push_back({kBf16, kNone, kF32, m, 8, n});
  cases.push_back({kBf16, kNone, kBf16, 30000, 8, 64});
  cases.push_back({kF32, kNone, kF32, 30000, 8, 20});
  return cases;
}

std::vector<Case> valid_rows() {
  std::vector<Case> cases;
  for (const int64_t valid : {-5, 0, 1, 31, 32, 450, 899, 900, 2000}) {
    const bool accumulate = valid % 2 != 0;
    cases.push_back({kBf16, kBf16, kF32, 900, 64, 96, false, accumulate, false, valid});
    cases.push_back({kF16, kF32, kF16, 901, 72, 40, true, accumulate, false, valid, Order::columns, Order::columns});
    cases.push_back({kF32, kF32, kF32, 900, 36, 40, false, accumulate, false, valid, Order::apart, Order::columns});
    cases.push_back({kBf16, kNone, kBf16, 900, 8, 200, false, accumulate, false, valid});
    cases.push_back({kBf16, kNone, kF32, 901, 8, 30, false, accumulate, false, valid, Order::rows, Order::columns});
  }
  return cases;
}

std::vector<Case> layouts() {
  std::vector<Case> cases;
  for (const bool transposed : {false, true}) {
    const auto with = [&](Order x, Order dout, Layout x_layout, Layout dout_layout, Layout dw_layout) {
      for (const hstu_dtype dtype : {kBf16, kF32})
        cases.push_back({.dtype = dtype,
                         .gradient = dtype == kBf16 && dw_layout.shift % 2 == 0 ? kBf16 : kF32,
                         .bias = kF32,
                         .m = 328,
                         .k = 64,
                         .n = 136,
                         .transposed = transposed,
                         .x = x,
                         .dout = dout,
                         .x_layout = x_layout,
                         .dout_layout = dout_layout,
                         .dw_layout = dw_layout});
    };
    for (const Order x : {Order::rows, Order::columns, Order::apart})
      for (const Order dout : {Order::rows, Order::columns, Order::apart}) with(x, dout, {}, {}, {});
    with(Order::rows, Order::rows, {.row_padding = 4}, {.row_padding = 2}, {.row_padding = 8});
    with(Order::rows, Order::rows, {.row_padding = 1}, {}, {.row_padding = 4});
    with(Order::columns, Order::rows, {.row_padding = 2}, {.shift = 2}, {.row_padding = 1});
    with(Order::rows, Order::columns, {.shift = 1}, {.shift = 4}, {.shift = 2});
    with(Order::columns, Order::columns, {.row_padding = 1}, {.shift = 1}, {.shift = 1});
  }
  cases.push_back({kBf16, kNone, kF32, 328, 8, 136, false, false, false, -1, Order::rows, Order::columns});
  cases.push_back({kF16, kNone, kF32, 328, 8, 136, false, false, false, -1, Order::rows, Order::apart});
  cases.push_back({kF32, kNone, kF32, 77, 8, 3, false, false, false, -1, Order::rows, Order::columns});
  return cases;
}

const auto kNamed = [](const auto& info) {
  std::string name = name_of_case(info.param);
  std::replace(name.begin(), name.end(), '-', 'm');
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  return name;
};
INSTANTIATE_TEST_SUITE_P(Shapes, AddmmWgradSweep, testing::ValuesIn(shapes()), kNamed);
INSTANTIATE_TEST_SUITE_P(Outputs, AddmmWgradSweep, testing::ValuesIn(outputs()), kNamed);
INSTANTIATE_TEST_SUITE_P(ValidRows, AddmmWgradSweep, testing::ValuesIn(valid_rows()), kNamed);
INSTANTIATE_TEST_SUITE_P(Layouts, AddmmWgradSweep, testing::ValuesIn(layouts()), kNamed);

/// However many parts: also one whose sums go to the workspace because tensor cores must not make them at once.
TEST(AddmmWgrad, IsTheSameSumInAnyNumberOfParts) {
  HSTU_NEEDS_RESULTS();
  if (test::test_device()->cpu) GTEST_SKIP() << "no kernels";
  const DeviceFacts& facts = test::test_device()->facts();
  for (const Case& c : {Case{kBf16, kF32, kF32, 9100, 72, 136},
                        {kF16, kF16, kF16, 9100, 72, 136, true, true},
                        {kF32, kF32, kF32, 4500, 40, 72},
                        {kBf16, kNone, kBf16, 9100, 8, 300, false, true}}) {
    SCOPED_TRACE(name_of_case(c));
    HostMemory memory;
    const Args args = args_of(memory, c);
    const auto outputs = test::expected_gradients(args);
    const auto exact = test::exact_results(args, outputs);
    Args prepared = args;
    const Problem problem = prepare(prepared);
    const Family& family = *family_named(c.gradient == kNone ? "addmm_dbias_sm80" : "addmm_wgrad_sm80");
    const auto knob = std::ranges::find(family.knobs, std::string_view("split"), &Knob::name);
    ASSERT_NE(knob, family.knobs.end());
    int tried = 0;
    for (const int32_t split : knob->values) {
      Config config = family.default_config(problem, facts);
      config[static_cast<int>(knob - family.knobs.begin())] = split;
      if (!works(family, problem, config, facts)) continue;
      SCOPED_TRACE(split);
      ++tried;
      const auto kernel =
          test::loaded(test::compiled(family, problem, config, facts), family.resources(problem, config).smem_bytes);
      test::DeviceCall call(memory, Op::addmm_wgrad, &args, test::launcher_of<Args>(family, config, kernel, facts));
      test::expect_correct(call, args, outputs, exact);
    }
    EXPECT_GT(tried, 5);
  }
}

TEST(AddmmWgrad, HasTheSameBitsInEveryRun) {
  HSTU_NEEDS_RESULTS();
  for (const Case& c : {Case{kBf16, kF32, kF32, 20000, 128, 256},
                        {kF16, kF32, kF32, 20000, 64, 64, true},
                        {kF32, kF32, kF32, 3000, 64, 64},
                        {kBf16, kNone, kF32, 20000, 8, 512}}) {
    SCOPED_TRACE(name_of_case(c));
    HostMemory memory;
    const Args args = args_of(memory, c);
    test::DeviceCall first(memory, Op::addmm_wgrad, &args), second(memory, Op::addmm_wgrad, &args);
    ASSERT_EQ(first.status(), HSTU_OK) << first.error();
    for (const hstu_tensor& t : {args.dw, args.dbias}) {
      if (!present(t)) continue;
      EXPECT_EQ(std::memcmp(first.after(t).data, second.after(t).data, static_cast<size_t>(extent_bytes(t))), 0);
    }
  }
}

/// Zeros, or what is there.
TEST(AddmmWgrad, OfNoRowsIsZero) {
  HSTU_NEEDS_RESULTS();
  for (const hstu_dtype gradient : {kF32, kNone})
    for (const bool accumulate : {false, true}) {
      HostMemory memory;
      const Args args = args_of(memory, {kBf16, gradient, kF32, 0, 72, 136, false, accumulate});
      test::DeviceCall call(memory, Op::addmm_wgrad, &args);
      ASSERT_EQ(call.status(), HSTU_OK) << call.error();
      for (const hstu_tensor& t : {args.dw, args.dbias}) {
        if (!present(t)) continue;
        const std::vector<double> before = test::values(t), after = test::values(call.after(t));
        EXPECT_EQ(after, accumulate ? before : std::vector<double>(before.size()));
      }
    }
}

TEST(AddmmWgrad, OfNoColumnsOfXIsTheBiasAlone) {
  HSTU_NEEDS_RESULTS();
  HostMemory memory;
  const Args args = args_of(memory, {kBf16, kF32, kF32, 100, 0, 136});
  const auto outputs = test::expected_gradients(args);
  test::DeviceCall call(memory, Op::addmm_wgrad, &args);
  ASSERT_EQ(call.status(), HSTU_OK) << call.error();
  const test::Exact exact = test::exact_result(args, &Args::dbias);
  EXPECT_TRUE(test::close(call.after(args.dbias), exact, outputs[1].tolerance, outputs[1].allowance));
}

TEST(AddmmWgrad, OfNothingLaunchesNothing) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  const Args args = args_of(memory, {kBf16, kNone, kNone, 30, 8, 8});
  test::DeviceCall call(memory, Op::addmm_wgrad, &args);
  EXPECT_EQ(call.status(), HSTU_OK) << call.error();
}

/// dx = dout w^T, for both ways that a weight may be stored.
TEST(AddmmWgrad, HasItsGradientOfXInAddmm) {
  HSTU_NEEDS_DEVICE();
  for (const hstu_dtype dtype : {kBf16, kF16, kF32})
    for (const bool transposed : {false, true}) {
      SCOPED_TRACE(fmt::format("{} {}", name_of(dtype), transposed));
      HostMemory memory;
      const int64_t m = 300, k = 136, n = 264;
      const double deviation = 1 / std::sqrt(static_cast<double>(n));
      const hstu_tensor w = transposed ? test::transposed(memory.random(dtype, {n, k}, {}, 0, deviation))
                                       : memory.random(dtype, {k, n}, {}, 0, deviation);
      auto dx = sized<hstu_addmm_args>();
      dx.x = memory.random(dtype, {m, n});
      dx.w = test::transposed(w);
      dx.out = memory.poison(dtype, {m, k});
      test::expect_correct(memory, dx, &hstu_addmm_args::out, test::rounded_once(dtype));
    }
}

}  // namespace
}  // namespace hstujit
