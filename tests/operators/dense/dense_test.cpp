// What prepare() makes of operands in any layout, of gated products and of norms with their product, and what it
// refuses.
#include "operators/dense/addmm.hpp"
#include "operators/dense/gated_addmm.hpp"
#include "operators/dense/gated_mlp.hpp"
#include "operators/dense/norm_addmm.hpp"
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

hstu_gated_mlp_args sample_gated() {
  auto args = sized<hstu_gated_mlp_args>();
  args.x = hstu_matrix(slot(0), kBf16, 40, 64);
  args.gate = stored(1, kBf16, 64, 96, 1, 64);
  args.up = stored(2, kBf16, 64, 96, 1, 64);
  args.out = hstu_matrix(slot(3), kBf16, 40, 96);
  args.activation = HSTU_ACTIVATION_GELU;
  return args;
}

/// attn and u columns of one matrix [40, 384], as the layer has them.
hstu_gated_addmm_args sample_gated_addmm() {
  auto args = sized<hstu_gated_addmm_args>();
  args.u = stored(0, kBf16, 40, 128, 384, 1);
  args.attn = args.u;
  args.attn.data = slot(0, 256);
  args.moments = hstu_heads(slot(1), kF32, 40, 4, 2);
  args.weight = hstu_vector(slot(2), kF32, 128);
  args.bias = hstu_vector(slot(3), kF32, 128);
  args.w = hstu_matrix(slot(4), kBf16, 384, 256);
  args.residual = hstu_matrix(slot(5), kBf16, 40, 256);
  args.out = hstu_matrix(slot(5), kBf16, 40, 256);
  return args;
}

/// In two parts, as the layer has them, of which the first is columns of a wider matrix.
hstu_norm_addmm_args sample_norm_addmm() {
  auto args = sized<hstu_norm_addmm_args>();
  args.x = hstu_matrix(slot(0), kBf16, 40, 128);
  args.norm_weight = hstu_vector(slot(1), kF32, 128);
  args.norm_bias = hstu_vector(slot(2), kF32, 128);
  args.w = hstu_matrix(slot(3), kBf16, 128, 256);
  args.bias = hstu_vector(slot(4), kBf16, 256);
  args.out = stored(5, kBf16, 40, 64, 192, 1);
  args.out1 = hstu_matrix(slot(6), kBf16, 40, 192);
  args.activation = HSTU_ACTIVATION_SILU;
  args.activation_columns = 64;
  return args;
}

TEST(PrepareDense, OperandsOfAddmmInAnyOrder) {
  auto args = test::sample_addmm();
  args.x = stored(0, HSTU_DTYPE_F16, 40, 64, 1, 44);
  Problem problem = prepare(args);
  EXPECT_EQ(problem[addmm::kXTransposed], 1);
  EXPECT_EQ(problem[addmm::kVectorX], 4);
  args.x = stored(0, HSTU_DTYPE_F16, 40, 64, 128, 2);
  args.w = stored(1, HSTU_DTYPE_F16, 64, 96, 3, 200);
  args.residual = stored(2, HSTU_DTYPE_F16, 40, 96, 1, 41);
  problem = prepare(args);
  EXPECT_EQ(problem[addmm::kXTransposed], 0);
  EXPECT_EQ(problem[addmm::kVectorX], 0);
  EXPECT_EQ(problem[addmm::kWeightTransposed], 1);
  EXPECT_EQ(problem[addmm::kVectorW], 0);
  EXPECT_EQ(problem[addmm::kGatherY], 1);
  EXPECT_EQ(problem[addmm::kVectorZ], 8);  // a gathered residual has no say in it
}

