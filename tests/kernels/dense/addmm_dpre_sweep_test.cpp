// The gradient through a product's activation on the device against the oracle: activations and types, flat and strided
// rows, lengths that no access divides, some columns only, and in the place of either input.
#include "operators/dense/addmm_dpre.hpp"
#include "support/device_call.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace hstujit {
namespace {

using test::HostMemory;
using test::Layout;
using Args = hstu_addmm_dpre_args;

constexpr hstu_dtype kF32 = HSTU_DTYPE_F32, kF16 = HSTU_DTYPE_F16, kBf16 = HSTU_DTYPE_BF16;
constexpr hstu_activation kActivations[] = {HSTU_ACTIVATION_SILU, HSTU_ACTIVATION_GELU, HSTU_ACTIVATION_GELU_TANH};

enum class Place { apart, dout, pre };

struct Case {
  hstu_dtype dtype;
  hstu_activation activation;
  int64_t m, n, columns = 0;
  Place place = Place::apart;
  Layout pre{}, dout{}, dpre{};
};

std::string name_of_case(const Case& c) {
  const auto layout = [](const Layout& l) { return fmt::format("p{}s{}", l.row_padding, l.shift); };
  return fmt::format("{}_act{}_{}x{}_c{}_at{}_{}_{}_{}", name_of(c.dtype), static_cast<int>(c.activation), c.m, c.n,
                     c.columns, static_cast<int>(c.place), layout(c.pre), layout(c.dout), layout(c.dpre));
}
void PrintTo(const Case& c, std::ostream* out) { *out << name_of_case(c); }

Args args_of(HostMemory& memory, const Case& c) {
  auto args = sized<Args>();
  args.pre = memory.random(c.dtype, {c.m, c.n}, c.pre, 0, 3);
  args.dout = memory.random(c.dtype, {c.m, c.n}, c.dout);
  args.dpre = c.place == Place::dout  ? args.dout
              : c.place == Place::pre ? args.pre
                                      : memory.poison(c.dtype, {c.m, c.n}, c.dpre);
  args.activation = c.activation;
  args.activation_columns = c.columns;
  return args;
}

class AddmmDpreSweep : public testing::TestWithParam<Case> {};

TEST_P(AddmmDpreSweep, EqualsTheOracle) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  const Case& c = GetParam();
  const bool few = c.n < static_cast<int64_t>(test::kFewElements);
  test::expect_correct(memory, args_of(memory, c), &Args::dpre,
                       few ? test::rounded_once_of_few(c.dtype) : test::rounded_once(c.dtype));
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const hstu_activation activation : kActivations)
    for (const hstu_dtype dtype : {kBf16, kF16, kF32}) {
      all.push_back({dtype, activation, 300, 512});
      all.push_back({dtype, activation, 77, 131});
      all.push_back({dtype, activation, 150, 256, 100});
      all.push_back({dtype, activation, 150, 256, 1, Place::dout});
      all.push_back({dtype, activation, 150, 256, 129, Place::dout});
      all.push_back({dtype, activation, 150, 256, 129, Place::pre});
      all.push_back({dtype, activation, 60, 200, 0, Place::dout});
      all.push_back({dtype, activation, 60, 200, 0, Place::pre});
    }
  for (const hstu_dtype dtype : {kBf16, kF32}) {
    all.push_back({dtype, HSTU_ACTIVATION_SILU, 1, 1});
    all.push_back({dtype, HSTU_ACTIVATION_SILU, 1, 9});
    all.push_back({dtype, HSTU_ACTIVATION_SILU, 0, 40});
    all.push_back({dtype, HSTU_ACTIVATION_SILU, 3, 5000});
    all.push_back({dtype, HSTU_ACTIVATION_SILU, 5000, 3});
    all.push_back({dtype, HSTU_ACTIVATION_GELU, 40, 96, 0, Place::apart, {.row_padding = 8}, {}, {}});
    all.push_back({dtype, HSTU_ACTIVATION_GELU, 40, 96, 0, Place::apart, {}, {.row_padding = 4}, {}});
    all.push_back({dtype, HSTU_ACTIVATION_GELU, 40, 96, 50, Place::apart, {}, {}, {.row_padding = 2}});
    all.push_back({dtype, HSTU_ACTIVATION_GELU, 40, 96, 95, Place::apart, {.shift = 1}, {}, {}});
    all.push_back({dtype, HSTU_ACTIVATION_GELU, 40, 96, 33, Place::dout, {}, {.row_padding = 416}, {}});
    all.push_back({dtype, HSTU_ACTIVATION_GELU, 40, 95, 0, Place::apart, {}, {.shift = 2}, {.shift = 4}});
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(Cases, AddmmDpreSweep, testing::ValuesIn(cases()),
                         [](const auto& each) { return name_of_case(each.param); });

/// Slopes of 0 and 1, of numbers whose squares are none.
TEST(AddmmDpre, TakesInfinitiesAndNan) {
  HSTU_NEEDS_RESULTS();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const hstu_dtype dtype : {kBf16, kF16, kF32})
    for (const hstu_activation activation : kActivations) {
      SCOPED_TRACE(fmt::format("{} {}", name_of(dtype), static_cast<int>(activation)));
      HostMemory memory;
      const Args args = args_of(memory, {dtype, activation, 2, 64});
      const double pre[] = {kInfinity, -kInfinity, std::nan(""), 60000, -60000};
      store(args.pre, 0, 5, pre);
      test::DeviceCall call(memory, Op::addmm_dpre, &args);
      ASSERT_EQ(call.status(), HSTU_OK) << call.error();
      const std::vector<double> dout = test::values(args.dout), dpre = test::values(call.after(args.dpre));
      EXPECT_EQ(dpre[0], dout[0]);
      EXPECT_NEAR(dpre[1], 0, 1e-30);
      EXPECT_TRUE(std::isnan(dpre[2]));
      EXPECT_EQ(dpre[3], dout[3]);
      EXPECT_NEAR(dpre[4], 0, 1e-30);
    }
}

}  // namespace
}  // namespace hstujit
