// The reference of layer_norm_backward: the checksums of the specification's appendix, and what its options mean.
#include "operators/norm/layer_norm_backward.hpp"
#include "operators/operators.hpp"
#include "support/host_tensor.hpp"
#include "support/oracle.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace hstujit {
namespace {

using Args = hstu_layer_norm_backward_args;
using test::Exact;
using test::exact_result;
using test::HostMemory;

constexpr hstu_dtype kF32 = HSTU_DTYPE_F32;

/// [rows, dim], all outputs asked for.
Args args_of(HostMemory& memory, int64_t rows, int64_t dim) {
  auto args = sized<Args>();
  args.forward.x = memory.random(kF32, {rows, dim});
  args.forward.weight = memory.random(kF32, {dim}, {}, 1, 0.3);
  args.forward.bias = memory.random(kF32, {dim});
  args.dout = memory.random(kF32, {rows, dim});
  args.dx = memory.poison(kF32, {rows, dim});
  args.dweight = memory.poison(kF32, {dim});
  args.dbias = memory.poison(kF32, {dim});
  args.workspace_size = operator_of(Op::layer_norm_backward).workspace->bytes(&args);
  args.workspace = memory.slab(static_cast<int64_t>(args.workspace_size)).base();
  return args;
}

TEST(ReferenceLayerNormBackward, RowsBehindTheValidOnesEnterNoSum) {
  HostMemory memory;
  Args args = args_of(memory, 5, 6);
  Args fewer = args;
  for (hstu_tensor* t : {&fewer.forward.x, &fewer.dout, &fewer.dx}) t->shape[0] = 3;
  const Exact dweight = exact_result(fewer, &Args::dweight), dbias = exact_result(fewer, &Args::dbias);
  const Exact dx = exact_result(args, &Args::dx);
  test::fill(test::rows_of(args.dout, 3, 2), std::nan(""));
  args.valid_rows = memory.integers(HSTU_DTYPE_I32, {3});
  EXPECT_EQ(exact_result(args, &Args::dweight), dweight);
  EXPECT_EQ(exact_result(args, &Args::dbias), dbias);
  const Exact with_nan = exact_result(args, &Args::dx);
  EXPECT_EQ(Exact(with_nan.begin(), with_nan.begin() + 18), Exact(dx.begin(), dx.begin() + 18));
  EXPECT_TRUE(std::isnan(with_nan[18])) << "the other rows are written as any";
}

TEST(ReferenceLayerNormBackward, AccumulatesOnDemand) {
  HostMemory memory;
  Args args = args_of(memory, 4, 7);
  const Exact fresh = exact_result(args, &Args::dbias);
  test::fill(args.dbias, 3);
  EXPECT_EQ(exact_result(args, &Args::dbias), fresh) << "what is there is not read";
  args.accumulate = 1;
  const Exact more = exact_result(args, &Args::dbias);
  for (size_t i = 0; i < more.size(); ++i) EXPECT_DOUBLE_EQ(more[i], fresh[i] + 3);
}

TEST(ReferenceLayerNormBackward, WithoutRowsSumsAreZero) {
  HostMemory memory;
  Args args = args_of(memory, 0, 4);
  prepare(args);
  reference::run(args);
  EXPECT_EQ(test::values(args.dweight), Exact(4));
  EXPECT_EQ(test::values(args.dbias), Exact(4));
}

TEST(ReferenceLayerNormBackward, OfAConstantRowIsFinite) {
  HostMemory memory;
  Args args = args_of(memory, 1, 5);
  test::fill(args.forward.x, 7);
  for (const double value : exact_result(args, &Args::dweight)) EXPECT_EQ(value, 0);
  for (const double value : exact_result(args, &Args::dx)) EXPECT_TRUE(std::isfinite(value));
}

TEST(ReferenceLayerNormBackward, SizesOfTermsAreTheRootsOfTheirSquares) {
  HostMemory memory;
  Args args = args_of(memory, 3, 4);
  prepare(args);
  const std::vector<double> dout = test::values(args.dout);
  const reference::SizesOfTerms sizes = reference::sizes_of_terms(args);
  for (size_t c = 0; c < 4; ++c) {
    EXPECT_NEAR(sizes.dbias[c], std::sqrt(dout[c] * dout[c] + dout[4 + c] * dout[4 + c] + dout[8 + c] * dout[8 + c]),
                1e-12);
    EXPECT_GT(sizes.dweight[c], 0);
  }
}

}  // namespace
}  // namespace hstujit
