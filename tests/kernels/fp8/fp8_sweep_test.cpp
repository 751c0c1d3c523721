// The FP8 quantisers on the device against the reference: every unit, type and width of access, ragged edges, strides,
// special values. Quantised bits and scales must be the reference's own.
#include "support/device_call.hpp"

#include <fmt/format.h>

namespace hstujit {
namespace {

using test::HostMemory;
using test::Layout;

constexpr hstu_dtype kF32 = HSTU_DTYPE_F32, kF16 = HSTU_DTYPE_F16, kBf16 = HSTU_DTYPE_BF16, kE4m3 = HSTU_DTYPE_E4M3,
                     kE5m2 = HSTU_DTYPE_E5M2;
constexpr test::Tolerance kSameBits{0, 0};

enum class Extra { none, power_of_two, static_scale, nan, bound };

struct Case {
  hstu_dtype dtype, fp8;
  hstu_fp8_scaling scaling;
  int64_t rows, columns;
  Extra extra = Extra::none;
  Layout x{}, q{};
};

std::string name_of_case(const Case& c) {
  return fmt::format("{}_{}_s{}_{}x{}_e{}_p{}s{}_p{}s{}", name_of(c.dtype), name_of(c.fp8), static_cast<int>(c.scaling),
                     c.rows, c.columns, static_cast<int>(c.extra), c.x.row_padding, c.x.shift, c.q.row_padding,
                     c.q.shift);
}
void PrintTo(const Case& c, std::ostream* out) { *out << name_of_case(c); }

hstu_tensor descale_of(HostMemory& memory, const Case& c, bool random) {
  const auto make = [&](std::initializer_list<int64_t> shape) {
    return random ? memory.random(kF32, shape, {}, 1, 0.2) : memory.poison(kF32, shape);
  };
  const int64_t groups = (c.columns + 127) / 128, blocks = (c.rows + 127) / 128;
  switch (c.scaling) {
    case HSTU_FP8_TENSOR:
      return make({1});
    case HSTU_FP8_ROW:
      return make({c.rows});
    case HSTU_FP8_GROUP:
      return make({c.rows, groups});
    case HSTU_FP8_BLOCK:
      return make({blocks, groups});
  }
  return {};
}

hstu_quantize_fp8_args quantize_args(HostMemory& memory, const Case& c) {
  hstu_quantize_fp8_args args{};
  args.struct_size = sizeof args;
  args.x = memory.random(c.dtype, {c.rows, c.columns}, c.x);
  args.q = memory.poison(c.fp8, {c.rows, c.columns}, c.q);
  args.descale = descale_of(memory, c, false);
  args.scaling = c.scaling;
  if (c.extra == Extra::static_scale) args.static_descale = memory.floats({0.0123f});
  if (c.scaling == HSTU_FP8_TENSOR && c.extra != Extra::static_scale) args.amax = memory.random(kF32, {256});
  args.power_of_two = c.extra == Extra::power_of_two;
  if (c.extra == Extra::bound) args.amax_bound = 1.5f;
  if (c.extra == Extra::nan) {
    test::fill(test::columns_of(test::rows_of(args.x, c.rows / 2, 1), c.columns / 3, 1), std::nan(""));
    test::fill(test::columns_of(test::rows_of(args.x, c.rows / 3, 1), c.columns / 2, 1), HUGE_VAL);
  }
  return args;
}

std::vector<std::byte> bytes_of(const hstu_tensor& t) {
  std::vector<std::byte> bytes;
  test::for_each_run(t, [&](int64_t offset, int64_t count) {
    const auto* from = static_cast<const std::byte*>(t.data) + offset * size_of(t.dtype);
    bytes.insert(bytes.end(), from, from + count * size_of(t.dtype));
  });
  return bytes;
}

class QuantizeSweep : public testing::TestWithParam<Case> {};

TEST_P(QuantizeSweep, HasTheBitsOfTheReference) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  auto args = quantize_args(memory, GetParam());
  if (GetParam().extra == Extra::nan) {  // the oracle's comparison takes NaN for "not written"
    test::DeviceCall call(memory, Op::quantize_fp8, &args);
    ASSERT_EQ(call.status(), HSTU_OK) << call.error();
    if (test::test_device()->compile_only) GTEST_SKIP() << "compiled, not run";
    const auto q = bytes_of(call.after(args.q));
    const auto descale = test::values(call.after(args.descale));
    prepare(args);
    reference::run(args);
    const auto expected = bytes_of(args.q);
    for (size_t i = 0; i < q.size(); ++i) {
      const auto is_nan = [&](std::byte b) {
        const auto bits = static_cast<uint8_t>(b);
        return std::isnan(args.q.dtype == kE4m3 ? E4m3::widen(bits) : E5m2::widen(bits));
      };
      EXPECT_TRUE(q[i] == expected[i] || (is_nan(q[i]) && is_nan(expected[i]))) << i;
    }
    const auto scales = test::values(args.descale);
    for (size_t i = 0; i < scales.size(); ++i)
      EXPECT_TRUE(scales[i] == descale[i] || (std::isnan(scales[i]) && std::isnan(descale[i]))) << i;
    return;
  }
  test::expect_correct(memory, args,
                       {{&hstu_quantize_fp8_args::q, kSameBits}, {&hstu_quantize_fp8_args::descale, kSameBits}});
}

std::vector<Case> quantize_cases() {
  constexpr auto kTensor = HSTU_FP8_TENSOR, kRow = HSTU_FP8_ROW, kGroup = HSTU_FP8_GROUP, kBlock = HSTU_FP8_BLOCK;
  std::vector<Case> cases;
  for (const hstu_fp8_scaling scaling : {kTensor, kRow, kGroup, kBlock}) {
    cases.push_back({kBf16, kE4m3, scaling, 300, 512});
    cases.push_back({kF16, kE5m2, scaling, 129, 200});
    cases.push_back({kF32, kE4m3, scaling, 131, 264});
    cases.push_back({kBf16, kE4m3, scaling, 57, 77});  // odd rows: one element an access
    cases.push_back({kBf16, kE4m3, scaling, 1, 1});
    cases.push_back({kBf16, kE5m2, scaling, 40, 520, Extra::power_of_two});
    cases.push_back({kF32, kE4m3, scaling, 150, 256, Extra::nan});
    cases.push_back({kBf16, kE4m3, scaling, 150, 256, Extra::nan});
    cases.push_back({kF16, kE4m3, scaling, 150, 256, Extra::bound});
    cases.push_back({kBf16, kE4m3, scaling, 140, 256, Extra::none, {.row_padding = 8}, {.row_padding = 16}});
    cases.push_back({kBf16, kE4m3, scaling, 140, 256, Extra::none, {.row_padding = 2}, {.row_padding = 6}});
    cases.push_back({kF16, kE4m3, scaling, 140, 256, Extra::none, {.shift = 4}});
    cases.push_back({kF16, kE4m3, scaling, 140, 256, Extra::none, {}, {.shift = 1}});
    cases.push_back({kF32, kE5m2, scaling, 0, 256});
    cases.push_back({kF32, kE5m2, scaling, 30, 0});
  }
  cases.push_back({kBf16, kE4m3, kTensor, 300, 512, Extra::static_scale});
  cases.push_back({kF32, kE5m2, kTensor, 33, 41, Extra::static_scale, {.row_padding = 1}});
  for (const int64_t columns : {3, 64, 1000, 2048, 5000, 9001, 40000, 70000, 90001})
    cases.push_back({kBf16, kE4m3, kRow, 11, columns});
  cases.push_back({kF32, kE4m3, kRow, 5, 40000});
  return cases;
}
const auto kNameOf = [](const auto& info) { return name_of_case(info.param); };
INSTANTIATE_TEST_SUITE_P(Cases, QuantizeSweep, testing::ValuesIn(quantize_cases()), kNameOf);

TEST(QuantizeOnDevice, TransposedDescales) {
  HSTU_NEEDS_RESULTS();
  HostMemory memory;
  auto args = quantize_args(memory, {kBf16, kE4m3, HSTU_FP8_GROUP, 100, 512});
  const hstu_tensor stored = memory.poison(kF32, {4, 100}, {.row_padding = 4});
  args.descale = test::transposed(stored);
  test::DeviceCall call(memory, Op::quantize_fp8, &args);
  ASSERT_EQ(call.status(), HSTU_OK) << call.error();
  const auto got = test::values(call.after(stored));
  prepare(args);
  reference::run(args);
  EXPECT_EQ(got, test::values(stored));
}

TEST(QuantizeOnDevice, DynamicScaleOfATensorTakesTwoCalls) {
  HSTU_NEEDS_RESULTS();
  for (const Layout layout : {Layout{}, Layout{.row_padding = 3}}) {
    HostMemory memory;
    auto args = quantize_args(memory, {kBf16, kE4m3, HSTU_FP8_TENSOR, 333, 257, Extra::none, layout});
    test::fill(args.amax, std::nan(""));  // to be written
    const auto dynamic = [](const void* moved) {
      return hstu_quantize_fp8_dynamic(test::test_device()->context, static_cast<const hstu_quantize_fp8_args*>(moved),
                                       nullptr);
    };
    test::DeviceCall call(memory, Op::quantize_fp8, &args, dynamic);
    ASSERT_EQ(call.status(), HSTU_OK) << call.error();
    const auto q = bytes_of(call.after(args.q));
    const auto descale = test::values(call.after(args.descale));
    hstu_fp8_amax_args amax{sizeof(hstu_fp8_amax_args), args.x, args.amax};
    prepare(amax);
    reference::run(amax);
    prepare(args);
    reference::run(args);
    EXPECT_EQ(q, bytes_of(args.q));
    EXPECT_EQ(descale, test::values(args.descale));
  }
}

class AmaxSweep : public testing::TestWithParam<Case> {};

TEST_P(AmaxSweep, HasTheBitsOfTheReference) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  hstu_fp8_amax_args args{};
  args.struct_size = sizeof args;
  args.x = memory.random(GetParam().dtype, {GetParam().rows, GetParam().columns}, GetParam().x);
  args.amax = memory.poison(kF32, {HSTU_FP8_AMAX_PARTS});
  test::expect_correct(memory, args, &hstu_fp8_amax_args::amax, kSameBits);
}
INSTANTIATE_TEST_SUITE_P(
    Cases, AmaxSweep,
    testing::Values(Case{kBf16, kE4m3, HSTU_FP8_TENSOR, 300, 512}, Case{kF16, kE4m3, HSTU_FP8_TENSOR, 1000, 1000},
                    Case{kF32, kE4m3, HSTU_FP8_TENSOR, 333, 77}, Case{kBf16, kE4m3, HSTU_FP8_TENSOR, 333, 77},
                    Case{kBf16, kE4m3, HSTU_FP8_TENSOR, 333, 72, Extra::none, {.row_padding = 4}},
                    Case{kF32, kE4m3, HSTU_FP8_TENSOR, 5, 3, Extra::none, {.row_padding = 1}},
                    Case{kF32, kE4m3, HSTU_FP8_TENSOR, 0, 64}, Case{kBf16, kE4m3, HSTU_FP8_TENSOR, 64, 0},
                    Case{kF16, kE4m3, HSTU_FP8_TENSOR, 2, 100000}),
    kNameOf);

