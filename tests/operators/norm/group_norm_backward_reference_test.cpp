// The reference of group_norm_backward against numbers worked out by hand and against layer norm's, and what its
// options mean.
#include "operators/norm/group_norm_backward.hpp"
#include "operators/operators.hpp"
#include "support/host_tensor.hpp"
#include "support/oracle.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace hstujit {
namespace {

using Args = hstu_group_norm_backward_args;
using test::Exact;
using test::exact_result;
using test::HostMemory;

constexpr hstu_dtype kF32 = HSTU_DTYPE_F32;

void expect_near(const Exact& got, const Exact& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-12) << i;
}

template <class AnyArgs>
void give_workspace(HostMemory& memory, AnyArgs& args) {
  args.workspace_size = operator_of(op_of<AnyArgs>()).workspace->bytes(&args);
  args.workspace = memory.slab(static_cast<int64_t>(args.workspace_size)).base();
}

hstu_tensor holding(HostMemory& memory, std::initializer_list<int64_t> shape, const std::vector<double>& values) {
  const hstu_tensor t = memory.poison(kF32, shape);
  store(t, 0, static_cast<int64_t>(values.size()), values.data());
  return t;
}

/// [rows, dim] in groups, all outputs asked for.
Args random_args(HostMemory& memory, int64_t rows, int64_t dim, int32_t groups) {
  auto args = sized<Args>();
  args.forward.x = memory.random(kF32, {rows, dim});
  args.forward.weight = memory.random(kF32, {groups}, {}, 1, 0.3);
  args.forward.bias = memory.random(kF32, {groups});
  args.forward.num_groups = groups;
  args.dout = memory.random(kF32, {rows, dim});
  args.dx = memory.poison(kF32, {rows, dim});
  args.dweight = memory.poison(kF32, {groups});
  args.dbias = memory.poison(kF32, {groups});
  give_workspace(memory, args);
  return args;
}

TEST(ReferenceGroupNormBackward, IsWhatHandsWorkOut) {
  HostMemory memory;
  Args args = random_args(memory, 1, 8, 2);
  // Groups of rstd 1 and 1 / 2 about means 1 and 0, exactly.
  args.forward.x = holding(memory, {1, 8}, {2, 0, 2, 0, 2, -2, 2, -2});
  args.forward.weight = holding(memory, {2}, {2, 4});
  args.forward.eps = HSTU_EXACT_ZERO;
  args.dout = holding(memory, {1, 8}, {4, 0, 0, 8, 1, 1, 1, 1});
  // mean(dout) = 3, mean(dout xhat) = -1; in the other group all is in the mean.
  expect_near(exact_result(args, &Args::dx), {4, -8, -4, 8, 0, 0, 0, 0});
  expect_near(exact_result(args, &Args::dweight), {-4, 0});
  expect_near(exact_result(args, &Args::dbias), {12, 4});
  args.moments = holding(memory, {1, 2, 2}, {1, 4, 0, 16});
  expect_near(exact_result(args, &Args::dx), {4, -8, -4, 8, 0, 0, 0, 0});
  args.moments = holding(memory, {1, 2, 2}, {1, 16, 0, 16});  // the first of rstd 1 / 2
  expect_near(exact_result(args, &Args::dweight), {-2, 0});
}