TEST(PrepareDense, BiasAndResidualTogether) {
  auto args = test::sample_addmm();  // f16 and a residual
  args.bias = hstu_vector(slot(5), kF32, 96);
  EXPECT_EQ(
      text(prepare(args)),
      "addmm dtype=f16 n=96 k=64 bias=3 bias_dtype=f32 activation=1 act_columns=96 x_transposed=0 weight_transposed=0 "
      "vector_x=8 vector_w=8 vector_z=8 gather_y=0 allow_tf32=0 split=0 m=64");
  EXPECT_EQ(cost_of(args).bytes, 2.0 * (40 * 64 + 64 * 96 + 2 * 40 * 96) + 4 * 96);
  Integers integers;
  auto edge = args;
  make_edge_case(edge, integers);
  EXPECT_EQ(edge.residual.shape[0], edge.x.shape[0]);
  EXPECT_EQ(edge.bias.shape[0], 96);
  EXPECT_NO_THROW(prepare(edge));
  args.bias.stride[0] = 2;
  EXPECT_EQ(prepare(args)[addmm::kGatherY], 1) << "a bias alone is gathered";
  args.bias.stride[0] = 1;
  args.residual = stored(2, HSTU_DTYPE_F16, 40, 96, 1, 40);
  EXPECT_EQ(prepare(args)[addmm::kGatherY], 1) << "a residual alone is gathered";
  args.out = args.residual = hstu_matrix(slot(3), HSTU_DTYPE_F16, 40, 96);
  EXPECT_EQ(prepare(args)[addmm::kBias], 3) << "the residual is the result";
}

TEST(PrepareDense, ResultsInParts) {
  auto args = test::sample_addmm();  // n = 96
  args.residual = {};
  EXPECT_EQ(prepare(args)[addmm::kSplit], 0);
  args.out = stored(3, HSTU_DTYPE_F16, 40, 64, 64, 1);
  args.out1 = stored(4, HSTU_DTYPE_F16, 40, 32, 40, 1);
  Problem problem = prepare(args);
  EXPECT_EQ(problem[addmm::kSplit], 64);
  EXPECT_EQ(problem[addmm::kN], 96);
  EXPECT_EQ(problem[addmm::kVectorZ], 8);
  args.out1 = stored(4, HSTU_DTYPE_F16, 40, 4, 40, 1);
  args.out2 = stored(5, HSTU_DTYPE_F16, 40, 28, 40, 1);
  problem = prepare(args);
  EXPECT_EQ(problem[addmm::kSplit], 4);
  EXPECT_EQ(problem[addmm::kVectorZ], 4);
}

TEST(PrepareDense, Tf32IsForF32Alone) {
  auto args = test::sample_addmm();
  args.allow_tf32 = 1;
  EXPECT_EQ(prepare(args)[addmm::kAllowTf32], 0);
  args.x.dtype = args.w.dtype = args.residual.dtype = args.out.dtype = kF32;
  args.allow_tf32 = 1;
  EXPECT_EQ(prepare(args)[addmm::kAllowTf32], 1);
}

TEST(PrepareDense, KeyOfGatedMlp) {
  auto args = sample_gated();
  EXPECT_EQ(text(prepare(args)),
            "gated_mlp dtype=bf16 n=96 k=64 activation=3 activate_gate=0 x_transposed=0 weight_transposed=1 vector_x=8 "
            "vector_w=8 vector_out=8 allow_tf32=0 m=64");
  args.up = stored(2, kBf16, 64, 96, 1, 68);
  EXPECT_EQ(prepare(args)[gated_mlp::kVectorW], 4);
  args.up = hstu_matrix(slot(2), kBf16, 64, 96);  // contiguous along the other dimension
  EXPECT_EQ(prepare(args)[gated_mlp::kVectorW], 0);
  args.gate = hstu_matrix(slot(1), kBf16, 64, 96);
  EXPECT_EQ(prepare(args)[gated_mlp::kVectorW], 8);
  EXPECT_EQ(prepare(args)[gated_mlp::kWeightTransposed], 0);
  EXPECT_EQ(cost_of(args).flops, 4.0 * 40 * 64 * 96);
}

TEST(PrepareDense, KeyOfGatedMlpInFp8) {
  auto args = sample_gated();
  args.out.dtype = kE4m3;
  args.out_descale = hstu_vector(slot(4), kF32, 1);
  EXPECT_EQ(text(prepare(args)),
            "gated_mlp dtype=bf16 n=96 k=64 activation=3 activate_gate=0 x_transposed=0 weight_transposed=1 vector_x=8 "
            "vector_w=8 vector_out=16 allow_tf32=0 out_dtype=e4m3 m=64");
  EXPECT_EQ(cost_of(args).bytes, 2.0 * (40 * 64 + 2 * 64 * 96) + 40 * 96);
  args.out.stride[0] = 100;
  EXPECT_EQ(prepare(args)[gated_mlp::kVectorOut], 4);
  args.out.dtype = HSTU_DTYPE_E5M2;
  args.x.dtype = args.gate.dtype = args.up.dtype = kF32;
  EXPECT_EQ(prepare(args)[gated_mlp::kOutDtype], HSTU_DTYPE_E5M2);
}

