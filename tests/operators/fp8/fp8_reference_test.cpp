// The reference of FP8 operators against their formulas: which elements share a scale, roundings, special values.
#include "operators/operators.hpp"
#include "support/host_tensor.hpp"
#include "support/oracle.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace hstujit {
namespace {

using test::Exact;
using test::exact_result;
using test::HostMemory;

constexpr hstu_dtype kF32 = HSTU_DTYPE_F32, kE4m3 = HSTU_DTYPE_E4M3, kE5m2 = HSTU_DTYPE_E5M2;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInfinity = std::numeric_limits<float>::infinity();

template <class Args>
void run(Args args) {
  args.struct_size = sizeof args;
  prepare(args);
  reference::run(args);
}

float f32_at(const hstu_tensor& t, int64_t i, int64_t j = 0) {
  return static_cast<const float*>(t.data)[i * t.stride[0] + (t.rank == 2 ? j * t.stride[1] : 0)];
}

struct Form {
  const char* name;
  hstu_fp8_scaling scaling;
  int64_t unit_rows, unit_columns;
};
class ReferenceFp8 : public testing::TestWithParam<Form> {
 protected:
  hstu_quantize_fp8_args quantized(HostMemory& memory, int64_t rows, int64_t columns, hstu_dtype fp8) {
    hstu_quantize_fp8_args args{};
    args.x = memory.random(kF32, {rows, columns}, {.row_padding = 3});
    args.q = memory.poison(fp8, {rows, columns}, {.row_padding = 5});
    args.scaling = GetParam().scaling;
    const int64_t down = (rows + GetParam().unit_rows - 1) / GetParam().unit_rows;
    const int64_t across = (columns + GetParam().unit_columns - 1) / GetParam().unit_columns;
    const bool matrix = args.scaling == HSTU_FP8_GROUP || args.scaling == HSTU_FP8_BLOCK;
    args.descale = matrix ? memory.poison(kF32, {down, across}) : memory.poison(kF32, {down});
    if (args.scaling == HSTU_FP8_TENSOR) args.amax = memory.poison(kF32, {256});
    return args;
  }
  void quantize(const hstu_quantize_fp8_args& args) {
    if (args.scaling == HSTU_FP8_TENSOR) run(hstu_fp8_amax_args{0, args.x, args.amax});
    run(args);
  }
};

TEST_P(ReferenceFp8, ScalesAreOfTheirUnits) {
  const int64_t rows = 200, columns = 300;
  HostMemory memory;
  const auto args = quantized(memory, rows, columns, kE4m3);
  quantize(args);
  for (int64_t i = 0; i < rows; i += 7)
    for (int64_t j = 0; j < columns; j += 5) {
      const int64_t unit_i = i / GetParam().unit_rows, unit_j = j / GetParam().unit_columns;
      float greatest = 0;
      for (int64_t r = unit_i * GetParam().unit_rows; r < std::min(rows, (unit_i + 1) * GetParam().unit_rows); ++r)
        for (int64_t c = unit_j * GetParam().unit_columns;
             c < std::min(columns, (unit_j + 1) * GetParam().unit_columns); ++c)
          greatest = std::max(greatest, std::fabs(f32_at(args.x, r, c)));
      EXPECT_EQ(f32_at(args.descale, unit_i, unit_j), greatest / 448);
      const float product = f32_at(args.x, i, j) * (448 / greatest);
      const uint8_t code = static_cast<const uint8_t*>(args.q.data)[i * args.q.stride[0] + j];
      EXPECT_EQ(code, E4m3::round(static_cast<double>(product)));
    }
}

TEST_P(ReferenceFp8, ComesBackWithinItsPrecision) {
  for (const hstu_dtype fp8 : {kE4m3, kE5m2}) {
    HostMemory memory;
    const auto args = quantized(memory, 200, 300, fp8);
    quantize(args);
    hstu_dequantize_fp8_args back{};
    back.q = args.q;
    back.descale = args.descale;
    back.scaling = args.scaling;
    back.x = memory.poison(kF32, {200, 300});
    run(back);
    const float half_ulp = fp8 == kE4m3 ? 1.0f / 16 : 1.0f / 8;
    for (int64_t i = 0; i < 200; ++i)
      for (int64_t j = 0; j < 300; ++j) {
        const float x = f32_at(args.x, i, j);
        const float tiny = 2e-3f;  // below the least normal number the error is absolute
        EXPECT_NEAR(f32_at(back.x, i, j), x, std::max(std::fabs(x) * half_ulp, tiny));
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Scalings, ReferenceFp8,
                         testing::Values(Form{"Tensor", HSTU_FP8_TENSOR, 200, 300}, Form{"Row", HSTU_FP8_ROW, 1, 300},
                                         Form{"Group", HSTU_FP8_GROUP, 1, 128},
                                         Form{"Block", HSTU_FP8_BLOCK, 128, 128}),
                         [](const auto& c) { return std::string(c.param.name); });

/// One row of x under one scale.
struct Row {
  explicit Row(const std::vector<float>& values, hstu_dtype fp8 = kE4m3) {
    args.x = memory.floats(values);
    args.x.rank = 2;
    args.x.shape[0] = 1;
    args.x.shape[1] = static_cast<int64_t>(values.size());
    args.x.stride[0] = args.x.shape[1];
    args.x.stride[1] = 1;
    args.q = memory.poison(fp8, {1, args.x.shape[1]});
    args.descale = memory.poison(kF32, {1});
    args.scaling = HSTU_FP8_ROW;
  }
  std::vector<double> q() {
    run(args);
    return test::values(args.q);
  }
  float descale() const { return f32_at(args.descale, 0); }

  HostMemory memory;
  hstu_quantize_fp8_args args{};
};

TEST(ReferenceQuantize, ZerosHaveTheLeastScale) {
  Row row({0, -0.0f, 0});
  EXPECT_EQ(row.q(), (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(row.descale(), 1e-12f / 448);
}

TEST(ReferenceQuantize, RowsWithoutColumnsHaveTheLeastScale) {
  Row row({});
  row.args.x.data = row.args.q.data = nullptr;
  row.q();
  EXPECT_EQ(row.descale(), 1e-12f / 448);
}

TEST(ReferenceQuantize, BoundSaturates) {
  Row row({1, -100, 2});
  row.args.amax_bound = 2;
  EXPECT_EQ(row.q(), (std::vector<double>{224, -448, 448}));
  EXPECT_EQ(row.descale(), 2.0f / 448);
}

TEST(ReferenceQuantize, PowersOfTwoRoundUp) {
  Row row({3, 448, 449});
  row.args.power_of_two = 1;
  EXPECT_EQ(row.q(), (std::vector<double>{1.5, 224, 224}));  // 224.5 is nearer to 224 than to 240
  EXPECT_EQ(row.descale(), 2.0f);
  Row exact({448, 1});
  exact.args.power_of_two = 1;
  exact.q();
  EXPECT_EQ(exact.descale(), 1.0f);
}

TEST(ReferenceQuantize, NanSpoilsItsUnitAndInfinityItself) {
  Row nan({1, kNan, kInfinity});
  for (const double value : nan.q()) EXPECT_TRUE(std::isnan(value));
  EXPECT_TRUE(std::isnan(nan.descale()));
  Row infinite({1, -kInfinity});
  const auto q = infinite.q();
  EXPECT_EQ(q[0], 0);
  EXPECT_TRUE(std::isnan(q[1]));
  EXPECT_EQ(infinite.descale(), kInfinity);
}

TEST(ReferenceQuantize, GivenScaleIsUsedAndRepeated) {
  Row row({1, 2, -1000}, kE5m2);
  row.args.scaling = HSTU_FP8_TENSOR;
  row.args.static_descale = row.memory.floats({0.5f});
  EXPECT_EQ(row.q(), (std::vector<double>{2, 4, -2048}));
  EXPECT_EQ(row.descale(), 0.5f);
}

TEST(ReferenceAmax, PartsAreEqualStretches) {
  HostMemory memory;
  const hstu_tensor x = memory.random(kF32, {70, 100}, {.row_padding = 2}), amax = memory.poison(kF32, {256});
  static_cast<float*>(x.data)[3 * x.stride[0] + 50] = kNan;  // element 350
  run(hstu_fp8_amax_args{0, x, amax});
  const int64_t part = 16 * ((7000 + 4095) / 4096);
  EXPECT_EQ(part, 32);
  for (int64_t p = 0; p < 256; ++p) {
    float greatest = 0;
    for (int64_t e = p * part; e < std::min<int64_t>(7000, (p + 1) * part); ++e)
      greatest = std::max(greatest, std::fabs(f32_at(x, e / 100, e % 100)));
    if (p == 350 / part)
      EXPECT_TRUE(std::isnan(f32_at(amax, p)));
    else
      EXPECT_EQ(f32_at(amax, p), greatest) << p;
  }
}

// ---- Products

/// a, b and scales of 21 x 150 by 300 x 150, in more columns than a block of the reference.
hstu_fp8_gemm_args product(HostMemory& memory) {
  auto args = sized<hstu_fp8_gemm_args>();
  args.x = memory.random(kE4m3, {21, 150}, {.row_padding = 10});
  args.w = memory.random(kE5m2, {300, 150});
  args.x_descale = memory.random(kF32, {21, 2});
  args.w_descale = memory.random(kF32, {300});
  args.x_scaling = HSTU_FP8_GROUP;
  args.w_scaling = HSTU_FP8_ROW;
  args.out = memory.poison(kF32, {21, 300});
  return args;
}

TEST(ReferenceFp8Gemm, ActivatesTheProductWithItsResidual) {
  HostMemory memory;
  auto args = product(memory);
  args.residual = memory.random(kF32, {21, 300}, {.row_padding = 4});
  args.activation = HSTU_ACTIVATION_SILU;
  args.activation_columns = 257;
  const auto a = test::values(args.x), b = test::values(args.w), residual = test::values(args.residual);
  const Exact exact = exact_result(args, &hstu_fp8_gemm_args::out);
  for (int64_t i = 0; i < 21; ++i)
    for (int64_t j = 0; j < 300; ++j) {
      double sum = residual[static_cast<size_t>(i * 300 + j)];
      for (int64_t l = 0; l < 150; ++l)
        sum += a[static_cast<size_t>(i * 150 + l)] * static_cast<double>(f32_at(args.x_descale, i, l / 128)) *
               b[static_cast<size_t>(j * 150 + l)] * static_cast<double>(f32_at(args.w_descale, j));
      EXPECT_NEAR(exact[static_cast<size_t>(i * 300 + j)], j < 257 ? sum / (1 + std::exp(-sum)) : sum, 1e-10);
    }
  run(args);
  const auto apart = test::values(args.out);
  args.out = args.residual;
  run(args);
  EXPECT_EQ(test::values(args.out), apart) << "a residual may be the result";
}

TEST(ReferenceFp8Gemm, AddsABiasRowAndAResidual) {
  HostMemory memory;
  auto args = product(memory);
  const Exact without = exact_result(args, &hstu_fp8_gemm_args::out);
  args.bias = memory.random(HSTU_DTYPE_BF16, {300});
  args.residual = memory.random(kF32, {21, 300}, {.row_padding = 4});
  const Exact with = exact_result(args, &hstu_fp8_gemm_args::out);
  const auto bias = test::values(args.bias), residual = test::values(args.residual);
  for (size_t i = 0; i < 21 * 300; ++i) EXPECT_NEAR(with[i], without[i] + bias[i % 300] + residual[i], 1e-10);
}

/// What hstu_quantize_fp8 makes of x with a given scale.
std::vector<double> quantised(HostMemory& memory, const hstu_tensor& x, hstu_dtype fp8, const hstu_tensor& descale) {
  auto args = sized<hstu_quantize_fp8_args>();
  args.x = x;
  args.q = memory.poison(fp8, {x.shape[0], x.shape[1]});
  args.descale = memory.poison(kF32, {1});
  args.static_descale = descale;
  args.scaling = HSTU_FP8_TENSOR;
  run(args);
  return test::values(args.q);
}

TEST(ReferenceFp8Gemm, ResultsInFp8AreThoseInF32Quantised) {
  for (const hstu_dtype fp8 : {kE4m3, kE5m2}) {
    HostMemory memory;
    auto args = product(memory);
    args.activation = HSTU_ACTIVATION_GELU;
    run(args);
    const hstu_tensor wide = args.out;
    args.out = memory.poison(fp8, {21, 300}, {.row_padding = 4});
    args.out_descale = memory.floats({0.03f});  // the greatest results saturate in e4m3
    run(args);
    EXPECT_EQ(test::values(args.out), quantised(memory, wide, fp8, args.out_descale));
  }
}

TEST(ReferenceGatedMlp, ResultsInFp8AreThoseInF32Quantised) {
  for (const hstu_dtype fp8 : {kE4m3, kE5m2}) {
    HostMemory memory;
    hstu_gated_mlp_args args{};
    args.x = memory.random(kF32, {21, 40});
    args.gate = memory.random(kF32, {40, 300});
    args.up = memory.random(kF32, {40, 300});
    args.out = memory.poison(kF32, {21, 300});
    args.activation = HSTU_ACTIVATION_SILU;
    run(args);
    const hstu_tensor wide = args.out;
    args.out = memory.poison(fp8, {21, 300}, {.row_padding = 4});
    args.out_descale = memory.floats({0.1f});  // the greatest results saturate in e4m3
    run(args);
    EXPECT_EQ(test::values(args.out), quantised(memory, wide, fp8, args.out_descale));
  }
}

TEST(ReferenceAddmm, ResultsInFp8AreThoseInF32Quantised) {
  HostMemory memory;
  auto args = sized<hstu_addmm_args>();
  args.x = memory.random(kF32, {21, 40});
  args.w = memory.random(kF32, {40, 300});
  args.residual = memory.random(kF32, {21, 300});
  args.out = memory.poison(kF32, {21, 300});
  run(args);
  const hstu_tensor wide = args.out;
  args.out = memory.poison(kE4m3, {21, 100});
  args.out1 = memory.poison(kE4m3, {21, 200}, {.row_padding = 3});
  args.out_descale = memory.floats({0.03f});
  run(args);
  const auto expected = quantised(memory, wide, kE4m3, args.out_descale);
  const auto first = test::values(args.out), second = test::values(args.out1);
  for (size_t i = 0; i < 21; ++i)
    for (size_t j = 0; j < 300; ++j)
      EXPECT_EQ(j < 100 ? first[i * 100 + j] : second[i * 200 + j - 100], expected[i * 300 + j]);
}

TEST(ReferenceFp8Gemm, PartsAreColumnsOfTheWhole) {
  HostMemory memory;
  auto args = product(memory);
  args.bias = memory.random(kF32, {300});
  args.activation = HSTU_ACTIVATION_SILU;
  args.activation_columns = 70;
  run(args);
  const auto whole = test::values(args.out);
  hstu_tensor* const parts[] = {&args.out, &args.out1, &args.out2, &args.out3};
  constexpr int64_t kColumns[] = {1, 66, 200, 33};
  for (int part = 0; part < 4; ++part) *parts[part] = memory.poison(kF32, {21, kColumns[part]}, {.row_padding = part});
  run(args);
  int64_t first = 0;
  for (int part = 0; part < 4; ++part) {
    for (int64_t i = 0; i < 21; ++i)
      for (int64_t j = 0; j < kColumns[part]; ++j)
        EXPECT_EQ(static_cast<double>(f32_at(*parts[part], i, j)), whole[static_cast<size_t>(i * 300 + first + j)]);
    first += kColumns[part];
  }
}

}  // namespace
}  // namespace hstujit
