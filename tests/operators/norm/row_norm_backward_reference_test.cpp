// The references of rms_norm_backward and swish_layer_norm_backward against numbers worked out by hand, and what their
// options mean.
#include "operators/norm/row_norm_backward.hpp"
#include "operators/operators.hpp"
#include "support/host_tensor.hpp"
#include "support/oracle.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace hstujit {
namespace {

using Rms = hstu_rms_norm_backward_args;
using Swish = hstu_swish_layer_norm_backward_args;
using test::Exact;
using test::exact_result;
using test::HostMemory;

constexpr hstu_dtype kF32 = HSTU_DTYPE_F32;

void expect_near(const Exact& got, const Exact& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-12) << i;
}

template <class Args>
void give_workspace(HostMemory& memory, Args& args) {
  args.workspace_size = operator_of(op_of<Args>()).workspace->bytes(&args);
  args.workspace = memory.slab(static_cast<int64_t>(args.workspace_size)).base();
}

hstu_tensor holding(HostMemory& memory, std::initializer_list<int64_t> shape, const std::vector<double>& values) {
  const hstu_tensor t = memory.poison(kF32, shape);
  store(t, 0, static_cast<int64_t>(values.size()), values.data());
  return t;
}

/// Rows of 1 and of 2 and -2: rms 1 and 2, exactly.
Rms rms(HostMemory& memory, const std::vector<double>& weight) {
  auto args = sized<Rms>();
  args.forward.x = holding(memory, {2, 4}, {1, 1, 1, 1, 2, -2, 2, -2});
  args.forward.weight = holding(memory, {4}, weight);
  args.forward.eps = HSTU_EXACT_ZERO;
  args.dout = holding(memory, {2, 4}, {1, 0, 0, 2, 4, 1, 0, 0});
  args.dx = memory.poison(kF32, {2, 4});
  args.dweight = memory.poison(kF32, {4});
  give_workspace(memory, args);
  return args;
}

TEST(ReferenceRmsNormBackward, IsWhatHandsWorkOut) {
  HostMemory memory;
  const Rms args = rms(memory, {1, 2, 3, 4});
  // g = [1, 0, 0, 8], mean(g xhat) = 9 / 4; then [4, 2, 0, 0] and 1 / 2.
  expect_near(exact_result(args, &Rms::dx), {-1.25, -2.25, -2.25, 5.75, 1.75, 1.25, -0.25, 0.25});
  expect_near(exact_result(args, &Rms::dweight), {5, -1, 0, 2});
}

TEST(ReferenceRmsNormBackward, OfSiluTakesItsSlope) {
  HostMemory memory;
  const Rms at_zero = rms(memory, {0, 0, 0, 0});  // of 1 / 2
  Rms args = at_zero;
  args.forward.activation = HSTU_ACTIVATION_SILU;
  expect_near(exact_result(args, &Rms::dx), Exact(8));
  expect_near(exact_result(args, &Rms::dweight), {2.5, -0.5, 0, 1});

  args = rms(memory, {80, 80, -80, -80});  // of 1 and of 0: in the first row g = [80, 0, 0, 0]
  args.forward.activation = HSTU_ACTIVATION_SILU;
  for (hstu_tensor* t : {&args.forward.x, &args.dout, &args.dx}) t->shape[0] = 1;
  expect_near(exact_result(args, &Rms::dx), {60, -20, -20, -20});
  expect_near(exact_result(args, &Rms::dweight), {1, 0, 0, 0});
}

TEST(ReferenceRmsNormBackward, TakesTheMeanSquareFromMoments) {
  HostMemory memory;
  Rms args = rms(memory, {1, 2, 3, 4});
  const Exact dx = exact_result(args, &Rms::dx);
  args.moments = holding(memory, {2, 1, 2}, {1, 0, 0, 16});
  EXPECT_EQ(exact_result(args, &Rms::dx), dx);
  args.moments = holding(memory, {2, 1, 2}, {2, 0, 0, 64});  // rms 2 and 4
  expect_near(exact_result(args, &Rms::dweight), {2.5, -0.5, 0, 1});
}

/// Rows of 1 and -1, whose norm is weight * x + bias, exactly.
Swish swish(HostMemory& memory, double weight, const std::vector<double>& bias) {
  auto args = sized<Swish>();
  args.forward.x = holding(memory, {1, 4}, {1, -1, 1, -1});
  args.forward.weight = holding(memory, {4}, {weight, weight, weight, weight});
  args.forward.bias = holding(memory, {4}, bias);
  args.forward.eps = HSTU_EXACT_ZERO;
  args.dout = holding(memory, {1, 4}, {4, 8, 0, 0});
  args.dx = memory.poison(kF32, {1, 4});
  args.dweight = memory.poison(kF32, {4});
  args.dbias = memory.poison(kF32, {4});
  give_workspace(memory, args);
  return args;
}