TEST(PrepareDense, KeyOfGatedAddmm) {
  auto args = sample_gated_addmm();
  EXPECT_EQ(text(prepare(args)),
            "gated_addmm dtype=bf16 weight_dtype=f32 dim=128 n=256 parts=4 residual=1 weight_transposed=0 vector=8 "
            "vector_w=8 m=64");
  EXPECT_EQ(args.eps, 1e-5f);
  EXPECT_EQ(cost_of(args).flops, 2.0 * 40 * 384 * 256);
  EXPECT_EQ(cost_of(args).bytes, 2.0 * (2 * 40 * 128 + 384 * 256 + 2 * 40 * 256) + 8 * 40 * 4 + 2 * 4 * 128);
  Integers integers;
  make_edge_case(args, integers);
  EXPECT_NO_THROW(prepare(args));
  args.residual = {};
  args.w = stored(4, kBf16, 384, 256, 1, 388);
  args.bias.data = slot(3, 8);
  const Problem other = prepare(args);
  EXPECT_EQ(other[gated_addmm::kResidual], 0);
  EXPECT_EQ(other[gated_addmm::kWeightTransposed], 1);
  EXPECT_EQ(other[gated_addmm::kVectorW], 4);
  EXPECT_EQ(other[gated_addmm::kVector], 2);
}

TEST(PrepareDense, KeyOfNormAddmm) {
  auto args = sample_norm_addmm();
  EXPECT_EQ(text(prepare(args)),
            "norm_addmm dtype=bf16 weight_dtype=f32 n=256 k=128 bias=1 bias_dtype=bf16 activation=1 act_columns=64 "
            "weight_transposed=0 vector=8 vector_w=8 split=64 m=64");
  EXPECT_EQ(args.eps, 1e-5f);
  EXPECT_EQ(cost_of(args).flops, 2.0 * 40 * 128 * 256);
  EXPECT_EQ(cost_of(args).bytes, 2.0 * (40 * 128 + 128 * 256 + 40 * 256 + 256) + 2 * 4 * 128);
  Integers integers;
  make_edge_case(args, integers);
  EXPECT_EQ(args.out1.shape[0], args.x.shape[0]);
  EXPECT_NO_THROW(prepare(args));
  args = sample_norm_addmm();
  args.bias = {};
  args.w = stored(3, kBf16, 128, 256, 1, 132);
  args.out1 = {};
  args.out = hstu_matrix(slot(5), kBf16, 40, 256);
  args.norm_bias.data = slot(2, 8);
  args.activation = HSTU_ACTIVATION_NONE;
  const Problem other = prepare(args);
  EXPECT_EQ(other[norm_addmm::kBias], 0);
  EXPECT_EQ(other[norm_addmm::kBiasDtype], HSTU_DTYPE_NONE);
  EXPECT_EQ(other[norm_addmm::kActColumns], 0) << "without an activation";
  EXPECT_EQ(other[norm_addmm::kWeightTransposed], 1);
  EXPECT_EQ(other[norm_addmm::kVectorW], 4);
  EXPECT_EQ(other[norm_addmm::kVector], 2);
  EXPECT_EQ(other[norm_addmm::kSplit], 0);
  args.norm_bias.data = slot(2);
  args.x = stored(0, kBf16, 40, 128, 0, 1);
  EXPECT_EQ(prepare(args)[norm_addmm::kVector], 4) << "lines that overlap";
}

