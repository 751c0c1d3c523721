// The gated product of FP8 in the reference: against the operators that it stands for, and where its scales show.
#include "support/gated_args.hpp"
#include "support/oracle.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace hstujit {
namespace {

using test::HostMemory;

constexpr hstu_dtype kF32 = HSTU_DTYPE_F32, kE4m3 = HSTU_DTYPE_E4M3;
constexpr int64_t kRows = 7, kDim = 144, kColumns = 5, kParts = 3;

hstu_gated_fp8_gemm_args sample(HostMemory& memory, bool residual = true) {
  hstu_gated_fp8_gemm_args args{};
  args.struct_size = sizeof args;
  args.attn = memory.random(kF32, {kRows, kDim}, {}, 0.5);
  args.u = memory.random(kF32, {kRows, kDim});
  args.moments = test::moments_of(memory, args.attn, kParts);
  args.weight = memory.random(kF32, {kDim}, {}, 1, 0.3);
  args.bias = memory.random(kF32, {kDim}, {}, 0, 0.3);
  args.w = memory.random(kE4m3, {kColumns, 3 * kDim});
  args.w_descale = memory.random(kF32, {kColumns}, {}, 0.1, 0.02);
  if (residual) args.residual = memory.random(kF32, {kRows, kColumns});
  args.out = memory.poison(kF32, {kRows, kColumns});
  args.eps = 0.01f;
  return args;
}

/// The same of a w that is descaled, nothing quantised.
test::Exact unquantised(HostMemory& memory, const hstu_gated_fp8_gemm_args& args) {
  hstu_gated_addmm_args like{};
  like.struct_size = sizeof like;
  like.attn = args.attn;
  like.u = args.u;
  like.moments = args.moments;
  like.weight = args.weight;
  like.bias = args.bias;
  like.w = memory.poison(kF32, {3 * kDim, kColumns});
  const std::vector<double> w = test::values(args.w), descale = test::values(args.w_descale);
  for (size_t j = 0; j < kColumns; ++j)
    for (size_t i = 0; i < 3 * kDim; ++i)
      static_cast<float*>(like.w.data)[i * kColumns + j] = static_cast<float>(w[j * 3 * kDim + i] * descale[j]);
  like.residual = args.residual;
  like.out = args.out;
  like.eps = args.eps;
  return test::exact_result(like, &hstu_gated_addmm_args::out);
}

double relative_error(const test::Exact& got, const test::Exact& expected, size_t first, size_t count) {
  double error = 0, size = 0;
  for (size_t i = first; i < first + count; ++i) {
    error += (got[i] - expected[i]) * (got[i] - expected[i]);
    size += expected[i] * expected[i];
  }
  return std::sqrt(error / size);
}

class GatedFp8GemmReference : public testing::TestWithParam<bool> {};

TEST_P(GatedFp8GemmReference, IsTheGatedProductButForQuantisation) {
  HostMemory memory;
  const hstu_gated_fp8_gemm_args args = sample(memory, GetParam());
  const test::Exact got = test::exact_result(args, &hstu_gated_fp8_gemm_args::out);
  const double error = relative_error(got, unquantised(memory, args), 0, got.size());
  EXPECT_LT(error, 0.05);
  EXPECT_GT(error, 1e-3) << "nothing was quantised";
}
INSTANTIATE_TEST_SUITE_P(Residual, GatedFp8GemmReference, testing::Bool());

// A scale is a power of two, so that rows that are powers of two, with a norm that gives 0, keep all their digits.
TEST(GatedFp8GemmScales, ChangeNoDigit) {
  HostMemory memory;
  hstu_gated_fp8_gemm_args args = sample(memory);
  test::fill(args.u, 0.625);
  test::fill(args.attn, -0.75);
  args.moments = test::moments_of(memory, args.attn, kParts);
  test::fill(args.bias, 0);
  const test::Exact got = test::exact_result(args, &hstu_gated_fp8_gemm_args::out), like = unquantised(memory, args);
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], like[i], 1e-5) << i;
}

// Nothing saturates, wherever the greatest value of a row is: in later columns a scale grows.
TEST(GatedFp8GemmScales, FollowGreatValues) {
  HostMemory memory;
  hstu_gated_fp8_gemm_args args = sample(memory, false);
  auto* const u = static_cast<float*>(args.u.data);
  u[0 * kDim + 3] = 1000;
  u[1 * kDim + 140] = -1000;
  for (int64_t i = 0; i < 128; ++i) u[2 * kDim + i] = 0;
  const test::Exact got = test::exact_result(args, &hstu_gated_fp8_gemm_args::out), like = unquantised(memory, args);
  for (size_t row = 0; row < kRows; ++row) EXPECT_LT(relative_error(got, like, row * kColumns, kColumns), 0.08) << row;
}

}  // namespace
}  // namespace hstujit
