// References of the normalising operators: the checksums of the specification's appendix, and properties that those
// shapes do not show.
#include "operators/operators.hpp"
#include "support/host_tensor.hpp"
#include "support/oracle.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace hstujit {
namespace {

using test::Exact;
using test::exact_result;
using test::HostMemory;

constexpr hstu_dtype kF32 = HSTU_DTYPE_F32;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Tensor `id` of the appendix, in f32: scale * (((37 index + 11 id) mod 23) - 11) / 11 + shift.
std::vector<float> generated(int id, size_t count, double scale = 1, double shift = 0) {
  std::vector<float> out(count);
  for (size_t i = 0; i < count; ++i) {
    const double value = (static_cast<double>((37 * i + 11 * static_cast<size_t>(id)) % 23) - 11) / 11;
    out[i] = static_cast<float>(scale * value + shift);
  }
  return out;
}

/// Sum of y and sum of (index + 1) y; inputs rounded to f32 move them by some 1e-7 of the sums of magnitudes.
void expect_sums(const Exact& y, double s0, double s1) {
  double got0 = 0, got1 = 0, size0 = 0, size1 = 0;
  for (size_t i = 0; i < y.size(); ++i) {
    const double weight = static_cast<double>(i + 1);
    got0 += y[i];
    got1 += weight * y[i];
    size0 += std::fabs(y[i]);
    size1 += weight * std::fabs(y[i]);
  }
  EXPECT_NEAR(got0, s0, 3e-7 * size0);
  EXPECT_NEAR(got1, s1, 3e-7 * size1);
}

/// The appendix's x, weight and bias, of 3 rows of 6.
template <class Args>
class AppendixNorm {
 public:
  AppendixNorm() {
    args.struct_size = sizeof args;
    args.x = hstu_matrix(x_.data(), kF32, 3, 6);
    args.weight = hstu_vector(weight_.data(), kF32, 6);
    if constexpr (requires { args.bias; }) args.bias = hstu_vector(bias_.data(), kF32, 6);
    args.out = hstu_matrix(y_.data(), kF32, 3, 6);
  }
  Args args{};

