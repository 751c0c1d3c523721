// What prepare() makes of products of FP8 matrices, and what it refuses.
#include "operators/fp8/fp8_gemm.hpp"

#include "operators/fp8/gated_fp8_gemm.hpp"
#include "operators/sample_args.hpp"

namespace hstujit {
namespace {

using test::kDtype;
using test::kInvalid;
using test::kNameOf;
using test::kShape;
using test::slot;
using test::Spoiled;
using test::stored;

constexpr hstu_dtype kF32 = HSTU_DTYPE_F32, kBf16 = HSTU_DTYPE_BF16, kE4m3 = HSTU_DTYPE_E4M3;

hstu_fp8_gemm_args sample_gemm() {
  auto args = sized<hstu_fp8_gemm_args>();
  args.x = hstu_matrix(slot(0), kE4m3, 40, 264);
  args.w = hstu_matrix(slot(1), HSTU_DTYPE_E5M2, 96, 264);
  args.x_descale = hstu_matrix(slot(2), kF32, 40, 3);
  args.w_descale = hstu_matrix(slot(3), kF32, 1, 3);
  args.out = hstu_matrix(slot(4), kBf16, 40, 96);
  args.x_scaling = HSTU_FP8_GROUP;
  args.w_scaling = HSTU_FP8_BLOCK;
  return args;
}

/// attn and u columns of one matrix [40, 384], as the layer has them.
hstu_gated_fp8_gemm_args sample_gated() {
  auto args = sized<hstu_gated_fp8_gemm_args>();
  args.u = stored(0, kBf16, 40, 128, 384, 1);
  args.attn = args.u;
  args.attn.data = slot(0, 256);
  args.moments = hstu_heads(slot(1), kF32, 40, 4, 2);
  args.weight = hstu_vector(slot(2), kF32, 128);
  args.bias = hstu_vector(slot(3), kF32, 128);
  args.w = hstu_matrix(slot(4), kE4m3, 256, 384);
  args.w_descale = hstu_vector(slot(6), kF32, 256);
  args.residual = hstu_matrix(slot(5), kBf16, 40, 256);
  args.out = hstu_matrix(slot(5), kBf16, 40, 256);
  return args;
}

TEST(PrepareFp8Gemm, Key) {
  auto args = sample_gemm();
  EXPECT_EQ(text(prepare(args)),
            "fp8_gemm dtype=bf16 dtype_a=e4m3 dtype_b=e5m2 n=96 k=264 scaling_a=2 scaling_b=3 bias=0 bias_dtype=none "
            "activation=0 act_columns=0 vector_a=8 vector_b=8 vector_out=8 fast=0 split=0 m=64");
  Integers integers;
  make_edge_case(args, integers);
  EXPECT_EQ(args.x_descale.shape[0], args.x.shape[0]);
  EXPECT_NO_THROW(prepare(args));
}

TEST(PrepareFp8Gemm, Endings) {
  auto args = sample_gemm();  // m = 40, n = 96
  args.residual = stored(5, kBf16, 40, 96, 104, 1);
  args.activation = HSTU_ACTIVATION_SILU;
  Problem problem = prepare(args);
  EXPECT_EQ(problem[fp8_gemm::kBias], 2);
  EXPECT_EQ(problem[fp8_gemm::kBiasDtype], kBf16);
  EXPECT_EQ(problem[fp8_gemm::kActivation], HSTU_ACTIVATION_SILU);
  EXPECT_EQ(problem[fp8_gemm::kActColumns], 96);
  EXPECT_EQ(problem[fp8_gemm::kVectorOut], 8);
  EXPECT_EQ(problem[fp8_gemm::kSplit], 0);
  EXPECT_EQ(cost_of(args).bytes - 40.0 * 96 * 2, cost_of(sample_gemm()).bytes);
  args.residual.stride[0] = 98;
  EXPECT_EQ(prepare(args)[fp8_gemm::kVectorOut], 2) << "a residual has a say in it";
  args.residual.stride[0] = 0;
  EXPECT_EQ(prepare(args)[fp8_gemm::kVectorOut], 4) << "of lines that overlap";
  args.out = args.residual = stored(4, kBf16, 40, 96, 96, 1);
  EXPECT_NO_THROW(prepare(args)) << "the residual is the result";
  Integers integers;
  make_edge_case(args, integers);
  EXPECT_EQ(args.residual.shape[0], args.x.shape[0]);

  args = sample_gemm();
  args.out = stored(4, kBf16, 40, 64, 64, 1);
  args.out1 = stored(5, kBf16, 40, 32, 40, 1);
  args.activation_columns = 3;
  problem = prepare(args);
  EXPECT_EQ(problem[fp8_gemm::kSplit], 64);
  EXPECT_EQ(problem[fp8_gemm::kN], 96);
  EXPECT_EQ(problem[fp8_gemm::kActColumns], 0) << "without an activation";
  args.out1.shape[1] = 20;
  args.out2 = stored(6, kBf16, 40, 8, 8, 1);
  args.out3 = stored(7, kBf16, 40, 4, 4, 1);
  problem = prepare(args);
  EXPECT_EQ(problem[fp8_gemm::kSplit], 4);
  EXPECT_EQ(problem[fp8_gemm::kVectorOut], 4);
  make_edge_case(args, integers);
  EXPECT_EQ(args.out3.shape[0], args.x.shape[0]);
  EXPECT_NO_THROW(prepare(args));
}

TEST(PrepareFp8Gemm, InFp8HasResidualsOfAnyType) {
  auto args = sample_gemm();
  args.out = stored(4, kE4m3, 40, 96, 96, 1);
  args.out_descale = hstu_vector(slot(6), kF32, 1);
  EXPECT_EQ(text(prepare(args)),
            "fp8_gemm dtype=e4m3 dtype_a=e4m3 dtype_b=e5m2 n=96 k=264 scaling_a=2 scaling_b=3 bias=0 bias_dtype=none "
            "activation=0 act_columns=0 vector_a=8 vector_b=8 vector_out=16 fast=0 split=0 m=64");
  for (const hstu_dtype dtype : {kF32, HSTU_DTYPE_F16, kBf16}) {
    args.residual = stored(5, dtype, 40, 96, 98, 1);
    const Problem problem = prepare(args);
    EXPECT_EQ(problem[fp8_gemm::kBiasDtype], dtype);
    EXPECT_EQ(problem[fp8_gemm::kVectorOut], 2);
  }
}

TEST(PrepareFp8Gemm, BiasAndResidualTogether) {
  auto args = sample_gemm();  // m = 40, n = 96
  args.bias = hstu_vector(slot(5), kF32, 96);
  args.residual = stored(6, kBf16, 40, 96, 104, 1);
  EXPECT_EQ(text(prepare(args)),
            "fp8_gemm dtype=bf16 dtype_a=e4m3 dtype_b=e5m2 n=96 k=264 scaling_a=2 scaling_b=3 bias=3 bias_dtype=f32 "
            "activation=0 act_columns=0 vector_a=8 vector_b=8 vector_out=8 fast=0 split=0 m=64");
  EXPECT_EQ(cost_of(args).bytes - 40.0 * 96 * 2 - 96 * 4, cost_of(sample_gemm()).bytes);
  args.residual.stride[0] = 98;
  EXPECT_EQ(prepare(args)[fp8_gemm::kVectorOut], 2) << "a residual has a say in it";
}

// Beside results in FP8 the key has both types.
TEST(PrepareFp8Gemm, InFp8HasABiasAndAResidualOfAnyTypes) {
  auto args = sample_gemm();
  args.out = stored(4, kE4m3, 40, 96, 96, 1);
  args.out_descale = hstu_vector(slot(7), kF32, 1);
  for (const hstu_dtype row : {kF32, HSTU_DTYPE_F16, kBf16})
    for (const hstu_dtype residual : {kF32, HSTU_DTYPE_F16, kBf16}) {
      args.bias = hstu_vector(slot(5), row, 96);
      args.residual = stored(6, residual, 40, 96, 96, 1);
      const Problem problem = prepare(args);
      EXPECT_EQ(problem[fp8_gemm::kBias], 3);
      EXPECT_EQ(problem[fp8_gemm::kBiasDtype], row);
      EXPECT_EQ(problem[fp8_gemm::kResidualDtype], residual);
      EXPECT_EQ(parse_problem(text(problem)), problem);
    }
  args.bias = {};
  EXPECT_EQ(text(prepare(args)).find("residual_dtype"), std::string::npos) << "bias_dtype is the residual's";
}

TEST(PrepareFp8Gemm, IsFastOnlyWhereNoScaleChangesAlongK) {
  auto args = sample_gemm();
  args.accumulation = HSTU_FP8_ACCUMULATE_FAST;
  EXPECT_NE(text(prepare(args)).find(" fast=0 "), std::string::npos) << "groups and blocks";
  args.x_scaling = args.w_scaling = HSTU_FP8_TENSOR;
  args.x_descale = args.w_descale = hstu_vector(slot(6), kF32, 1);
  EXPECT_NE(text(prepare(args)).find(" fast=1 "), std::string::npos);
  args.accumulation = HSTU_FP8_ACCUMULATE_128;
  EXPECT_NE(text(prepare(args)).find(" fast=0 "), std::string::npos);
}

TEST(PrepareFp8Gemm, KeyOfTheGatedOne) {
  auto args = sample_gated();
  EXPECT_EQ(text(prepare(args)),
            "gated_fp8_gemm dtype=bf16 weight_dtype=f32 dim=128 n=256 parts=4 residual=1 vector=8 vector_w=16 m=64");
  EXPECT_EQ(args.eps, 1e-5f);
  EXPECT_EQ(cost_of(args).flops, 2.0 * 40 * 384 * 256);
  EXPECT_EQ(cost_of(args).bytes, 2.0 * (2 * 40 * 128 + 2 * 40 * 256) + 384 * 256 + 4 * 256 + 8 * 40 * 4 + 2 * 4 * 128);
  Integers integers;
  make_edge_case(args, integers);
  EXPECT_NO_THROW(prepare(args));
  args.residual = {};
  args.w = stored(4, kE4m3, 256, 384, 388, 1);
  args.bias.data = slot(3, 8);
  const Problem other = prepare(args);
  EXPECT_EQ(other[gated_fp8_gemm::kResidual], 0);
  EXPECT_EQ(other[gated_fp8_gemm::kVectorW], 4);
  EXPECT_EQ(other[gated_fp8_gemm::kVector], 2);
}

using Gemm = hstu_fp8_gemm_args;
class Fp8GemmRefuses : public testing::TestWithParam<Spoiled<Gemm>> {};
TEST_P(Fp8GemmRefuses, Field) { test::expect_refused(sample_gemm(), GetParam()); }
INSTANTIATE_TEST_SUITE_P(
    BadInput, Fp8GemmRefuses,
    testing::Values(
        Spoiled<Gemm>{"OtherStructSize", [](Gemm& a) { a.struct_size = 8; }, kInvalid, "struct_size = 8"},
        Spoiled<Gemm>{"WideA", [](Gemm& a) { a.x.dtype = kBf16; }, kDtype, "x.dtype = bf16"},
        Spoiled<Gemm>{"WideB", [](Gemm& a) { a.w.dtype = kF32; }, kDtype, "w.dtype = f32"},
        Spoiled<Gemm>{"IntegerOut", [](Gemm& a) { a.out.dtype = HSTU_DTYPE_I32; }, kDtype, "out.dtype = i32"},
        Spoiled<Gemm>{"Fp8OutWithoutScale", [](Gemm& a) { a.out.dtype = kE4m3; }, kInvalid,
                      "out_descale is absent: it belongs to out in e4m3 or e5m2, and out.dtype = e4m3"},
        Spoiled<Gemm>{"ScaleOfWideOut", [](Gemm& a) { a.out_descale = hstu_vector(slot(6), kF32, 1); }, kInvalid,
                      "out_descale is there"},
        Spoiled<Gemm>{"Fp8ResidualInPlace",
                      [](Gemm& a) {
                        a.out.dtype = kE4m3;
                        a.out_descale = hstu_vector(slot(6), kF32, 1);
                        a.residual = a.out;
                      },
                      kDtype, "residual.dtype = e4m3"},
        Spoiled<Gemm>{"OtherK", [](Gemm& a) { a.w.shape[1] = 263; }, kShape, "w.shape[1] = 263"},
        Spoiled<Gemm>{"OtherN", [](Gemm& a) { a.out.shape[1] = 95; }, kShape, "out.shape[1] = 95"},
        Spoiled<Gemm>{"ScalingA", [](Gemm& a) { test::set_code(a.x_scaling, 9); }, kInvalid, "x_scaling = 9"},
        Spoiled<Gemm>{"ScalingB", [](Gemm& a) { test::set_code(a.w_scaling, -1); }, kInvalid, "w_scaling = -1"},
        Spoiled<Gemm>{"Accumulation", [](Gemm& a) { test::set_code(a.accumulation, 2); }, kInvalid, "accumulation = 2"},
        Spoiled<Gemm>{"GroupsOfA", [](Gemm& a) { a.x_descale.shape[1] = 2; }, kShape, "x_descale.shape[1] = 2"},
        Spoiled<Gemm>{"BlocksOfB", [](Gemm& a) { a.w_descale.shape[0] = 2; }, kShape, "w_descale.shape[0] = 2"},
        Spoiled<Gemm>{"ShortBias", [](Gemm& a) { a.bias = hstu_vector(slot(5), kF32, 95); }, kShape,
                      "bias.shape[0] = 95"},
        Spoiled<Gemm>{"BiasOfRankThree",
                      [](Gemm& a) {
                        a.bias = hstu_matrix(slot(5), kBf16, 40, 96);
                        a.bias.rank = 3;
                      },
                      kInvalid, "bias.rank = 3"},
        Spoiled<Gemm>{"MatrixBias", [](Gemm& a) { a.bias = hstu_matrix(slot(5), kBf16, 40, 96); }, kInvalid,
                      "bias.rank = 2: it must be 1, a row; a matrix is a residual"},
        Spoiled<Gemm>{"IntegerBias", [](Gemm& a) { a.bias = hstu_vector(slot(5), HSTU_DTYPE_I32, 96); }, kDtype,
                      "bias.dtype = i32"},
        Spoiled<Gemm>{"ResidualOfAnotherDtype", [](Gemm& a) { a.residual = hstu_matrix(slot(5), kF32, 40, 96); }, kDtype,
                      "residual.dtype = f32"},
        Spoiled<Gemm>{"ShortResidual", [](Gemm& a) { a.residual = hstu_matrix(slot(5), kBf16, 39, 96); }, kShape,
                      "residual.shape[0] = 39"},
        Spoiled<Gemm>{"NarrowResidual", [](Gemm& a) { a.residual = hstu_matrix(slot(5), kBf16, 40, 95); }, kShape,
                      "residual.shape[1] = 95"},
        Spoiled<Gemm>{"TransposedResidual", [](Gemm& a) { a.residual = stored(5, kBf16, 40, 96, 1, 40); }, kInvalid,
                      "residual.stride[1] = 40"},
        Spoiled<Gemm>{"ResidualInOneOfTwoParts",
                      [](Gemm& a) {
                        a.out = stored(4, kBf16, 40, 64, 96, 1);
                        a.out1 = stored(5, kBf16, 40, 32, 32, 1);
                        a.residual = stored(4, kBf16, 40, 96, 96, 1);
                      },
                      kInvalid, "out overlaps residual"},
        Spoiled<Gemm>{"Sigmoid", [](Gemm& a) { a.activation = HSTU_ACTIVATION_SIGMOID; }, kInvalid,
                      "activation = 2: fp8_gemm covers"},
        Spoiled<Gemm>{"NoActivationAtAll", [](Gemm& a) { test::set_code(a.activation, 17); }, kInvalid,
                      "activation = 17"},
        Spoiled<Gemm>{"NegativeColumns", [](Gemm& a) { a.activation_columns = -1; }, kInvalid,
                      "activation_columns = -1"},
        Spoiled<Gemm>{"ColumnsBehindTheLast", [](Gemm& a) { a.activation_columns = 97; }, kInvalid,
                      "activation_columns = 97: out has n = 96 columns"},
        Spoiled<Gemm>{"Out2WithoutOut1", [](Gemm& a) { a.out2 = hstu_matrix(slot(5), kBf16, 40, 32); }, kInvalid,
                      "out2 is there without out1"},
        Spoiled<Gemm>{"Out3WithoutOut2",
                      [](Gemm& a) {
                        a.out1 = hstu_matrix(slot(5), kBf16, 40, 32);
                        a.out3 = hstu_matrix(slot(6), kBf16, 40, 32);
                      },
                      kInvalid, "out3 is there without out2"},
        Spoiled<Gemm>{"OtherDtypeOfOut1",
                      [](Gemm& a) {
                        a.out.shape[1] = 64;
                        a.out1 = hstu_matrix(slot(5), HSTU_DTYPE_F16, 40, 32);
                      },
                      kDtype, "out1.dtype = f16"},
        Spoiled<Gemm>{"OtherRowsOfOut1",
                      [](Gemm& a) {
                        a.out.shape[1] = 64;
                        a.out1 = hstu_matrix(slot(5), kBf16, 41, 32);
                      },
                      kShape, "out1.shape[0] = 41"},
        Spoiled<Gemm>{"PartsTooWide", [](Gemm& a) { a.out1 = hstu_matrix(slot(5), kBf16, 40, 32); }, kShape,
                      "out, out1, ... have 128 columns together: they must have n = w.shape[0] = 96"},
        Spoiled<Gemm>{"Out1OnA",
                      [](Gemm& a) {
                        a.out.shape[1] = 64;
                        a.out1 = hstu_matrix(slot(0), kBf16, 40, 32);
                      },
                      kInvalid, "out1 overlaps x"},
        Spoiled<Gemm>{"Out1OnOut",
                      [](Gemm& a) {
                        a.out = stored(4, kBf16, 40, 64, 64, 1);
                        a.out1 = stored(4, kBf16, 40, 32, 32, 1);
                      },
                      kInvalid, "out1 overlaps out"},
        Spoiled<Gemm>{"OutOnB", [](Gemm& a) { a.out.data = slot(1); }, kInvalid, "out overlaps w"}),
    kNameOf);

// What it shares with gated_addmm is refused in dense_test.cpp.
using GatedFp8 = hstu_gated_fp8_gemm_args;
class GatedFp8GemmRefuses : public testing::TestWithParam<Spoiled<GatedFp8>> {};
TEST_P(GatedFp8GemmRefuses, Field) { test::expect_refused(sample_gated(), GetParam()); }
INSTANTIATE_TEST_SUITE_P(
    BadInput, GatedFp8GemmRefuses,
    testing::Values(
        Spoiled<GatedFp8>{"OtherStructSize", [](GatedFp8& a) { a.struct_size = 8; }, kInvalid, "struct_size = 8"},
        Spoiled<GatedFp8>{"Fp8Attn", [](GatedFp8& a) { a.attn.dtype = kE4m3; }, kDtype, "attn.dtype = e4m3"},
        Spoiled<GatedFp8>{"AbsentMoments", [](GatedFp8& a) { a.moments = {}; }, kInvalid, "moments is absent"},
        Spoiled<GatedFp8>{"OtherBias", [](GatedFp8& a) { a.bias.dtype = kBf16; }, kDtype, "bias.dtype = bf16"},
        Spoiled<GatedFp8>{"WideW", [](GatedFp8& a) { a.w.dtype = kBf16; }, kDtype, "w.dtype = bf16"},
        Spoiled<GatedFp8>{"CoarseW", [](GatedFp8& a) { a.w.dtype = HSTU_DTYPE_E5M2; }, kDtype, "w.dtype = e5m2"},
        Spoiled<GatedFp8>{"TwoSegments", [](GatedFp8& a) { a.w.shape[1] = 256; }, kShape, "w.shape[1] = 256"},
        Spoiled<GatedFp8>{"ShortW", [](GatedFp8& a) { a.w.shape[0] = 255; }, kShape, "w.shape[0] = 255"},
        Spoiled<GatedFp8>{"StridesOfW", [](GatedFp8& a) { a.w = stored(4, kE4m3, 256, 384, 1, 256); }, kInvalid,
                          "w.stride[1] = 256"},
        Spoiled<GatedFp8>{"AbsentScales", [](GatedFp8& a) { a.w_descale = {}; }, kInvalid, "w_descale is absent"},
        Spoiled<GatedFp8>{"HalfScales", [](GatedFp8& a) { a.w_descale.dtype = kBf16; }, kDtype,
                          "w_descale.dtype = bf16"},
        Spoiled<GatedFp8>{"OneScale", [](GatedFp8& a) { a.w_descale.shape[0] = 1; }, kShape, "w_descale.shape[0] = 1"},
        Spoiled<GatedFp8>{"NarrowX", [](GatedFp8& a) { a.residual.shape[1] = 255; }, kShape, "residual.shape[1] = 255"},
        Spoiled<GatedFp8>{"OutOnW", [](GatedFp8& a) { a.w.data = slot(5, 64); }, kInvalid, "out overlaps w"},
        Spoiled<GatedFp8>{"OutOnScales", [](GatedFp8& a) { a.w_descale.data = slot(5, 64); }, kInvalid,
                          "out overlaps w_descale"},
        Spoiled<GatedFp8>{"NegativeEps", [](GatedFp8& a) { a.eps = -1; }, kInvalid, "eps = -1"}),
    kNameOf);

}  // namespace
}  // namespace hstujit