TEST(ReferenceSwishLayerNormBackward, IsWhatHandsWorkOut) {
  HostMemory memory;
  Swish args = swish(memory, 1, {-1, 1, -1, 1});  // the norm is 0, its sigmoid 1 / 2
  // t = g = [1, -2, 0, 0], mean(g) = -1 / 4, mean(g xhat) = 3 / 4.
  expect_near(exact_result(args, &Swish::dx), {2.5, 3, -0.5, 1});
  expect_near(exact_result(args, &Swish::dweight), {1, 2, 0, 0});
  expect_near(exact_result(args, &Swish::dbias), {1, -2, 0, 0});
  args.moments = holding(memory, {1, 1, 2}, {0, 4});
  expect_near(exact_result(args, &Swish::dx), {2.5, 3, -0.5, 1});
}

TEST(ReferenceSwishLayerNormBackward, PassesDoutWhereTheSigmoidIsOne) {
  HostMemory memory;
  const Swish args = swish(memory, 1, {90, 90, 90, 90});
  expect_near(exact_result(args, &Swish::dx), {4, 8, 0, 0});
  expect_near(exact_result(args, &Swish::dbias), Exact(4));
}

/// [rows, dim], all outputs asked for.
template <class Args>
Args random_args(HostMemory& memory, int64_t rows, int64_t dim) {
  auto args = sized<Args>();
  args.forward.x = memory.random(kF32, {rows, dim});
  args.forward.weight = memory.random(kF32, {dim}, {}, 1, 0.3);
  if constexpr (requires { args.dbias; }) {
    args.forward.bias = memory.random(kF32, {dim});
    args.dbias = memory.poison(kF32, {dim});
  }
  args.dout = memory.random(kF32, {rows, dim});
  args.dx = memory.poison(kF32, {rows, dim});
  args.dweight = memory.poison(kF32, {dim});
  give_workspace(memory, args);
  return args;
}

template <class Args>
class ReferenceRowNormBackward : public testing::Test {};
using AllArgs = testing::Types<Rms, Swish>;
TYPED_TEST_SUITE(ReferenceRowNormBackward, AllArgs);

TYPED_TEST(ReferenceRowNormBackward, LeavesRowsBehindTheValidOnesOutOfSums) {
  using Args = TypeParam;
  HostMemory memory;
  Args args = random_args<Args>(memory, 5, 6);
  Args fewer = args;
  for (hstu_tensor* t : {&fewer.forward.x, &fewer.dout, &fewer.dx}) t->shape[0] = 3;
  const Exact dweight = exact_result(fewer, &Args::dweight), dx = exact_result(args, &Args::dx);
  test::fill(test::rows_of(args.dout, 3, 2), std::nan(""));
  args.valid_rows = memory.integers(HSTU_DTYPE_I32, {3});
  EXPECT_EQ(exact_result(args, &Args::dweight), dweight);
  const Exact with_nan = exact_result(args, &Args::dx);
  EXPECT_EQ(Exact(with_nan.begin(), with_nan.begin() + 18), Exact(dx.begin(), dx.begin() + 18));
  EXPECT_TRUE(std::isnan(with_nan[18])) << "the other rows are written as any";
}

TYPED_TEST(ReferenceRowNormBackward, AccumulatesOnDemandAndAddsTheResidual) {
  using Args = TypeParam;
  HostMemory memory;
  Args args = random_args<Args>(memory, 4, 7);
  const Exact fresh = exact_result(args, &Args::dweight), dx = exact_result(args, &Args::dx);
  test::fill(args.dweight, 3);
  EXPECT_EQ(exact_result(args, &Args::dweight), fresh) << "what is there is not read";
  args.accumulate = 1;
  const Exact more = exact_result(args, &Args::dweight);
  for (size_t i = 0; i < more.size(); ++i) EXPECT_DOUBLE_EQ(more[i], fresh[i] + 3);
  args.dresidual = memory.poison(kF32, {4, 7});
  test::fill(args.dresidual, 2);
  const Exact with_residual = exact_result(args, &Args::dx);
  for (size_t i = 0; i < dx.size(); ++i) EXPECT_DOUBLE_EQ(with_residual[i], dx[i] + 2);
}

TYPED_TEST(ReferenceRowNormBackward, WithoutRowsSumsAreZero) {
  HostMemory memory;
  auto args = random_args<TypeParam>(memory, 0, 4);
  prepare(args);
  reference::run(args);
  EXPECT_EQ(test::values(args.dweight), Exact(4));
}

TYPED_TEST(ReferenceRowNormBackward, SizesOfTermsAreTheRootsOfTheirSquares) {
  HostMemory memory;
  auto args = random_args<TypeParam>(memory, 1, 5);
  const Exact dweight = exact_result(args, &TypeParam::dweight);
  prepare(args);
  const reference::SizesOfTerms sizes = reference::sizes_of_terms(args);
  for (size_t c = 0; c < 5; ++c) EXPECT_NEAR(sizes.dweight[c], std::fabs(dweight[c]), 1e-12);
  for (const double size : sizes.dbias) EXPECT_GT(size, 0);
}

}  // namespace
}  // namespace hstujit