 private:
  std::vector<float> x_ = generated(5, 18), weight_ = generated(6, 6, 0.5, 1), bias_ = generated(7, 6);
  std::vector<float> y_ = std::vector<float>(18);
};

TEST(NormChecksum, SwishLayerNorm) {
  const AppendixNorm<hstu_swish_layer_norm_args> norm;
  expect_sums(exact_result(norm.args, &hstu_swish_layer_norm_args::out), 1.65293605, 20.9962043);
}

TEST(NormChecksum, RmsNorm) {
  AppendixNorm<hstu_rms_norm_args> norm;
  expect_sums(exact_result(norm.args, &hstu_rms_norm_args::out), -2.46464653, 6.19803347);
  norm.args.activation = HSTU_ACTIVATION_SILU;
  expect_sums(exact_result(norm.args, &hstu_rms_norm_args::out), 3.32028464, 46.0621347);
}

TEST(NormChecksum, RmsNormRope) {
  const auto x = generated(10, 24), weight = generated(11, 8, 0.5, 1);
  std::vector<float> cosine(12), sine(12), y(24);
  for (size_t s = 0; s < 3; ++s)
    for (size_t d = 0; d < 4; ++d) {
      const double angle = static_cast<double>(s) * std::pow(10000.0, -2.0 * static_cast<double>(d % 2) / 4);
      cosine[4 * s + d] = static_cast<float>(std::cos(angle));
      sine[4 * s + d] = static_cast<float>(std::sin(angle));
    }
  auto args = sized<hstu_rms_norm_rope_args>();
  args.x = hstu_heads(x.data(), kF32, 1, 3, 8);
  args.weight = hstu_vector(weight.data(), kF32, 8);
  args.cosine = hstu_matrix(cosine.data(), kF32, 3, 4);
  args.sine = hstu_matrix(sine.data(), kF32, 3, 4);
  args.out = hstu_heads(y.data(), kF32, 1, 3, 8);
  expect_sums(exact_result(args, &hstu_rms_norm_rope_args::out), -2.22490503, 25.2158537);
}

/// Quantising as the rows are written is quantising what would be written.
template <class Args>
void run_both(Args direct, hstu_quantize_fp8_args quantise) {
  prepare(direct);
  reference::run(direct);
  prepare(quantise);
  reference::run(quantise);
}

/// The oracle's are what e4m3 rounds: all but some lie off its values.
void expect_unrounded(const Exact& exact, const Exact& rounded) {
  ASSERT_EQ(exact.size(), rounded.size());
  size_t same = 0;
  for (size_t i = 0; i < exact.size(); ++i) {
    EXPECT_EQ(E4m3::widen(E4m3::round(exact[i])), rounded[i]) << i;
    EXPECT_LE(std::fabs(exact[i]), 448) << i;
    same += exact[i] == rounded[i];
  }
  EXPECT_LT(same * 2, exact.size());
}

TEST(ReferenceNorms, RopeInFp8IsQuantisedRope) {
  for (const hstu_fp8_scaling scaling : {HSTU_FP8_ROW, HSTU_FP8_GROUP}) {
    HostMemory memory;
    auto args = sized<hstu_rms_norm_rope_args>();
    args.x = memory.random(kF32, {2, 3, 192});
    args.weight = memory.random(kF32, {192});
    args.cosine = memory.random(kF32, {3, 64});
    args.sine = memory.random(kF32, {3, 64});
    args.out = memory.poison(kF32, {2, 3, 192});
    hstu_rms_norm_rope_args direct = args;
    direct.out = memory.poison(HSTU_DTYPE_E4M3, {2, 3, 192});
    direct.scaling = scaling;
    direct.descale = scaling == HSTU_FP8_ROW ? memory.poison(kF32, {6}) : memory.poison(kF32, {6, 2});
    prepare(args);
    reference::run(args);
    hstu_quantize_fp8_args quantise{};
    quantise.struct_size = sizeof quantise;
    quantise.x = args.out;
    quantise.x.rank = 2;
    quantise.x.shape[0] = 6, quantise.x.shape[1] = 192, quantise.x.stride[0] = 192, quantise.x.stride[1] = 1;
    quantise.q = memory.poison(HSTU_DTYPE_E4M3, {6, 192});
    quantise.scaling = scaling;
    quantise.descale = memory.poison(kF32, {6, 2});
    if (scaling == HSTU_FP8_ROW) quantise.descale = memory.poison(kF32, {6});
    run_both(direct, quantise);
    EXPECT_EQ(test::values(direct.out), test::values(quantise.q));
    EXPECT_EQ(test::values(direct.descale), test::values(quantise.descale));
    expect_unrounded(exact_result(direct, &hstu_rms_norm_rope_args::out), test::values(direct.out));
  }
}

/// Of x, which out may take the place of, whatever out's type.
TEST(ReferenceNorms, LayerNormLeavesMomentsOfX) {
  for (const hstu_dtype out : {kF32, HSTU_DTYPE_E4M3}) {
    HostMemory memory;
    auto args = sized<hstu_layer_norm_args>();
    args.x = memory.floats({1, 2, 3, 6, 5, 5, 5, 5});
    args.x.rank = 2, args.x.shape[0] = 2, args.x.shape[1] = 4, args.x.stride[0] = 4, args.x.stride[1] = 1;
    args.out = out == kF32 ? args.x : memory.poison(out, {2, 4});
    if (out != kF32) args.scaling = HSTU_FP8_ROW, args.descale = memory.poison(kF32, {2});
    args.moments = memory.poison(kF32, {2, 1, 2});
    const std::vector<double> expected = {3, 14, 5, 0};
    EXPECT_EQ(exact_result(args, &hstu_layer_norm_args::moments), expected);
    prepare(args);
    reference::run(args);
    EXPECT_EQ(test::values(args.moments), expected);
  }
}

TEST(ReferenceNorms, GroupNormOfOneGroupIsLayerNormWithScalars) {
  HostMemory memory;
  hstu_group_norm_args group{};
  group.struct_size = sizeof group;
  group.x = memory.random(kF32, {5, 12});
  group.weight = memory.floats({2});
  group.bias = memory.floats({-1});
  group.out = memory.poison(kF32, {5, 12});
  group.num_groups = 1;
  hstu_layer_norm_args layer{};
  layer.struct_size = sizeof layer;
  layer.x = group.x;
  layer.out = group.out;
  const Exact plain = exact_result(layer, &hstu_layer_norm_args::out),
              got = exact_result(group, &hstu_group_norm_args::out);
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], 2 * plain[i] - 1, 1e-12);
}

TEST(ReferenceNorms, GroupsAreNormalisedAlone) {
  HostMemory memory;
  auto args = sized<hstu_group_norm_args>();
  args.x = memory.random(kF32, {4, 12}, {.row_padding = 3});
  args.out = memory.poison(kF32, {4, 12});
  args.num_groups = 3;
  const Exact all = exact_result(args, &hstu_group_norm_args::out);
  for (int64_t g = 0; g < 3; ++g) {
    hstu_layer_norm_args part{};
    part.struct_size = sizeof part;
    part.x = test::columns_of(args.x, 4 * g, 4);
    part.out = memory.poison(kF32, {4, 4});
    const Exact alone = exact_result(part, &hstu_layer_norm_args::out);
    for (size_t i = 0; i < 16; ++i) EXPECT_EQ(all[i / 4 * 12 + static_cast<size_t>(4 * g) + i % 4], alone[i]);
  }
}