using Gated = hstu_gated_mlp_args;
class GatedMlpRefuses : public testing::TestWithParam<Spoiled<Gated>> {};
TEST_P(GatedMlpRefuses, Field) { test::expect_refused(sample_gated(), GetParam()); }
INSTANTIATE_TEST_SUITE_P(
    BadInput, GatedMlpRefuses,
    testing::Values(
        Spoiled<Gated>{"OtherStructSize", [](Gated& a) { a.struct_size = 8; }, kInvalid, "struct_size = 8"},
        Spoiled<Gated>{"AbsentGate", [](Gated& a) { a.gate = {}; }, kInvalid, "gate is absent"},
        Spoiled<Gated>{"Fp8X", [](Gated& a) { a.x.dtype = kE4m3; }, kDtype, "x.dtype = e4m3"},
        Spoiled<Gated>{"OtherUp", [](Gated& a) { a.up.dtype = kF32; }, kDtype, "up.dtype = f32"},
        Spoiled<Gated>{"ShortUp", [](Gated& a) { a.up.shape[0] = 63; }, kShape, "up.shape[0] = 63"},
        Spoiled<Gated>{"WideGate", [](Gated& a) { a.gate.shape[1] = 97; }, kShape, "gate.shape[1] = 97"},
        Spoiled<Gated>{"Rows", [](Gated& a) { a.out.shape[0] = 39; }, kShape, "out.shape[0] = 39"},
        Spoiled<Gated>{"NoActivation", [](Gated& a) { a.activation = HSTU_ACTIVATION_NONE; }, kInvalid,
                       "activation = 0"},
        Spoiled<Gated>{"Sigmoid", [](Gated& a) { a.activation = HSTU_ACTIVATION_SIGMOID; }, kInvalid, "activation = 2"},
        Spoiled<Gated>{"Flag", [](Gated& a) { a.activate_gate = 2; }, kInvalid, "activate_gate = 2"},
        Spoiled<Gated>{"Tf32", [](Gated& a) { a.allow_tf32 = -1; }, kInvalid, "allow_tf32 = -1"},
        Spoiled<Gated>{"OutOnUp", [](Gated& a) { a.out.data = slot(2); }, kInvalid, "out overlaps up"},
        Spoiled<Gated>{"StrideOfOut", [](Gated& a) { a.out.stride[1] = 2; }, kInvalid, "out.stride[1] = 2"},
        Spoiled<Gated>{"OtherOut", [](Gated& a) { a.out.dtype = kF32; }, kDtype, "out.dtype = f32"},
        Spoiled<Gated>{"Fp8WithoutScale", [](Gated& a) { a.out.dtype = kE4m3; }, kInvalid,
                       "out_descale is absent: it belongs to out in e4m3 or e5m2, and out.dtype = e4m3"},
        Spoiled<Gated>{"ScaleOfWideOut", [](Gated& a) { a.out_descale = hstu_vector(slot(4), kF32, 1); }, kInvalid,
                       "out_descale is there: it belongs to out in e4m3 or e5m2, and out.dtype = bf16"},
        Spoiled<Gated>{"TwoScales",
                       [](Gated& a) {
                         a.out.dtype = kE4m3;
                         a.out_descale = hstu_vector(slot(4), kF32, 2);
                       },
                       kShape, "out_descale.shape[0] = 2"},
        Spoiled<Gated>{"NarrowScale",
                       [](Gated& a) {
                         a.out.dtype = kE4m3;
                         a.out_descale = hstu_vector(slot(4), kBf16, 1);
                       },
                       kDtype, "out_descale.dtype = bf16"},
        Spoiled<Gated>{"OutOnItsScale",
                       [](Gated& a) {
                         a.out.dtype = kE4m3;
                         a.out_descale = hstu_vector(a.out.data, kF32, 1);
                       },
                       kInvalid, "out overlaps out_descale"}),
    kNameOf);

