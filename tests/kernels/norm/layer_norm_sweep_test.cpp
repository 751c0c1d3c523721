// Layer norm on the device against the oracle: lengths from one element to rows that fit no register file, types,
// layouts that break alignment step by step, and rows whose statistics are hard.
#include "support/norm_gradients.hpp"

#include <fmt/format.h>

namespace hstujit {
namespace {

using test::HostMemory;
using test::Layout;

constexpr hstu_dtype kF32 = HSTU_DTYPE_F32, kF16 = HSTU_DTYPE_F16, kBf16 = HSTU_DTYPE_BF16, kNone = HSTU_DTYPE_NONE;

struct Case {
  hstu_dtype dtype, weight;
  int64_t rows, dim;
  Layout x{}, y{}, weights{};
  double mean = 0, deviation = 1;
  float eps = 0;
};

std::string name_of_case(const Case& c) {
  return fmt::format("{}_{}_{}x{}_pad{}_{}_shift{}_{}_{}_mean{}_dev{}", name_of(c.dtype), name_of(c.weight), c.rows,
                     c.dim, c.x.row_padding, c.y.row_padding, c.x.shift, c.y.shift, c.weights.shift, c.mean,
                     c.deviation * 1000);
}

void PrintTo(const Case& c, std::ostream* out) { *out << name_of_case(c); }

hstu_layer_norm_args args_of(HostMemory& memory, const Case& c) {
  hstu_layer_norm_args args{};
  args.struct_size = sizeof args;
  args.x = memory.random(c.dtype, {c.rows, c.dim}, c.x, c.mean, c.deviation);
  args.out = memory.poison(c.dtype, {c.rows, c.dim}, c.y);
  args.eps = c.eps;
  if (c.weight == kNone) return args;
  args.weight = memory.random(c.weight, {c.dim}, c.weights, 1, 0.3);
  args.bias = memory.random(c.weight, {c.dim}, c.weights);
  return args;
}

class LayerNormSweep : public testing::TestWithParam<Case> {};

TEST_P(LayerNormSweep, EqualsTheOracle) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  const auto args = args_of(memory, GetParam());
  test::expect_correct(memory, args, &hstu_layer_norm_args::out, test::rounded_once(GetParam().dtype));
}

/// And out is, to the bit, what it is without them.
TEST_P(LayerNormSweep, LeavesItsMoments) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  auto args = args_of(memory, GetParam());
  const test::Tolerance tolerance = test::rounded_once(GetParam().dtype);
  test::DeviceCall without(memory, Op::layer_norm, &args);
  args.moments = memory.poison(kF32, {GetParam().rows, 1, 2});
  test::expect_correct<hstu_layer_norm_args>(memory, args,
                                             {{&hstu_layer_norm_args::out, tolerance}, test::expected_moments(args)});
  if (IsSkipped()) return;
  test::DeviceCall with(memory, Op::layer_norm, &args);
  EXPECT_EQ(test::values(with.after(args.out)), test::values(without.after(args.out)));
}

std::vector<Case> dims() {
  std::vector<Case> cases;
  for (const int64_t dim : {1, 2, 7, 8, 33, 64, 100, 128, 200, 256, 512, 768, 1000, 1024, 2048})
    cases.push_back({kBf16, kBf16, 67, dim});
  for (const int64_t dim : {3, 96, 512, 1028, 4096}) {
    cases.push_back({kF32, kF32, 35, dim});
    cases.push_back({kF16, kF16, 35, dim});
  }
  for (const int64_t dim : {5000, 8192, 16384, 65536, 70001}) cases.push_back({kBf16, kF32, 3, dim});
  cases.push_back({kF32, kF32, 2, 40000});
  return cases;
}

std::vector<Case> others() {
  return {
      {kBf16, kNone, 50, 512},
      {kF32, kNone, 50, 100},
      {kBf16, kF32, 50, 512},
      {kF16, kF32, 50, 96},
      {kBf16, kF16, 50, 256},
      {kF32, kBf16, 50, 256},
      {kBf16, kBf16, 1, 512},
      {kBf16, kBf16, 2, 512},
      {kBf16, kBf16, 3000, 512},
      {kBf16, kBf16, 20000, 64},
      // Layouts: gaps between rows, full and partial alignment.
      {kBf16, kBf16, 40, 512, {.row_padding = 512}, {.row_padding = 8}},
      {kBf16, kBf16, 40, 512, {.row_padding = 4}, {}},
      {kBf16, kBf16, 40, 512, {}, {.row_padding = 2}},
      {kBf16, kBf16, 40, 512, {.row_padding = 1}, {.row_padding = 3}},
      {kBf16, kBf16, 40, 512, {.shift = 4}, {}},
      {kBf16, kBf16, 40, 512, {}, {.shift = 2}},
      {kBf16, kBf16, 40, 512, {.shift = 1}, {.shift = 3}},
      {kBf16, kBf16, 40, 512, {}, {}, {.shift = 4}},
      {kBf16, kF32, 40, 512, {}, {}, {.shift = 1}},
      {kF32, kF32, 40, 512, {.shift = 1}, {.row_padding = 2}},
      // Statistics: a mean far from zero, tiny and large values, an eps that decides.
      {kF32, kF32, 40, 512, {}, {}, {}, 3},
      {kBf16, kBf16, 40, 512, {}, {}, {}, 20},
      {kBf16, kF32, 40, 512, {}, {}, {}, 0, 1e-3, 1e-2f},
      {kBf16, kF32, 40, 512, {}, {}, {}, 0, 1000},
  };
}

const auto kNameOf = [](const auto& info) {
  std::string name = name_of_case(info.param);
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
};
INSTANTIATE_TEST_SUITE_P(Dims, LayerNormSweep, testing::ValuesIn(dims()), kNameOf);
INSTANTIATE_TEST_SUITE_P(Others, LayerNormSweep, testing::ValuesIn(others()), kNameOf);

TEST(LayerNormOnDevice, MayWorkInPlace) {
  HSTU_NEEDS_DEVICE();
  for (const int64_t dim : {7, 512, 16384}) {
    HostMemory memory;
    auto args = args_of(memory, {kBf16, kBf16, 37, dim});
    args.out = args.x;
    test::expect_correct(memory, args, &hstu_layer_norm_args::out, test::rounded_once(kBf16));
  }
}

TEST(LayerNormOnDevice, ConstantRowsBecomeTheBias) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  const auto args = args_of(memory, {kBf16, kBf16, 9, 512});
  test::fill(args.x, 3);
  test::expect_correct(memory, args, &hstu_layer_norm_args::out, test::rounded_once(kBf16));
}

TEST(LayerNormOnDevice, NanStaysInItsRow) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  const auto args = args_of(memory, {kBf16, kBf16, 70, 512});
  test::fill(test::columns_of(test::rows_of(args.x, 33, 1), 100, 1), std::nan(""));
  test::expect_correct(memory, args, &hstu_layer_norm_args::out, test::rounded_once(kBf16));
}

TEST(LayerNormOnDevice, NothingToDo) {
  HSTU_NEEDS_DEVICE();
  for (const auto& [rows, dim] : {std::pair<int64_t, int64_t>{0, 512}, {5, 0}}) {
    HostMemory memory;
    test::expect_correct(memory, args_of(memory, {kBf16, kBf16, rows, dim}), &hstu_layer_norm_args::out,
                         test::rounded_once(kBf16));
  }
}

}  // namespace
}  // namespace hstujit