class DequantizeSweep : public testing::TestWithParam<Case> {};

TEST_P(DequantizeSweep, EqualsTheOracle) {
  HSTU_NEEDS_DEVICE();
  const Case& c = GetParam();
  HostMemory memory;
  hstu_dequantize_fp8_args args{};
  args.struct_size = sizeof args;
  args.q = memory.random(c.fp8, {c.rows, c.columns}, c.q);
  args.descale = descale_of(memory, c, true);
  args.x = memory.poison(c.dtype, {c.rows, c.columns}, c.x);
  args.scaling = c.scaling;
  test::expect_correct(memory, args, &hstu_dequantize_fp8_args::x, test::rounded_once(c.dtype));
}

std::vector<Case> dequantize_cases() {
  std::vector<Case> cases;
  for (const hstu_fp8_scaling scaling : {HSTU_FP8_TENSOR, HSTU_FP8_ROW, HSTU_FP8_GROUP, HSTU_FP8_BLOCK}) {
    cases.push_back({kBf16, kE4m3, scaling, 300, 512});
    cases.push_back({kF16, kE5m2, scaling, 129, 200});
    cases.push_back({kF32, kE4m3, scaling, 131, 264});
    cases.push_back({kBf16, kE5m2, scaling, 57, 77});
    cases.push_back({kF32, kE4m3, scaling, 40, 256, Extra::none, {.row_padding = 2}, {.row_padding = 3}});
    cases.push_back({kF16, kE4m3, scaling, 140, 256, Extra::none, {.shift = 4}});
    cases.push_back({kF16, kE4m3, scaling, 140, 256, Extra::none, {}, {.shift = 2}});
    cases.push_back({kBf16, kE4m3, scaling, 0, 256});
  }
  return cases;
}
INSTANTIATE_TEST_SUITE_P(Cases, DequantizeSweep, testing::ValuesIn(dequantize_cases()), kNameOf);

TEST(DequantizeOnDevice, EveryCode) {
  HSTU_NEEDS_RESULTS();
  for (const hstu_dtype fp8 : {kE4m3, kE5m2}) {
    HostMemory memory;
    hstu_dequantize_fp8_args args{};
    args.struct_size = sizeof args;
    args.q = memory.poison(fp8, {1, 256});
    for (int code = 0; code < 256; ++code) static_cast<uint8_t*>(args.q.data)[code] = static_cast<uint8_t>(code);
    args.descale = memory.floats({1});
    args.x = memory.poison(kF32, {1, 256});
    args.scaling = HSTU_FP8_TENSOR;
    test::DeviceCall call(memory, Op::dequantize_fp8, &args);
    ASSERT_EQ(call.status(), HSTU_OK) << call.error();
    const auto x = test::values(call.after(args.x)), expected = test::values(args.q);
    for (size_t code = 0; code < 256; ++code)
      EXPECT_TRUE(x[code] == expected[code] || (std::isnan(x[code]) && std::isnan(expected[code]))) << code;
  }
}

}  // namespace
}  // namespace hstujit