using GatedAddmm = hstu_gated_addmm_args;
class GatedAddmmRefuses : public testing::TestWithParam<Spoiled<GatedAddmm>> {};
TEST_P(GatedAddmmRefuses, Field) { test::expect_refused(sample_gated_addmm(), GetParam()); }
INSTANTIATE_TEST_SUITE_P(
    BadInput, GatedAddmmRefuses,
    testing::Values(
        Spoiled<GatedAddmm>{"OtherStructSize", [](GatedAddmm& a) { a.struct_size = 8; }, kInvalid, "struct_size = 8"},
        Spoiled<GatedAddmm>{"Fp8Attn", [](GatedAddmm& a) { a.attn.dtype = kE4m3; }, kDtype, "attn.dtype = e4m3"},
        Spoiled<GatedAddmm>{"OtherU", [](GatedAddmm& a) { a.u.dtype = HSTU_DTYPE_F16; }, kDtype, "u.dtype = f16"},
        Spoiled<GatedAddmm>{"NarrowU", [](GatedAddmm& a) { a.u.shape[1] = 120; }, kShape, "u.shape[1] = 120"},
        Spoiled<GatedAddmm>{"AbsentMoments", [](GatedAddmm& a) { a.moments = {}; }, kInvalid, "moments is absent"},
        Spoiled<GatedAddmm>{"HalfMoments", [](GatedAddmm& a) { a.moments.dtype = kBf16; }, kDtype,
                            "moments.dtype = bf16"},
        Spoiled<GatedAddmm>{"RowsOfMoments", [](GatedAddmm& a) { a.moments.shape[0] = 39; }, kShape,
                            "moments.shape[0] = 39"},
        Spoiled<GatedAddmm>{"UnevenParts", [](GatedAddmm& a) { a.moments = hstu_heads(slot(1), kF32, 40, 3, 2); },
                            kShape, "moments.shape[1] = 3: it must divide"},
        Spoiled<GatedAddmm>{"NoPart", [](GatedAddmm& a) { a.moments = hstu_heads(slot(1), kF32, 40, 0, 2); }, kShape,
                            "moments.shape[1] = 0"},
        Spoiled<GatedAddmm>{"MeansAlone", [](GatedAddmm& a) { a.moments = hstu_heads(slot(1), kF32, 40, 4, 1); },
                            kShape, "moments.shape[2] = 1"},
        Spoiled<GatedAddmm>{"GapsInMoments", [](GatedAddmm& a) { a.moments.stride[0] = 16; }, kInvalid,
                            "moments.stride = [16, 2, 1]"},
        Spoiled<GatedAddmm>{"MisalignedMoments", [](GatedAddmm& a) { a.moments.data = slot(1, 4); }, kInvalid,
                            "aligned to 8 bytes"},
        Spoiled<GatedAddmm>{"ShortWeight", [](GatedAddmm& a) { a.weight.shape[0] = 127; }, kShape,
                            "weight.shape[0] = 127"},
        Spoiled<GatedAddmm>{"OtherBias", [](GatedAddmm& a) { a.bias.dtype = kBf16; }, kDtype, "bias.dtype = bf16"},
        Spoiled<GatedAddmm>{"TwoSegments", [](GatedAddmm& a) { a.w.shape[0] = 256; }, kShape, "w.shape[0] = 256"},
        Spoiled<GatedAddmm>{"WideW", [](GatedAddmm& a) { a.w.shape[1] = 257; }, kShape, "w.shape[1] = 257"},
        Spoiled<GatedAddmm>{"NarrowX", [](GatedAddmm& a) { a.residual.shape[1] = 255; }, kShape,
                            "residual.shape[1] = 255"},
        Spoiled<GatedAddmm>{"XShiftedAgainstOut", [](GatedAddmm& a) { a.residual.data = slot(5, 512); }, kInvalid,
                            "out overlaps residual"},
        Spoiled<GatedAddmm>{"OutOnU", [](GatedAddmm& a) { a.out.data = slot(0); }, kInvalid, "out overlaps"},
        Spoiled<GatedAddmm>{"OutOnMoments", [](GatedAddmm& a) { a.moments.data = slot(5, 64); }, kInvalid,
                            "out overlaps moments"},
        Spoiled<GatedAddmm>{"OutOnW", [](GatedAddmm& a) { a.w.data = slot(5, 64); }, kInvalid, "out overlaps w"},
        Spoiled<GatedAddmm>{"NegativeEps", [](GatedAddmm& a) { a.eps = -1; }, kInvalid, "eps = -1"}),
    kNameOf);

