// RMS, swish and group norm on the device against the oracle. Their kernels share layer norm's body, which has a sweep
// of its own; here are the lengths, types and layouts at which their configurations differ.
#include "support/device_call.hpp"

#include <fmt/format.h>

namespace hstujit {
namespace {

using test::HostMemory;
using test::Layout;

constexpr hstu_dtype kF32 = HSTU_DTYPE_F32, kF16 = HSTU_DTYPE_F16, kBf16 = HSTU_DTYPE_BF16, kNone = HSTU_DTYPE_NONE;

struct Case {
  hstu_dtype dtype, weight;
  int64_t rows, dim;
  int32_t groups = 1;  ///< of group norm
  bool silu = false;   ///< of RMS norm
  Layout x{}, y{}, weights{};
  double mean = 0, deviation = 1;
};

std::string name_of_case(const Case& c) {
  return fmt::format("{}_{}_{}x{}_g{}_{}pad{}_{}_shift{}_{}_{}_mean{}_dev{}", name_of(c.dtype), name_of(c.weight),
                     c.rows, c.dim, c.groups, c.silu ? "silu_" : "", c.x.row_padding, c.y.row_padding, c.x.shift,
                     c.y.shift, c.weights.shift, c.mean, c.deviation * 1000);
}

void PrintTo(const Case& c, std::ostream* out) { *out << name_of_case(c); }

template <class Args>
Args args_of(HostMemory& memory, const Case& c) {
  Args args{};
  args.struct_size = sizeof args;
  args.x = memory.random(c.dtype, {c.rows, c.dim}, c.x, c.mean, c.deviation);
  args.out = memory.poison(c.dtype, {c.rows, c.dim}, c.y);
  int64_t weights = c.dim;
  if constexpr (requires { args.num_groups; }) weights = args.num_groups = c.groups;
  if constexpr (requires { args.activation; }) args.activation = c.silu ? HSTU_ACTIVATION_SILU : HSTU_ACTIVATION_NONE;
  if (c.weight == kNone) return args;
  args.weight = memory.random(c.weight, {weights}, c.weights, 1, 0.3);
  if constexpr (requires { args.bias; }) args.bias = memory.random(c.weight, {weights}, c.weights);
  return args;
}

template <class Args>
void check(const Case& c) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  test::expect_correct(memory, args_of<Args>(memory, c), &Args::out,
                       c.dim < 32 ? test::rounded_once_of_few(c.dtype) : test::rounded_once(c.dtype));
}

class RmsNormSweep : public testing::TestWithParam<Case> {};
class SwishLayerNormSweep : public testing::TestWithParam<Case> {};
class GroupNormSweep : public testing::TestWithParam<Case> {};

TEST_P(RmsNormSweep, EqualsTheOracle) { check<hstu_rms_norm_args>(GetParam()); }
TEST_P(SwishLayerNormSweep, EqualsTheOracle) { check<hstu_swish_layer_norm_args>(GetParam()); }
TEST_P(GroupNormSweep, EqualsTheOracle) { check<hstu_group_norm_args>(GetParam()); }

/// Lengths, types and layouts for the norms over whole rows.
std::vector<Case> rows() {
  std::vector<Case> cases;
  for (const int64_t dim : {1, 7, 64, 100, 128, 256, 512, 1000, 1024, 4096, 8192})
    cases.push_back({kBf16, kBf16, 67, dim});
  for (const int64_t dim : {3, 96, 512, 1028, 4096}) {
    cases.push_back({kF32, kF32, 35, dim});
    cases.push_back({kF16, kF16, 35, dim});
  }
  for (const int64_t dim : {16384, 70001}) cases.push_back({kBf16, kF32, 3, dim});
  cases.push_back({kF32, kF32, 2, 40000});
  for (const hstu_dtype weight : {kNone, kF32, kF16}) cases.push_back({kBf16, weight, 50, 512});
  for (const int64_t count : {1, 2, 3000}) cases.push_back({kBf16, kBf16, count, 512});
  const Case base{kBf16, kBf16, 40, 512};
  for (const Layout& layout : {Layout{.row_padding = 512}, {.row_padding = 4}, {.row_padding = 1}, {.shift = 2}}) {
    cases.push_back(base);
    cases.back().x = layout;
    cases.push_back(base);
    cases.back().y = layout;
  }
  cases.push_back(base);
  cases.back().weights.shift = 4;
  cases.push_back(base);
  cases.back().mean = 20;
  cases.push_back({kBf16, kF32, 40, 512});
  cases.back().deviation = 1e-3;
  return cases;
}

std::vector<Case> with_silu() {
  std::vector<Case> cases;
  for (const int64_t dim : {5, 128, 512, 2048, 20001})
    for (const hstu_dtype dtype : {kF32, kF16, kBf16}) cases.push_back({dtype, dtype, 33, dim, 1, true});
  return cases;
}

/// 16-bit rows with weights of f32, in lengths of which a team's last access has a part: weights go through shared
/// memory for some, and end there with the row.
std::vector<Case> wide_weights() {
  std::vector<Case> cases;
  for (const int64_t dim : {24, 40, 104, 136, 304, 416, 420, 472, 504, 1016, 2600, 4984})
    for (const hstu_dtype dtype : {kBf16, kF16})
      for (const int64_t count : {3, 108}) cases.push_back({dtype, kF32, count, dim});
  return cases;
}

std::vector<Case> groups() {
  std::vector<Case> cases;
  for (const auto& [count, dim] : {std::pair<int32_t, int64_t>{1, 512},
                                   {2, 512},
                                   {4, 512},
                                   {8, 512},
                                   {3, 21},
                                   {16, 16},
                                   {4, 100},
                                   {8, 1024},
                                   {2, 40000},
                                   {512, 512}})
    for (const hstu_dtype dtype : {kF32, kF16, kBf16}) cases.push_back({dtype, dtype, 35, dim, count});
  cases.push_back({kBf16, kNone, 50, 512, 4});
  cases.push_back({kBf16, kF32, 50, 512, 4});
  cases.push_back({kBf16, kBf16, 1, 512, 4});
  cases.push_back({kBf16, kBf16, 3001, 256, 4});
  cases.push_back({kBf16, kBf16, 40, 512, 4, false, {.row_padding = 4}, {.row_padding = 512}, {.shift = 1}});
  cases.push_back({kBf16, kBf16, 40, 512, 4, false, {.shift = 1}, {.row_padding = 3}});
  cases.push_back({kBf16, kF32, 40, 512, 4, false, {}, {}, {}, 20});
  return cases;
}

const auto kNameOf = [](const auto& info) {
  std::string name = fmt::format("{}_{}", info.index, name_of_case(info.param));
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
};
INSTANTIATE_TEST_SUITE_P(Rows, RmsNormSweep, testing::ValuesIn(rows()), kNameOf);
INSTANTIATE_TEST_SUITE_P(Silu, RmsNormSweep, testing::ValuesIn(with_silu()), kNameOf);
INSTANTIATE_TEST_SUITE_P(WideWeights, RmsNormSweep, testing::ValuesIn(wide_weights()), kNameOf);
INSTANTIATE_TEST_SUITE_P(Rows, SwishLayerNormSweep, testing::ValuesIn(rows()), kNameOf);
INSTANTIATE_TEST_SUITE_P(WideWeights, SwishLayerNormSweep, testing::ValuesIn(wide_weights()), kNameOf);
INSTANTIATE_TEST_SUITE_P(Groups, GroupNormSweep, testing::ValuesIn(groups()), kNameOf);

template <class Args>
void check_in_place() {
  HSTU_NEEDS_DEVICE();
  for (const int64_t dim : {8, 512, 16384, 40000}) {
    HostMemory memory;
    auto args = args_of<Args>(memory, {kBf16, kBf16, 37, dim, 4});
    args.out = args.x;
    test::expect_correct(memory, args, &Args::out, test::rounded_once(kBf16));
  }
}

TEST(NormsOnDevice, MayWorkInPlace) {
  check_in_place<hstu_rms_norm_args>();
  check_in_place<hstu_swish_layer_norm_args>();
  check_in_place<hstu_group_norm_args>();
}

TEST(NormsOnDevice, ConstantAndZeroRowsHaveNoNan) {
  HSTU_NEEDS_DEVICE();
  for (const double value : {0.0, 3.0}) {
    HostMemory memory;
    const Case c{kBf16, kBf16, 9, 512, 4};
    const auto rms = args_of<hstu_rms_norm_args>(memory, c);
    const auto swish = args_of<hstu_swish_layer_norm_args>(memory, c);
    const auto group = args_of<hstu_group_norm_args>(memory, c);
    for (const hstu_tensor& x : {rms.x, swish.x, group.x}) test::fill(x, value);
    test::expect_correct(memory, rms, &hstu_rms_norm_args::out, test::rounded_once(kBf16));
    test::expect_correct(memory, swish, &hstu_swish_layer_norm_args::out, test::rounded_once(kBf16));
    test::expect_correct(memory, group, &hstu_group_norm_args::out, test::rounded_once(kBf16));
  }
}

TEST(NormsOnDevice, NanStaysInItsGroup) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  const auto args = args_of<hstu_group_norm_args>(memory, {kBf16, kBf16, 70, 512, 4});
  test::fill(test::columns_of(test::rows_of(args.x, 33, 1), 130, 1), std::nan(""));
  test::expect_correct(memory, args, &hstu_group_norm_args::out, test::rounded_once(kBf16));
}

TEST(NormsOnDevice, NothingToDo) {
  for (const Case& c : {Case{kBf16, kBf16, 0, 512}, Case{kBf16, kBf16, 5, 0}}) {
    check<hstu_rms_norm_args>(c);
    check<hstu_swish_layer_norm_args>(c);
    check<hstu_group_norm_args>(c);
  }
}

}  // namespace
}  // namespace hstujit
