// Softmax and log-softmax on the device against the oracle.
#include "support/device_call.hpp"

#include <fmt/format.h>

#include <limits>

namespace hstujit {
namespace {

using test::HostMemory;
using test::Layout;

constexpr hstu_dtype kF32 = HSTU_DTYPE_F32, kF16 = HSTU_DTYPE_F16, kBf16 = HSTU_DTYPE_BF16;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Case {
  hstu_dtype dtype;
  int64_t rows, dim;
  int32_t log = 0;
  double mean = 0, deviation = 3;
  Layout x{}, y{};
};

std::string name_of_case(const Case& c) {
  return fmt::format("{}_{}x{}{}_mean{}_dev{}_pad{}_{}_shift{}_{}", name_of(c.dtype), c.rows, c.dim,
                     c.log ? "_log" : "", c.mean, c.deviation, c.x.row_padding, c.y.row_padding, c.x.shift, c.y.shift);
}

void PrintTo(const Case& c, std::ostream* out) { *out << name_of_case(c); }

hstu_softmax_args args_of(HostMemory& memory, const Case& c) {
  hstu_softmax_args args{};
  args.struct_size = sizeof args;
  args.x = memory.random(c.dtype, {c.rows, c.dim}, c.x, c.mean, c.deviation);
  args.out = memory.poison(c.dtype, {c.rows, c.dim}, c.y);
  args.log = c.log;
  return args;
}

class SoftmaxSweep : public testing::TestWithParam<Case> {};

TEST_P(SoftmaxSweep, EqualsTheOracle) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  const Case& c = GetParam();
  test::expect_correct(memory, args_of(memory, c), &hstu_softmax_args::out, test::rounded_once(c.dtype));
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const int32_t log : {0, 1}) {
    for (const int64_t dim : {1, 2, 7, 8, 33, 100, 128, 512, 781, 1000, 1024, 2048, 4096, 16384, 16385, 70001})
      all.push_back({kBf16, dim > 5000 ? 3 : 67, dim, log});
    for (const int64_t dim : {3, 96, 512, 1028, 5000, 40000}) {
      all.push_back({kF32, 35, dim, log});
      all.push_back({kF16, 35, dim, log});
    }
    all.push_back({kF32, 40, 512, log, 1000, 1});
    all.push_back({kF32, 40, 512, log, 0, 100});
    all.push_back({kF32, 3, 20000, log, 0, 30});
  }
  all.push_back({kF32, 1823, 781});
  all.push_back({kBf16, 1, 512});
  all.push_back({kBf16, 5000, 256});
  for (const Layout& layout : {Layout{.row_padding = 512}, {.row_padding = 4}, {.row_padding = 1}, {.shift = 2}}) {
    all.push_back({kBf16, 40, 512, 0, 0, 3, layout});
    all.push_back({kBf16, 40, 512, 0, 0, 3, {}, layout});
  }
  return all;
}

const auto kNameOf = [](const auto& info) {
  std::string name = name_of_case(info.param);
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
};
INSTANTIATE_TEST_SUITE_P(Cases, SoftmaxSweep, testing::ValuesIn(cases()), kNameOf);

TEST(SoftmaxOnDevice, MayWorkInPlace) {
  HSTU_NEEDS_DEVICE();
  for (const int64_t dim : {7, 512, 4096, 40000}) {
    HostMemory memory;
    auto args = args_of(memory, {kBf16, 37, dim});
    args.out = args.x;
    test::expect_correct(memory, args, &hstu_softmax_args::out, test::rounded_once(kBf16));
  }
}

TEST(SoftmaxOnDevice, MinusInfinityWeighsNothing) {
  HSTU_NEEDS_DEVICE();
  for (const int64_t dim : {96, 512, 40000}) {
    HostMemory memory;
    const auto args = args_of(memory, {kBf16, 9, dim});
    test::fill(test::columns_of(args.x, 0, dim / 2), -kInfinity);  // of whole warps, too
    test::expect_correct(memory, args, &hstu_softmax_args::out, test::rounded_once(kBf16));
  }
}

TEST(SoftmaxOnDevice, EmptyRowsAreNanOrZero) {
  HSTU_NEEDS_RESULTS();
  for (const int64_t dim : {5, 512, 40000}) {
    HostMemory memory;
    auto args = args_of(memory, {kF32, 4, dim});
    test::fill(test::rows_of(args.x, 1, 2), -kInfinity);
    test::expect_correct(memory, args, &hstu_softmax_args::out, test::rounded_once(kF32));
    args.zero_empty_rows = 1;
    test::expect_correct(memory, args, &hstu_softmax_args::out, test::rounded_once(kF32));
    args.log = 1;
    test::DeviceCall call(memory, Op::softmax, &args);
    ASSERT_EQ(call.status(), HSTU_OK) << call.error();
    for (const double y : test::values(test::rows_of(call.after(args.out), 1, 2))) EXPECT_EQ(y, -kInfinity);
  }
}

TEST(SoftmaxOnDevice, NanStaysInItsRow) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  const auto args = args_of(memory, {kBf16, 70, 512});
  test::fill(test::columns_of(test::rows_of(args.x, 33, 1), 100, 1), std::nan(""));
  test::expect_correct(memory, args, &hstu_softmax_args::out, test::rounded_once(kBf16));
}

TEST(SoftmaxOnDevice, NothingToDo) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  test::expect_correct(memory, args_of(memory, {kBf16, 0, 512}), &hstu_softmax_args::out, test::rounded_once(kBf16));
}

}  // namespace
}  // namespace hstujit
