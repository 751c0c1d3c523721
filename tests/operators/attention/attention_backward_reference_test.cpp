// The reference of attention_backward against numbers worked out by hand, and what its options mean.
#include "operators/attention/attention_backward.hpp"
#include "operators/operators.hpp"
#include "support/host_tensor.hpp"
#include "support/oracle.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace hstujit {
namespace {

using Args = hstu_attention_backward_args;
using test::Exact;
using test::exact_result;
using test::HostMemory;

constexpr hstu_dtype kF32 = HSTU_DTYPE_F32;

hstu_tensor heads(HostMemory& memory, const std::vector<float>& values, int64_t rows) {
  const hstu_tensor flat = memory.floats(values);
  return hstu_heads(flat.data, kF32, rows, 1, static_cast<int64_t>(values.size()) / rows);
}

/// Two rows of one head of one element, causal, alpha 1, divisor 2.
Args two_rows(HostMemory& memory) {
  auto args = sized<Args>();
  args.forward.q = heads(memory, {1, 2}, 2);
  args.forward.k = heads(memory, {0.5f, -1}, 2);
  args.forward.v = heads(memory, {3, 5}, 2);
  args.dout = heads(memory, {1, -1}, 2);
  args.forward.seq_offsets = memory.integers(HSTU_DTYPE_I64, {0, 2});
  args.forward.alpha = 1;
  args.forward.max_seq_len = 2;
  for (hstu_tensor* t : {&args.dq, &args.dk, &args.dv}) *t = memory.poison(kF32, {2, 1, 1});
  return args;
}

double silu(double x) { return x / (1 + std::exp(-x)); }
double slope(double x) {
  const double s = 1 / (1 + std::exp(-x));
  return s * (1 + x * (1 - s));
}

void expect_all_near(const Exact& got, const Exact& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-12) << i;
}

// Scores are 0.5 of row 0; 1 and -2 of row 1. dP is 3 of row 0; -3 and -5 of row 1.
TEST(ReferenceAttentionBackward, OfTwoRows) {
  HostMemory memory;
  const Args args = two_rows(memory);
  const double ds00 = slope(0.5) * 3 / 2, ds10 = slope(1) * -3 / 2, ds11 = slope(-2) * -5 / 2;
  expect_all_near(exact_result(args, &Args::dq), {ds00 * 0.5, ds10 * 0.5 + ds11 * -1});
  expect_all_near(exact_result(args, &Args::dk), {ds00 * 1 + ds10 * 2, ds11 * 2});
  expect_all_near(exact_result(args, &Args::dv), {silu(0.5) / 2 - silu(1) / 2, -silu(-2) / 2});
}

TEST(ReferenceAttentionBackward, OfScalesAndBias) {
  HostMemory memory;
  Args args = two_rows(memory);
  args.forward.attn_scale = memory.floats({0.25f, 4});
  args.d_attn_scale = memory.poison(kF32, {2});
  args.forward.rab = memory.floats({0, 0, 0, 0});
  hstu_tensor& rab = args.forward.rab;
  rab.rank = 4;
  for (int d = 0; d < 4; ++d) rab.shape[d] = d < 2 ? 1 : 2, rab.stride[d] = d < 2 ? 4 : d == 2 ? 2 : 1;
  args.drab = memory.poison(kF32, {1, 1, 2, 2});
  std::vector<std::byte> space(512);
  args.workspace = reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(space.data()) + 255) / 256 * 256);
  args.workspace_size = 8;
  expect_all_near(exact_result(args, &Args::d_attn_scale), {silu(0.5) * 3, silu(1) * -3 + silu(-2) * -5});
  expect_all_near(exact_result(args, &Args::drab), {slope(0.5) * 3 * 0.25, 0, slope(1) * -3 * 4, slope(-2) * -5 * 4});
  test::fill(args.drab, 2);
  args.accumulate = 1;
  expect_all_near(exact_result(args, &Args::drab),
                  {slope(0.5) * 3 * 0.25 + 2, 2, slope(1) * -3 * 4 + 2, slope(-2) * -5 * 4 + 2});
  args.forward.attn_scale = memory.floats({4});
  args.d_attn_scale = memory.floats({1});
  expect_all_near(exact_result(args, &Args::d_attn_scale), {1 + silu(0.5) * 3 + silu(1) * -3 + silu(-2) * -5});
}