// What it shares with addmm is refused there, and in fp8_gemm_test.cpp.
using NormAddmm = hstu_norm_addmm_args;
class NormAddmmRefuses : public testing::TestWithParam<Spoiled<NormAddmm>> {};
TEST_P(NormAddmmRefuses, Field) { test::expect_refused(sample_norm_addmm(), GetParam()); }
INSTANTIATE_TEST_SUITE_P(
    BadInput, NormAddmmRefuses,
    testing::Values(
        Spoiled<NormAddmm>{"OtherStructSize", [](NormAddmm& a) { a.struct_size = 8; }, kInvalid, "struct_size = 8"},
        Spoiled<NormAddmm>{"Fp8X", [](NormAddmm& a) { a.x.dtype = kE4m3; }, kDtype, "x.dtype = e4m3"},
        Spoiled<NormAddmm>{"TransposedX", [](NormAddmm& a) { a.x = stored(0, kBf16, 40, 128, 1, 40); }, kInvalid,
                           "x.stride[1] = 40"},
        Spoiled<NormAddmm>{"OtherW", [](NormAddmm& a) { a.w.dtype = HSTU_DTYPE_F16; }, kDtype, "w.dtype = f16"},
        Spoiled<NormAddmm>{"ShortW", [](NormAddmm& a) { a.w.shape[0] = 120; }, kShape, "w.shape[0] = 120"},
        Spoiled<NormAddmm>{"WideW", [](NormAddmm& a) { a.w.shape[1] = 257; }, kShape, "n = w.shape[1] = 257"},
        Spoiled<NormAddmm>{"AbsentWeight", [](NormAddmm& a) { a.norm_weight = {}; }, kInvalid, "norm_weight is absent"},
        Spoiled<NormAddmm>{"ShortWeight", [](NormAddmm& a) { a.norm_weight.shape[0] = 127; }, kShape,
                           "norm_weight.shape[0] = 127"},
        Spoiled<NormAddmm>{"AbsentBias", [](NormAddmm& a) { a.norm_bias = {}; }, kInvalid, "norm_bias is absent"},
        Spoiled<NormAddmm>{"OtherBias", [](NormAddmm& a) { a.norm_bias.dtype = kBf16; }, kDtype,
                           "norm_bias.dtype = bf16"},
        Spoiled<NormAddmm>{"Residual", [](NormAddmm& a) { a.bias = hstu_matrix(slot(4), kBf16, 40, 256); }, kInvalid,
                           "bias.rank = 2"},
        Spoiled<NormAddmm>{"ShortY", [](NormAddmm& a) { a.bias.shape[0] = 255; }, kShape, "bias.shape[0] = 255"},
        Spoiled<NormAddmm>{"OtherZ", [](NormAddmm& a) { a.out.dtype = kF32; }, kDtype, "out.dtype = f32"},
        Spoiled<NormAddmm>{"Z2WithoutZ1", [](NormAddmm& a) { std::swap(a.out1, a.out2); }, kInvalid,
                           "out2 is there without out1"},
        Spoiled<NormAddmm>{"ZOnX", [](NormAddmm& a) { a.out1.data = slot(0); }, kInvalid, "out1 overlaps x"},
        Spoiled<NormAddmm>{"ZOnW", [](NormAddmm& a) { a.out.data = slot(3); }, kInvalid, "out overlaps w"},
        Spoiled<NormAddmm>{"ZOnWeight", [](NormAddmm& a) { a.norm_weight.data = slot(6, 64); }, kInvalid,
                           "out1 overlaps norm_weight"},
        Spoiled<NormAddmm>{"ZOnBias", [](NormAddmm& a) { a.norm_bias.data = slot(6, 64); }, kInvalid,
                           "out1 overlaps norm_bias"},
        Spoiled<NormAddmm>{"ZOnY", [](NormAddmm& a) { a.bias.data = slot(6, 64); }, kInvalid, "out1 overlaps bias"},
        Spoiled<NormAddmm>{"Gelu", [](NormAddmm& a) { a.activation = HSTU_ACTIVATION_GELU; }, kInvalid,
                           "activation = 3: norm_addmm covers NONE (0) and SILU (1)"},
        Spoiled<NormAddmm>{"ColumnsBehindTheLast", [](NormAddmm& a) { a.activation_columns = 257; }, kInvalid,
                           "activation_columns = 257"},
        Spoiled<NormAddmm>{"NegativeEps", [](NormAddmm& a) { a.eps = -1; }, kInvalid, "eps = -1"}),
    kNameOf);

}  // namespace
}  // namespace hstujit