/// Each group is a layer norm of its columns, with one weight for all of them.
TEST(ReferenceGroupNormBackward, IsLayerNormsOfEachGroup) {
  using OfLayerNorm = hstu_layer_norm_backward_args;
  constexpr int64_t kRows = 3, kGroups = 4, kLength = 5;
  HostMemory memory;
  const Args args = random_args(memory, kRows, kGroups * kLength, kGroups);
  const Exact dx = exact_result(args, &Args::dx), dweight = exact_result(args, &Args::dweight);
  const Exact dbias = exact_result(args, &Args::dbias), weight = test::values(args.forward.weight);
  for (int64_t group = 0; group < kGroups; ++group) {
    SCOPED_TRACE(group);
    const auto of_group = [&](hstu_tensor t) {
      t.data = static_cast<float*>(t.data) + group * kLength;
      t.shape[1] = kLength;
      return t;
    };
    auto layer = sized<OfLayerNorm>();
    layer.forward.x = of_group(args.forward.x);
    layer.dout = of_group(args.dout);
    layer.forward.weight = memory.poison(kF32, {kLength});
    test::fill(layer.forward.weight, weight[static_cast<size_t>(group)]);
    layer.forward.bias = memory.random(kF32, {kLength});
    layer.dx = memory.poison(kF32, {kRows, kLength});
    layer.dweight = memory.poison(kF32, {kLength});
    layer.dbias = memory.poison(kF32, {kLength});
    give_workspace(memory, layer);
    const Exact of_layer = exact_result(layer, &OfLayerNorm::dx);
    for (int64_t i = 0; i < kRows * kLength; ++i)
      EXPECT_NEAR(dx[static_cast<size_t>(i / kLength * kGroups * kLength + group * kLength + i % kLength)],
                  of_layer[static_cast<size_t>(i)], 1e-12);
    double sums[2] = {};
    for (const double value : exact_result(layer, &OfLayerNorm::dweight)) sums[0] += value;
    for (const double value : exact_result(layer, &OfLayerNorm::dbias)) sums[1] += value;
    EXPECT_NEAR(dweight[static_cast<size_t>(group)], sums[0], 1e-12);
    EXPECT_NEAR(dbias[static_cast<size_t>(group)], sums[1], 1e-12);
  }
}

TEST(ReferenceGroupNormBackward, LeavesRowsBehindTheValidOnesOutOfSums) {
  HostMemory memory;
  Args args = random_args(memory, 5, 6, 3);
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

TEST(ReferenceGroupNormBackward, AccumulatesOnDemandAndAddsTheResidual) {
  HostMemory memory;
  Args args = random_args(memory, 4, 6, 2);
  const Exact fresh = exact_result(args, &Args::dbias), dx = exact_result(args, &Args::dx);
  test::fill(args.dbias, 3);
  EXPECT_EQ(exact_result(args, &Args::dbias), fresh) << "what is there is not read";
  args.accumulate = 1;
  const Exact more = exact_result(args, &Args::dbias);
  for (size_t i = 0; i < more.size(); ++i) EXPECT_DOUBLE_EQ(more[i], fresh[i] + 3);
  args.dresidual = memory.poison(kF32, {4, 6});
  test::fill(args.dresidual, 2);
  const Exact with_residual = exact_result(args, &Args::dx);
  for (size_t i = 0; i < dx.size(); ++i) EXPECT_DOUBLE_EQ(with_residual[i], dx[i] + 2);
}

TEST(ReferenceGroupNormBackward, WithoutRowsSumsAreZero) {
  HostMemory memory;
  Args args = random_args(memory, 0, 4, 2);
  prepare(args);
  reference::run(args);
  EXPECT_EQ(test::values(args.dweight), Exact(2));
  EXPECT_EQ(test::values(args.dbias), Exact(2));
}

TEST(ReferenceGroupNormBackward, SizesOfTermsAreTheRootsOfTheirSquares) {
  HostMemory memory;
  Args args = random_args(memory, 1, 4, 4);
  prepare(args);
  const std::vector<double> dout = test::values(args.dout);
  const reference::SizesOfTerms sizes = reference::sizes_of_terms(args);
  for (size_t g = 0; g < 4; ++g) EXPECT_NEAR(sizes.dbias[g], std::fabs(dout[g]), 1e-12);
  args = random_args(memory, 2, 4, 2);
  prepare(args);
  for (const double size : reference::sizes_of_terms(args).dweight) EXPECT_GT(size, 0);
}

}  // namespace
}  // namespace hstujit