hstu_softmax_args softmax_args(HostMemory& memory, int64_t rows, int64_t dim) {
  auto args = sized<hstu_softmax_args>();
  args.x = memory.random(kF32, {rows, dim});
  args.out = memory.poison(kF32, {rows, dim});
  return args;
}

TEST(ReferenceSoftmax, SumsToOneAndLogIsItsLogarithm) {
  HostMemory memory;
  auto args = softmax_args(memory, 3, 7);
  const Exact weights = exact_result(args, &hstu_softmax_args::out);
  args.log = 1;
  const Exact logs = exact_result(args, &hstu_softmax_args::out);
  const std::vector<double> x = test::values(args.x);
  for (size_t row = 0; row < 3; ++row) {
    double sum = 0;
    for (size_t i = 7 * row; i < 7 * row + 7; ++i) {
      sum += weights[i];
      EXPECT_NEAR(std::exp(logs[i]), weights[i], 1e-14);
      EXPECT_NEAR(std::log(weights[i] / weights[7 * row]), x[i] - x[7 * row], 1e-12);
    }
    EXPECT_NEAR(sum, 1, 1e-14);
  }
}

TEST(ReferenceSoftmax, MinusInfinityWeighsNothing) {
  HostMemory memory;
  auto args = softmax_args(memory, 2, 3);
  test::fill(args.x, -kInfinity);
  test::fill(test::columns_of(test::rows_of(args.x, 0, 1), 1, 1), 5);
  Exact got = exact_result(args, &hstu_softmax_args::out);
  EXPECT_EQ(got[0], 0);
  EXPECT_EQ(got[1], 1);
  EXPECT_TRUE(std::isnan(got[3]));
  args.zero_empty_rows = 1;
  got = exact_result(args, &hstu_softmax_args::out);
  EXPECT_EQ(got[1], 1);
  EXPECT_EQ(got[3], 0);
  args.log = 1;
  EXPECT_EQ(exact_result(args, &hstu_softmax_args::out)[3], -kInfinity);
}

TEST(ReferenceDropout, KeepsWhatTheSpecificationKeeps) {
  constexpr int kKept[] = {0, 1, 0, 0, 0, 1, 0, 0, 1, 1, 0, 1, 0, 1, 1, 1};  // ratio 0.5, seed 123
  HostMemory memory;
  auto args = sized<hstu_dropout_args>();
  args.x = memory.poison(kF32, {4, 4}, {.row_padding = 3});  // strides do not matter
  test::fill(args.x, 3);
  args.out = memory.poison(kF32, {4, 4});
  args.ratio = 0.5f;
  args.seed = 123;
  const Exact got = exact_result(args, &hstu_dropout_args::out);
  for (size_t i = 0; i < 16; ++i) EXPECT_EQ(got[i], kKept[i] * 6.0) << i;
}

TEST(ReferenceDropout, RateIsTheRatioWithFourWordsToo) {
  HostMemory memory;
  auto args = sized<hstu_dropout_args>();
  args.x = memory.poison(kF32, {100, 1000});
  test::fill(args.x, 1);
  args.out = memory.poison(kF32, {100, 1000});
  args.ratio = 0.3f;
  for (const int32_t words : {1, 4}) {
    args.words_per_counter = words;
    double kept = 0;
    for (const double y : exact_result(args, &hstu_dropout_args::out)) kept += y != 0;
    EXPECT_NEAR(kept / 1e5, 0.7, 5 * std::sqrt(0.21 / 1e5));
  }
}

// ---- norm_mul's norms and streams

hstu_norm_mul_args mul_args(HostMemory& memory, int64_t rows, int64_t dim, int32_t concat) {
  auto args = sized<hstu_norm_mul_args>();
  args.attn = memory.random(kF32, {rows, dim});
  args.u = memory.random(kF32, {rows, dim});
  args.weight = memory.random(kF32, {dim});
  args.bias = memory.random(kF32, {dim});
  args.concat_u = args.concat_x = concat;
  args.out = memory.poison(kF32, {rows, (1 + 2 * concat) * dim});
  return args;
}

TEST(ReferenceNormMul, NormsAreThoseOfTheirOwnOperators) {
  HostMemory memory;
  auto args = mul_args(memory, 5, 9, 0);
  test::fill(args.u, 1);
  hstu_swish_layer_norm_args swish{sizeof swish, args.attn, args.weight, args.bias, args.out, 0};
  args.norm = HSTU_NORM_SWISH;
  EXPECT_EQ(exact_result(args, &hstu_norm_mul_args::out), exact_result(swish, &hstu_swish_layer_norm_args::out));
  hstu_rms_norm_args rms{sizeof rms, args.attn, args.weight, args.out, 0, HSTU_ACTIVATION_NONE, {}, {}};
  args.norm = HSTU_NORM_RMS;
  args.bias = {};
  EXPECT_EQ(exact_result(args, &hstu_norm_mul_args::out), exact_result(rms, &hstu_rms_norm_args::out));
}

