// The matrix product on the device against the oracle: shapes around and far from tile sizes, biases, activations, and
// operands whose layout breaks alignment one by one.
#include "support/device_call.hpp"

#include <fmt/format.h>

namespace hstujit {
namespace {

using test::HostMemory;
using test::Layout;

constexpr hstu_dtype kF32 = HSTU_DTYPE_F32, kF16 = HSTU_DTYPE_F16, kBf16 = HSTU_DTYPE_BF16;

enum class Bias { none, row, wide_row /* f32 */, residual, in_place };

struct Case {
  hstu_dtype dtype;
  int64_t m, k, n;
  Bias bias = Bias::row;
  hstu_activation activation = HSTU_ACTIVATION_NONE;
  int64_t activation_columns = 0;
  bool transposed = false;
  Layout x{}, w{}, y{}, z{};
};

std::string name_of_case(const Case& c) {
  const auto layout = [](const Layout& l) { return fmt::format("p{}s{}", l.row_padding, l.shift); };
  return fmt::format("{}_{}x{}x{}_bias{}_act{}c{}_t{}_{}_{}_{}_{}", name_of(c.dtype), c.m, c.k, c.n,
                     static_cast<int>(c.bias), static_cast<int>(c.activation), c.activation_columns, int{c.transposed},
                     layout(c.x), layout(c.w), layout(c.y), layout(c.z));
}

void PrintTo(const Case& c, std::ostream* out) { *out << name_of_case(c); }

hstu_addmm_args args_of(HostMemory& memory, const Case& c) {
  hstu_addmm_args args{};
  args.struct_size = sizeof args;
  const double deviation = 1 / std::sqrt(static_cast<double>(std::max<int64_t>(c.k, 1)));  // results of order one
  args.x = memory.random(c.dtype, {c.m, c.k}, c.x);
  if (c.transposed) {
    args.w = memory.random(c.dtype, {c.n, c.k}, c.w, 0, deviation);
    std::swap(args.w.shape[0], args.w.shape[1]);
    std::swap(args.w.stride[0], args.w.stride[1]);
  } else {
    args.w = memory.random(c.dtype, {c.k, c.n}, c.w, 0, deviation);
  }
  if (c.bias == Bias::row) args.y = memory.random(c.dtype, {c.n}, c.y);
  if (c.bias == Bias::wide_row) args.y = memory.random(kF32, {c.n}, c.y);
  if (c.bias == Bias::residual) args.y = memory.random(c.dtype, {c.m, c.n}, c.y);
  if (c.bias == Bias::in_place)
    args.y = args.z = memory.random(c.dtype, {c.m, c.n}, c.z);
  else
    args.z = memory.poison(c.dtype, {c.m, c.n}, c.z);
  args.activation = c.activation;
  args.activation_columns = c.activation_columns;
  return args;
}

class AddmmSweep : public testing::TestWithParam<Case> {};

TEST_P(AddmmSweep, EqualsTheOracle) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  const auto args = args_of(memory, GetParam());
  test::expect_correct(memory, args, &hstu_addmm_args::z, test::rounded_once(GetParam().dtype));
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
                                {3000, 8, 16}}) {
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
  };
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
  };
}

const auto kNameOf = [](const auto& info) { return name_of_case(info.param); };
INSTANTIATE_TEST_SUITE_P(Shapes, AddmmSweep, testing::ValuesIn(shapes()), kNameOf);
INSTANTIATE_TEST_SUITE_P(Epilogues, AddmmSweep, testing::ValuesIn(epilogues()), kNameOf);
INSTANTIATE_TEST_SUITE_P(Layouts, AddmmSweep, testing::ValuesIn(layouts()), kNameOf);

TEST(AddmmOnDevice, EmptyOperands) {
  HSTU_NEEDS_DEVICE();
  for (const auto& [m, k, n] : {std::array<int64_t, 3>{0, 64, 64}, {64, 64, 0}, {70, 0, 64}, {0, 0, 0}})
    for (const Bias bias : {Bias::none, Bias::row, Bias::residual}) {
      HostMemory memory;
      test::expect_correct(memory, args_of(memory, {kBf16, m, k, n, bias, HSTU_ACTIVATION_SILU}), &hstu_addmm_args::z,
                           test::rounded_once(kBf16));
    }
}

TEST(AddmmOnDevice, NanStaysInItsRowOfXAndColumnOfW) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  const auto args = args_of(memory, {kBf16, 150, 96, 160});
  test::fill(test::columns_of(test::rows_of(args.x, 70, 1), 50, 1), std::nan(""));
  test::fill(test::columns_of(test::rows_of(args.w, 3, 1), 130, 1), std::nan(""));
  test::expect_correct(memory, args, &hstu_addmm_args::z, test::rounded_once(kBf16));
}

TEST(AddmmOnDevice, BroadcastResidual) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  auto args = args_of(memory, {kBf16, 150, 96, 160, Bias::residual});
  args.y.stride[0] = 0;
  test::expect_correct(memory, args, &hstu_addmm_args::z, test::rounded_once(kBf16));
}

TEST(AddmmOnDevice, RefusesF32) {
  HSTU_NEEDS_RESULTS();
  if (test::test_device()->cpu) GTEST_SKIP() << "the reference takes f32";
  HostMemory memory;
  const auto args = args_of(memory, {kF32, 20, 32, 40});
  const test::DeviceCall call(memory, Op::addmm, &args);
  EXPECT_EQ(call.status(), HSTU_ERROR_UNSUPPORTED) << call.error();
}

}  // namespace
}  // namespace hstujit