/// Row 1 weighs its two keys by 1/4 and 3/4.
TEST(ReferenceAttentionBackward, OfSoftmaxHeads) {
  HostMemory memory;
  Args args = two_rows(memory);
  args.forward.num_softmax_heads = 1;
  args.forward.q = heads(memory, {1, 1}, 2);
  args.forward.k = heads(memory, {0, static_cast<float>(std::log(3.0))}, 2);
  args.forward.lse = memory.floats({0, static_cast<float>(std::log(4.0))});
  args.forward.lse = hstu_matrix(args.forward.lse.data, kF32, 1, 2);
  args.forward.out = heads(memory, {3, 4.5f}, 2);
  const double delta = -4.5, ds10 = 0.25 * (-3 - delta), ds11 = 0.75 * (-5 - delta);
  const Exact dq = exact_result(args, &Args::dq), dk = exact_result(args, &Args::dk);
  EXPECT_NEAR(dq[0], 0, 1e-6) << "one key, one weight";
  EXPECT_NEAR(dq[1], ds11 * std::log(3.0), 1e-6);
  EXPECT_NEAR(dk[0], ds10, 1e-6);
  EXPECT_NEAR(dk[1], ds11, 1e-6);
  const Exact dv = exact_result(args, &Args::dv);
  EXPECT_NEAR(dv[0], 1 - 0.25, 1e-6);
  EXPECT_NEAR(dv[1], -0.75, 1e-6);
}

/// Of a head of k and v that two of q share, gradients are the sum over both.
TEST(ReferenceAttentionBackward, AddsUpOverHeadsThatShareOne) {
  HostMemory memory;
  auto args = sized<Args>();
  args.forward.q = memory.random(kF32, {5, 2, 4});
  args.forward.k = memory.random(kF32, {5, 1, 4});
  args.forward.v = memory.random(kF32, {5, 1, 3});
  args.dout = memory.random(kF32, {5, 2, 3});
  args.forward.seq_offsets = memory.integers(HSTU_DTYPE_I32, {0, 2, 5});
  args.forward.max_seq_len = 3;
  args.dk = memory.poison(kF32, {5, 1, 4});
  const Exact both = exact_result(args, &Args::dk);
  Exact sum(both.size());
  for (int64_t h = 0; h < 2; ++h) {
    Args one = args;
    for (hstu_tensor* t : {&one.forward.q, &one.dout}) {
      t->stride[0] = 2 * t->shape[2], t->stride[1] = t->shape[2], t->stride[2] = 1;
      t->data = static_cast<float*>(t->data) + h * t->shape[2];
      t->shape[1] = 1;
    }
    const Exact part = exact_result(one, &Args::dk);
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += part[i];
  }
  expect_all_near(both, sum);
}

TEST(ReferenceAttentionBackward, SizesOfTermsAreTheRootsOfTheirSquares) {
  HostMemory memory;
  Args args = two_rows(memory);
  prepare(args);
  const reference::SizesOfAttentionTerms sizes = reference::sizes_of_terms(args);
  const double ds10 = slope(1) * -3 / 2, ds11 = slope(-2) * -5 / 2;
  ASSERT_EQ(sizes.dq.size(), 2u);
  EXPECT_GE(std::fabs(ds10), 3 * 0.75 / 2) << "the slope at 1 is larger than what it is made of";
  EXPECT_LT(std::fabs(ds11), 5 * 1.0 / 2) << "the slope at -2 is not";
  EXPECT_NEAR(sizes.dq[1], std::hypot(ds10 * 0.5, 5 * 1.0 / 2), 1e-12);
  EXPECT_NEAR(sizes.dv[0], std::hypot(silu(0.5) / 2, silu(1) / 2), 1e-12);
  EXPECT_TRUE(sizes.drab.empty());
}

}  // namespace
}  // namespace hstujit
