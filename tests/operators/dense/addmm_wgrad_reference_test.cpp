// The reference of addmm_wgrad: sums worked out by hand, and what its options mean; and the gradient of x, which is a
// call of addmm.
#include "operators/dense/addmm_wgrad.hpp"
#include "operators/operators.hpp"
#include "support/dense_gradients.hpp"
#include "support/host_tensor.hpp"
#include "support/oracle.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace hstujit {
namespace {

using Args = hstu_addmm_wgrad_args;
using test::Exact;
using test::exact_result;
using test::HostMemory;

constexpr hstu_dtype kF32 = HSTU_DTYPE_F32;

/// [m, k] and [m, n], both outputs asked for.
Args args_of(HostMemory& memory, int64_t m, int64_t k, int64_t n) {
  auto args = sized<Args>();
  args.x = memory.random(kF32, {m, k});
  args.dout = memory.random(kF32, {m, n});
  args.dw = memory.poison(kF32, {k, n});
  args.dbias = memory.poison(kF32, {n});
  test::give_workspace(memory, args);
  return args;
}

TEST(ReferenceAddmmWgrad, SumsProductsAndColumns) {
  HostMemory memory;
  Args args = args_of(memory, 2, 2, 3);
  const double x[] = {1, 2, 3, 4}, dout[] = {1, 0, 2, -1, 5, 0.5};
  store(args.x, 0, 4, x);
  store(args.dout, 0, 6, dout);
  EXPECT_EQ(exact_result(args, &Args::dw), (Exact{-2, 15, 3.5, -2, 20, 6}));
  EXPECT_EQ(exact_result(args, &Args::dbias), (Exact{0, 5, 2.5}));
  args.transposed = 1;
  args.dw = memory.poison(kF32, {3, 2});
  EXPECT_EQ(exact_result(args, &Args::dw), (Exact{-2, -2, 15, 20, 3.5, 6}));
}

TEST(ReferenceAddmmWgrad, RowsBehindTheValidOnesEnterNoSum) {
  HostMemory memory;
  Args args = args_of(memory, 5, 6, 4);
  Args fewer = args;
  for (hstu_tensor* t : {&fewer.x, &fewer.dout}) t->shape[0] = 3;
  const Exact dw = exact_result(fewer, &Args::dw), dbias = exact_result(fewer, &Args::dbias);
  for (const hstu_tensor& t : {args.x, args.dout}) test::fill(test::rows_of(t, 3, 2), std::nan(""));
  args.valid_rows = memory.integers(HSTU_DTYPE_I32, {3});
  EXPECT_EQ(exact_result(args, &Args::dw), dw);
  EXPECT_EQ(exact_result(args, &Args::dbias), dbias);
  args.valid_rows = memory.integers(HSTU_DTYPE_I64, {-7});
  EXPECT_EQ(exact_result(args, &Args::dw), Exact(24));
}

TEST(ReferenceAddmmWgrad, AccumulatesOnDemand) {
  HostMemory memory;
  Args args = args_of(memory, 4, 3, 7);
  const Exact dw = exact_result(args, &Args::dw), dbias = exact_result(args, &Args::dbias);
  test::fill(args.dw, 2);
  test::fill(args.dbias, 3);
  EXPECT_EQ(exact_result(args, &Args::dw), dw) << "what is there is not read";
  args.accumulate = 1;
  const Exact more_dw = exact_result(args, &Args::dw), more_dbias = exact_result(args, &Args::dbias);
  for (size_t i = 0; i < dw.size(); ++i) EXPECT_DOUBLE_EQ(more_dw[i], dw[i] + 2);
  for (size_t i = 0; i < dbias.size(); ++i) EXPECT_DOUBLE_EQ(more_dbias[i], dbias[i] + 3);
}

TEST(ReferenceAddmmWgrad, WithoutRowsSumsAreZero) {
  HostMemory memory;
  Args args = args_of(memory, 0, 2, 4);
  prepare(args);
  reference::run(args);
  EXPECT_EQ(test::values(args.dw), Exact(8));
  EXPECT_EQ(test::values(args.dbias), Exact(4));
}

TEST(ReferenceAddmmWgrad, ManyRowsAreOneSum) {
  HostMemory memory;
  Args args = args_of(memory, 10000, 1, 2);
  const std::vector<double> x = test::values(args.x), dout = test::values(args.dout);
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i) sum += x[i] * dout[2 * i + 1];
  EXPECT_NEAR(exact_result(args, &Args::dw)[1], sum, 1e-9);
}

TEST(ReferenceAddmmWgrad, SizesOfTermsAreTheRootsOfTheirSquares) {
  HostMemory memory;
  Args args = args_of(memory, 2, 1, 2);
  const double x[] = {3, -4}, dout[] = {1, 2, -1, 1};
  store(args.x, 0, 2, x);
  store(args.dout, 0, 4, dout);
  prepare(args);
  const reference::WgradSizes sizes = reference::sizes_of_terms(args);
  EXPECT_EQ(sizes.dw, (Exact{5, std::sqrt(36.0 + 16)}));
  EXPECT_EQ(sizes.dbias, (Exact{std::sqrt(2.0), std::sqrt(5.0)}));
}

/// dx = dout w^T: addmm of dout and w with its strides exchanged, against differences of addmm, which is linear in x.
TEST(ReferenceAddmmWgrad, TheGradientOfXIsAProductOfItsOwn) {
  HostMemory memory;
  for (const bool transposed : {false, true}) {
    const hstu_tensor w = transposed ? test::transposed(memory.random(kF32, {3, 4})) : memory.random(kF32, {4, 3});
    auto forward = sized<hstu_addmm_args>();
    forward.x = memory.random(kF32, {2, 4});
    forward.w = w;
    forward.bias = memory.random(kF32, {3});
    forward.out = memory.poison(kF32, {2, 3});
    auto gradient = sized<hstu_addmm_args>();
    gradient.x = memory.random(kF32, {2, 3});
    gradient.w = test::transposed(w);
    gradient.out = memory.poison(kF32, {2, 4});
    const Exact dx = exact_result(gradient, &hstu_addmm_args::out);
    const std::vector<double> dout = test::values(gradient.x);
    auto* const x = static_cast<float*>(forward.x.data);
    for (size_t i = 0; i < dx.size(); ++i) {
      const float before = x[i];
      const Exact at = exact_result(forward, &hstu_addmm_args::out);
      x[i] = before + 1;
      const Exact beyond = exact_result(forward, &hstu_addmm_args::out);
      const double step = double{x[i]} - double{before};
      x[i] = before;
      double slope = 0;
      for (size_t j = 0; j < at.size(); ++j) slope += dout[j] * (beyond[j] - at[j]) / step;
      EXPECT_NEAR(dx[i], slope, 1e-9) << i;
    }
  }
}

}  // namespace
}  // namespace hstujit
