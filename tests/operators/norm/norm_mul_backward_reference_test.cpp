// The reference of norm_mul_backward: the checksums of the specification's appendix, and what its options mean.
#include "operators/norm/norm_mul_backward.hpp"
#include "operators/operators.hpp"
#include "support/host_tensor.hpp"
#include "support/oracle.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace hstujit {
namespace {

using Args = hstu_norm_mul_backward_args;
using test::Exact;
using test::exact_result;
using test::HostMemory;

constexpr hstu_dtype kF32 = HSTU_DTYPE_F32;

/// The appendix's formula: tensor a, elements in their order.
hstu_tensor generated(HostMemory& memory, std::initializer_list<int64_t> shape, int64_t a, double scale = 1,
                      double shift = 0) {
  const hstu_tensor t = memory.poison(kF32, shape);
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(shift + scale * static_cast<double>((37 * i + 11 * a) % 23 - 11) / 11);
  store(t, 0, count, values.data());
  return t;
}

/// Sum of y and sum of (index + 1) y; inputs rounded to f32 move them by some 1e-7 of the sums of magnitudes, and
/// gradients of cancelling sums by a few times that.
void expect_sums(const Exact& y, double s0, double s1) {
  double got0 = 0, got1 = 0, size0 = 0, size1 = 0;
  for (size_t i = 0; i < y.size(); ++i) {
    const auto weight = static_cast<double>(i + 1);
    got0 += y[i];
    got1 += weight * y[i];
    size0 += std::fabs(y[i]);
    size1 += weight * std::fabs(y[i]);
  }
  EXPECT_NEAR(got0, s0, 1e-6 * size0);
  EXPECT_NEAR(got1, s1, 1e-6 * size1);
}

void give_workspace(HostMemory& memory, Args& args) {
  args.workspace_size = operator_of(Op::norm_mul_backward).workspace->bytes(&args);
  args.workspace = memory.slab(static_cast<int64_t>(args.workspace_size)).base();
}

struct Sums {
  double s0, s1;
};
struct ChecksumCase {
  const char* name;
  int32_t groups, concat_u, concat_x, silu_u;
  hstu_activation activation;
  Sums out, dattn, du, dweight, dbias;
};

class NormMulBackwardChecksum : public testing::TestWithParam<ChecksumCase> {};

TEST_P(NormMulBackwardChecksum, IsReproduced) {
  const ChecksumCase& c = GetParam();
  HostMemory memory;
  const int64_t columns = 6 * (1 + c.concat_u + c.concat_x), weights = c.groups ? c.groups : 6;
  auto args = sized<Args>();
  args.forward.attn = generated(memory, {3, 6}, 5);
  args.forward.weight = generated(memory, {weights}, 6, 0.5, 1);
  args.forward.bias = generated(memory, {weights}, 7);
  args.forward.u = generated(memory, {3, 6}, 9);
  args.forward.activation = c.activation;
  args.forward.concat_u = c.concat_u;
  args.forward.concat_x = c.concat_x;
  args.forward.silu_u = c.silu_u;
  args.forward.num_groups = c.groups;
  args.dout = generated(memory, {3, columns}, 8);
  args.dattn = memory.poison(kF32, {3, 6});
  args.du = memory.poison(kF32, {3, 6});
  args.dweight = memory.poison(kF32, {weights});
  args.dbias = memory.poison(kF32, {weights});
  args.out = memory.poison(kF32, {3, columns});
  give_workspace(memory, args);
  const auto expect = [&](hstu_tensor Args::*output, const Sums& sums) {
    expect_sums(exact_result(args, output), sums.s0, sums.s1);
  };
  expect(&Args::out, c.out);
  expect(&Args::dattn, c.dattn);
  expect(&Args::du, c.du);
  expect(&Args::dweight, c.dweight);
  expect(&Args::dbias, c.dbias);
}

INSTANTIATE_TEST_SUITE_P(Appendix, NormMulBackwardChecksum,
                         testing::Values(ChecksumCase{"Plain",
                                                      0,
                                                      0,
                                                      0,
                                                      0,
                                                      HSTU_ACTIVATION_NONE,
                                                      {4.47104415, 54.3368073},
                                                      {0, -0.752430838},
                                                      {-5.69713817, -51.449374},
                                                      {-0.423226225, -2.13815537},
                                                      {-3.27272727, -11.7438017}},
                                         ChecksumCase{"ConcatUx",
                                                      0,
                                                      1,
                                                      1,
                                                      1,
                                                      HSTU_ACTIVATION_SIGMOID,
                                                      {2.3531755, 104.584536},
                                                      {-0.818181818, -4.45435487},
                                                      {1.80958136, 25.0877815},
                                                      {0.155801504, 0.634538362},
                                                      {-0.703366631, -1.29144336}},
                                         ChecksumCase{"ConcatX",
                                                      0,
                                                      0,
                                                      1,
                                                      0,
                                                      HSTU_ACTIVATION_SILU,
                                                      {0.484708053, 47.163776},
                                                      {0.272727273, -1.76770353},
                                                      {-0.634302316, -21.9614836},
                                                      {0.700297958, 3.92672387},
                                                      {-0.10397464, -0.605987068}},
                                         ChecksumCase{"Groups",
                                                      2,
                                                      1,
                                                      1,
                                                      1,
                                                      HSTU_ACTIVATION_NONE,
                                                      {1.46334275, 107.579188},
                                                      {-0.818181818, -5.60739599},
                                                      {2.5502454, 28.9272693},
                                                      {0.406993782, 0.755583986},
                                                      {-0.204226782, 0.0520052203}}),
                         [](const auto& c) { return std::string(c.param.name); });

/// Three segments of [rows, dim], all outputs asked for.
Args args_of(HostMemory& memory, int64_t rows, int64_t dim, int32_t groups = 0) {
  const int64_t weights = groups ? groups : dim;
  auto args = sized<Args>();
  args.forward.attn = memory.random(kF32, {rows, dim});
  args.forward.u = memory.random(kF32, {rows, dim});
  args.forward.weight = memory.random(kF32, {weights}, {}, 1, 0.3);
  args.forward.bias = memory.random(kF32, {weights});
  args.forward.concat_u = args.forward.concat_x = 1;
  args.forward.num_groups = groups;
  args.dout = memory.random(kF32, {rows, 3 * dim});
  args.dattn = memory.poison(kF32, {rows, dim});
  args.du = memory.poison(kF32, {rows, dim});
  args.dweight = memory.poison(kF32, {weights});
  args.dbias = memory.poison(kF32, {weights});
  args.out = memory.poison(kF32, {rows, 3 * dim});
  give_workspace(memory, args);
  return args;
}

constexpr hstu_tensor Args::*kOutputs[] = {&Args::dattn, &Args::du, &Args::dweight, &Args::dbias, &Args::out};

TEST(ReferenceNormMulBackward, OutIsWhatTheForwardWrites) {
  for (const hstu_norm norm : {HSTU_NORM_LAYER, HSTU_NORM_SWISH, HSTU_NORM_RMS})
    for (const hstu_dropout_stream stream :
         {HSTU_DROPOUT_COMPAT, HSTU_DROPOUT_FAST, HSTU_DROPOUT_MASKS, HSTU_DROPOUT_ROWS})
      for (const int32_t groups : {0, 2}) {
        HostMemory memory;
        Args args = args_of(memory, 5, 12, groups);
        args.forward.norm = norm;
        if (norm == HSTU_NORM_RMS) args.forward.bias = args.dbias = {};
        args.forward.silu_u = 1;
        args.forward.activation = HSTU_ACTIVATION_SILU;
        args.forward.dropout_stream = stream;
        args.forward.dropout_ratio = 0.4f;
        args.forward.seed = 11;
        auto forward = args.forward;
        forward.struct_size = sizeof forward;
        forward.out = args.out;
        const Exact here = exact_result(args, &Args::out), there = exact_result(forward, &hstu_norm_mul_args::out);
        ASSERT_EQ(here.size(), there.size());
        for (size_t i = 0; i < here.size(); ++i) EXPECT_NEAR(here[i], there[i], 1e-14) << i;
      }
}

TEST(ReferenceNormMulBackward, MomentsOfPartsAreThoseOfTheRow) {
  for (const hstu_norm norm : {HSTU_NORM_LAYER, HSTU_NORM_SWISH, HSTU_NORM_RMS})
    for (const int32_t groups : {0, 2})
      for (const int64_t parts : {2, 4, 12}) {
        HostMemory memory;
        Args args = args_of(memory, 4, 12, groups);
        args.forward.norm = norm;
        if (norm == HSTU_NORM_RMS) args.forward.bias = args.dbias = {};
        Args given = args;
        given.moments = memory.poison(kF32, {4, parts, 2});
        const auto attn = test::values(args.forward.attn);
        const auto part = static_cast<size_t>(12 / parts);
        for (size_t first = 0; first < attn.size(); first += part) {
          double pair[2] = {};
          for (size_t i = first; i < first + part; ++i) pair[0] += attn[i] / static_cast<double>(part);
          for (size_t i = first; i < first + part; ++i) pair[1] += (attn[i] - pair[0]) * (attn[i] - pair[0]);
          store(given.moments, static_cast<int64_t>(2 * (first / part)), 2, pair);
        }
        for (hstu_tensor Args::*output : kOutputs) {
          if (!present(args.*output)) continue;
          const Exact computed = exact_result(args, output), read = exact_result(given, output);
          for (size_t i = 0; i < read.size(); ++i) EXPECT_NEAR(read[i], computed[i], 3e-6 * (1 + std::fabs(read[i])));
        }
      }
}

TEST(ReferenceNormMulBackward, WhatDroppedOutPassesNothing) {
  HostMemory memory;
  Args args = args_of(memory, 6, 8);
  args.forward.dropout_ratio = 0.5f;
  args.forward.seed = 3;
  const Exact out = exact_result(args, &Args::out), dattn = exact_result(args, &Args::dattn),
              du = exact_result(args, &Args::du), dweight = exact_result(args, &Args::dweight);
  std::vector<double> dout = test::values(args.dout);
  int dropped = 0;
  for (size_t i = 0; i < out.size(); ++i)
    if (out[i] == 0) dout[i] = 1000, ++dropped;
  ASSERT_GT(dropped, 30);
  store(args.dout, 0, static_cast<int64_t>(dout.size()), dout.data());
  EXPECT_EQ(exact_result(args, &Args::dattn), dattn);
  EXPECT_EQ(exact_result(args, &Args::du), du);
  EXPECT_EQ(exact_result(args, &Args::dweight), dweight);
}

TEST(ReferenceNormMulBackward, RowsBehindTheValidOnesEnterNoSum) {
  for (const int32_t groups : {0, 3}) {
    HostMemory memory;
    Args args = args_of(memory, 5, 6, groups);
    Args fewer = args;
    for (hstu_tensor* t : {&fewer.forward.attn, &fewer.forward.u, &fewer.dout, &fewer.dattn, &fewer.du, &fewer.out})
      t->shape[0] = 3;
    const Exact dweight = exact_result(fewer, &Args::dweight), dbias = exact_result(fewer, &Args::dbias);
    const Exact dattn = exact_result(args, &Args::dattn);
    test::fill(test::rows_of(args.dout, 3, 2), std::nan(""));
    args.valid_rows = memory.integers(HSTU_DTYPE_I32, {3});
    EXPECT_EQ(exact_result(args, &Args::dweight), dweight);
    EXPECT_EQ(exact_result(args, &Args::dbias), dbias);
    const Exact with_nan = exact_result(args, &Args::dattn);
    EXPECT_EQ(Exact(with_nan.begin(), with_nan.begin() + 18), Exact(dattn.begin(), dattn.begin() + 18));
    EXPECT_TRUE(std::isnan(with_nan[18])) << "the other rows are written as any";
  }
}

TEST(ReferenceNormMulBackward, AccumulatesOnDemand) {
  HostMemory memory;
  Args args = args_of(memory, 4, 7);
  const Exact fresh = exact_result(args, &Args::dbias);
  test::fill(args.dbias, 3);
  EXPECT_EQ(exact_result(args, &Args::dbias), fresh) << "what is there is not read";
  args.accumulate = 1;
  const Exact more = exact_result(args, &Args::dbias);
  for (size_t i = 0; i < more.size(); ++i) EXPECT_DOUBLE_EQ(more[i], fresh[i] + 3);
}

TEST(ReferenceNormMulBackward, WithoutRowsSumsAreZero) {
  for (const int32_t groups : {0, 2}) {
    HostMemory memory;
    Args args = args_of(memory, 0, 4, groups);
    prepare(args);
    reference::run(args);
    EXPECT_EQ(test::values(args.dweight), Exact(groups ? 2 : 4));
    EXPECT_EQ(test::values(args.dbias), Exact(groups ? 2 : 4));
  }
}

TEST(ReferenceNormMulBackward, WritesInThePlaceOfItsInputs) {
  HostMemory memory;
  Args args = args_of(memory, 4, 6);
  std::vector<Exact> expected;
  for (hstu_tensor Args::*output : kOutputs) expected.push_back(exact_result(args, output));
  args.dattn = args.forward.attn;
  args.du = args.forward.u;
  args.out = args.dout;
  prepare(args);
  reference::run(args);
  for (size_t o = 0; o < expected.size(); ++o) {
    const std::vector<double> got = test::values(args.*kOutputs[o]);
    for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[o][i], 1e-6 * (1 + std::fabs(got[i]))) << o;
  }
}

TEST(ReferenceNormMulBackward, SizesOfTermsAreTheRootsOfTheirSquares) {
  HostMemory memory;
  Args args = args_of(memory, 3, 4);
  prepare(args);
  const std::vector<double> dout = test::values(args.dout), u = test::values(args.forward.u);
  const reference::SizesOfTerms sizes = reference::sizes_of_terms(args);
  for (size_t c = 0; c < 4; ++c) {
    double squares = 0;
    for (size_t row = 0; row < 3; ++row) squares += std::pow(dout[12 * row + 8 + c] * u[4 * row + c], 2);
    EXPECT_NEAR(sizes.dbias[c], std::sqrt(squares), 1e-12);
    EXPECT_GT(sizes.dweight[c], 0);
  }
}

}  // namespace
}  // namespace hstujit