/// Quantising as the rows are written is quantising what would be written, all segments together.
TEST(ReferenceNormMul, InFp8ItIsQuantisedNormMul) {
  for (const hstu_fp8_scaling scaling : {HSTU_FP8_ROW, HSTU_FP8_GROUP})
    for (const int32_t groups : {0, 4}) {
      HostMemory memory;
      auto args = mul_args(memory, 5, 100, 1);
      args.num_groups = groups;
      if (groups > 0) args.weight.shape[0] = args.bias.shape[0] = groups;
      args.dropout_ratio = 0.25f;
      hstu_norm_mul_args direct = args;
      direct.out = memory.poison(HSTU_DTYPE_E4M3, {5, 300});
      direct.scaling = scaling;
      const auto scales = [&] {
        return scaling == HSTU_FP8_ROW ? memory.poison(kF32, {5}) : memory.poison(kF32, {5, 3});
      };
      direct.descale = scales();
      prepare(args);
      reference::run(args);
      hstu_quantize_fp8_args quantise{};
      quantise.struct_size = sizeof quantise;
      quantise.x = args.out;
      quantise.q = memory.poison(HSTU_DTYPE_E4M3, {5, 300});
      quantise.scaling = scaling;
      quantise.descale = scales();
      run_both(direct, quantise);
      EXPECT_EQ(test::values(direct.out), test::values(quantise.q));
      EXPECT_EQ(test::values(direct.descale), test::values(quantise.descale));
      expect_unrounded(exact_result(direct, &hstu_norm_mul_args::out), test::values(direct.out));
    }
}

/// As in hstu_quantize_fp8; what has a scale of its own stays.
TEST(ReferenceNormMul, NanTakesItsUnitInFp8) {
  HostMemory memory;
  auto args = mul_args(memory, 2, 128, 1);
  static_cast<float*>(args.attn.data)[3] = std::nanf("");
  args.out = memory.poison(HSTU_DTYPE_E4M3, {2, 384});
  args.scaling = HSTU_FP8_GROUP;
  args.descale = memory.poison(kF32, {2, 3});
  const Exact descale = exact_result(args, &hstu_norm_mul_args::descale);
  for (size_t i = 0; i < descale.size(); ++i) EXPECT_EQ(std::isnan(descale[i]), i == 1 || i == 2) << i;
}

TEST(ReferenceNormMul, StreamsDifferInTheirCountersOnly) {
  // With 3 segments of 8 columns the first row's counters are 8 s + c in three of the streams, 8 (2 - s) + c in MASKS.
  HostMemory memory;
  auto args = mul_args(memory, 5, 8, 1);
  const Exact plain = exact_result(args, &hstu_norm_mul_args::out);
  args.dropout_ratio = 0.5f;
  args.seed = 123;
  const auto kept = [&](hstu_dropout_stream stream) {
    args.dropout_stream = stream;
    Exact got = exact_result(args, &hstu_norm_mul_args::out);
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_TRUE(got[i] == 0 || std::fabs(got[i] / plain[i] - 2) < 1e-12);
      got[i] = got[i] != 0;
    }
    return got;
  };
  const Exact compat = kept(HSTU_DROPOUT_COMPAT), rows = kept(HSTU_DROPOUT_ROWS), masks = kept(HSTU_DROPOUT_MASKS),
              fast = kept(HSTU_DROPOUT_FAST);
  constexpr int kKept[] = {0, 1, 0, 0, 0, 1, 0, 0, 1, 1, 0, 1, 0, 1, 1, 1};
  for (size_t c = 0; c < 8; ++c) {
    for (const size_t s : {0, 1}) {
      EXPECT_EQ(compat[8 * s + c], kKept[8 * s + c]);
      EXPECT_EQ(rows[8 * s + c], kKept[8 * s + c]);
      EXPECT_EQ(masks[8 * (2 - s) + c], kKept[8 * s + c]);
    }
    EXPECT_EQ(fast[c], kKept[c]);
    EXPECT_EQ(rows[24 + c], kKept[8 + c]);  // row 1 begins at counter 8
  }
  // and at 24 in COMPAT, whose segments never share counters
  EXPECT_NE(Exact(compat.begin() + 24, compat.begin() + 32), Exact(rows.begin() + 24, rows.begin() + 32));
}

}  // namespace
}  // namespace hstujit
