// Everything prepare() refuses, operator by operator: the status, and that the message names the field.
#include "operators/sample_args.hpp"

namespace hstujit {
namespace {

using test::kDtype;
using test::kHuge;
using test::kInfinity;
using test::kInvalid;
using test::kNameOf;
using test::kNan;
using test::kShape;
using test::kUnsupported;
using test::slot;
using test::Spoiled;

using Norm = hstu_layer_norm_args;

/// With moments, which `spoil` then changes.
template <class Spoil>
Spoiled<Norm> spoiled_moments(const char* name, Spoil, hstu_status status, const char* message) {
  return {name,
          [](Norm& a) {
            a.moments = hstu_heads(slot(4), HSTU_DTYPE_F32, 40, 1, 2);
            Spoil{}(a);
          },
          status, message};
}

class LayerNormRefuses : public testing::TestWithParam<Spoiled<Norm>> {};
TEST_P(LayerNormRefuses, Field) { test::expect_refused(test::sample_layer_norm(), GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    BadInput, LayerNormRefuses,
    testing::Values(
        Spoiled<Norm>{"OtherStructSize", [](Norm& a) { a.struct_size = 8; }, kInvalid, "struct_size = 8"},
        Spoiled<Norm>{"AbsentX", [](Norm& a) { a.x = {}; }, kInvalid, "x is absent"},
        Spoiled<Norm>{"AbsentY", [](Norm& a) { a.out = {}; }, kInvalid, "out is absent"},
        Spoiled<Norm>{"ForgottenDtype", [](Norm& a) { a.x.dtype = HSTU_DTYPE_NONE; }, kDtype, "x.dtype = 0"},
        Spoiled<Norm>{"UnknownDtype", [](Norm& a) { test::set_code(a.x.dtype, 77); }, kDtype,
                      "x.dtype = 77"},
        Spoiled<Norm>{"IntegerX", [](Norm& a) { a.x.dtype = HSTU_DTYPE_I32; }, kDtype, "x.dtype = i32"},
        Spoiled<Norm>{"OtherDtypeOfY", [](Norm& a) { a.out.dtype = HSTU_DTYPE_F16; }, kDtype, "out.dtype = f16"},
        Spoiled<Norm>{"NullX", [](Norm& a) { a.x.data = nullptr; }, kInvalid, "x.data = NULL"},
        Spoiled<Norm>{"MisalignedY", [](Norm& a) { a.out.data = slot(3, 1); }, kInvalid, "out.data"},
        Spoiled<Norm>{"VectorX", [](Norm& a) { a.x.rank = 1; }, kInvalid, "x.rank = 1"},
        Spoiled<Norm>{"RankOutOfRange", [](Norm& a) { a.x.rank = 1000; }, kInvalid, "x.rank = 1000"},
        Spoiled<Norm>{"NegativeRank", [](Norm& a) { a.out.rank = -1; }, kInvalid, "out.rank = -1"},
        Spoiled<Norm>{"NegativeRows", [](Norm& a) { a.x.shape[0] = -1; }, kInvalid, "x.shape[0] = -1"},
        Spoiled<Norm>{"NegativeStride", [](Norm& a) { a.x.stride[0] = -96; }, kInvalid, "x.stride[0] = -96"},
        Spoiled<Norm>{"LastStride", [](Norm& a) { a.x.stride[1] = 2; }, kInvalid, "x.stride[1] = 2"},
        Spoiled<Norm>{"OverflowingExtents", [](Norm& a) { a.x.shape[0] = kHuge; }, kInvalid, "x: its extents"},
        Spoiled<Norm>{"OverflowingStride", [](Norm& a) { a.x.stride[0] = kHuge; }, kInvalid, "x: its extents"},
        Spoiled<Norm>{"OverflowingBytes",
                      [](Norm& a) {
                        a.x.shape[0] = 2;
                        a.x.stride[0] = kHuge;
                      },
                      kInvalid, "x: its extents"},
        Spoiled<Norm>{"OtherRows", [](Norm& a) { a.out.shape[0] = 39; }, kShape, "out.shape[0] = 39"},
        Spoiled<Norm>{"OtherDim", [](Norm& a) { a.out.shape[1] = 95; }, kShape, "out.shape[1] = 95"},
        Spoiled<Norm>{"DimBeyond32Bits",
                      [](Norm& a) {
                        const int64_t dim = int64_t{1} << 31;
                        a.x = a.out = hstu_matrix(slot(0), HSTU_DTYPE_BF16, 1, dim);
                        a.weight = a.bias = {};
                      },
                      kUnsupported, "x.shape[1] = 2147483648"},
        Spoiled<Norm>{"WeightAlone", [](Norm& a) { a.bias = {}; }, kInvalid, "bias is absent"},
        Spoiled<Norm>{"BiasAlone", [](Norm& a) { a.weight = {}; }, kInvalid, "weight is absent"},
        Spoiled<Norm>{"ForgottenDtypeOfWeight", [](Norm& a) { a.weight.dtype = HSTU_DTYPE_NONE; }, kInvalid,
                      "weight.dtype = 0"},
        Spoiled<Norm>{"IntegerWeight", [](Norm& a) { a.weight.dtype = HSTU_DTYPE_I64; }, kDtype, "weight.dtype = i64"},
        Spoiled<Norm>{"OtherDtypeOfBias", [](Norm& a) { a.bias.dtype = HSTU_DTYPE_BF16; }, kDtype, "bias.dtype"},
        Spoiled<Norm>{"ShortWeight", [](Norm& a) { a.weight.shape[0] = 95; }, kShape, "weight.shape[0] = 95"},
        Spoiled<Norm>{"MatrixBias", [](Norm& a) { a.bias.rank = 2; }, kInvalid, "bias.rank = 2"},
        Spoiled<Norm>{"StridedWeight", [](Norm& a) { a.weight.stride[0] = 2; }, kInvalid, "weight.stride[0] = 2"},
        spoiled_moments("MomentsIn16Bits", [](Norm& a) { a.moments.dtype = HSTU_DTYPE_BF16; }, kDtype,
                        "moments.dtype = bf16"),
        spoiled_moments("MomentsOfOtherRows", [](Norm& a) { a.moments.shape[0] = 39; }, kShape,
                        "moments.shape[0] = 39"),
        spoiled_moments("MomentsOfParts", [](Norm& a) { a.moments = hstu_heads(slot(4), HSTU_DTYPE_F32, 40, 2, 2); },
                        kShape, "moments.shape[1] = 2"),
        spoiled_moments("MomentsApart", [](Norm& a) { a.moments.stride[0] = 4; }, kInvalid,
                        "moments.stride = [4, 2, 1]"),
        spoiled_moments("MisalignedMoments", [](Norm& a) { a.moments.data = slot(4, 4); }, kInvalid, "moments.data = "),
        spoiled_moments("MomentsOnX", [](Norm& a) { a.moments.data = slot(0); }, kInvalid, "moments overlaps x"),
        spoiled_moments("MomentsOnOut", [](Norm& a) { a.moments.data = slot(3, 192); }, kInvalid,
                        "moments overlaps out"),
        spoiled_moments("MomentsOnWeight", [](Norm& a) { a.moments.data = slot(1); }, kInvalid,
                        "moments overlaps weight"),
        spoiled_moments("MomentsOnBias", [](Norm& a) { a.moments.data = slot(2); }, kInvalid, "moments overlaps bias"),
        spoiled_moments("MomentsOnDescale",
                        [](Norm& a) {
                          a.out.dtype = HSTU_DTYPE_E4M3;
                          a.scaling = HSTU_FP8_ROW;
                          a.descale = hstu_vector(a.moments.data, HSTU_DTYPE_F32, 40);
                        },
                        kInvalid, "moments overlaps descale"),
        spoiled_moments("MomentsOfNothing",
                        [](Norm& a) {
                          a.x.shape[1] = a.out.shape[1] = 0;
                          a.weight = a.bias = {};
                        },
                        kInvalid, "moments is there, but x.shape[1] = 0"),
        Spoiled<Norm>{"NegativeEps", [](Norm& a) { a.eps = -1e-5f; }, kInvalid, "eps"},
        Spoiled<Norm>{"NanEps", [](Norm& a) { a.eps = kNan; }, kInvalid, "eps = nan"},
        Spoiled<Norm>{"InfiniteEps", [](Norm& a) { a.eps = kInfinity; }, kInvalid, "eps = inf"},
        Spoiled<Norm>{"RowsOfYOverlap", [](Norm& a) { a.out.stride[0] = 95; }, kInvalid, "out.stride[0] = 95"},
        Spoiled<Norm>{"RowsOfYCoincide", [](Norm& a) { a.out.stride[0] = 0; }, kInvalid, "out.stride[0] = 0"},
        Spoiled<Norm>{"YShiftedAgainstX", [](Norm& a) { a.out.data = slot(0, 192); }, kInvalid, "out overlaps x"},
        Spoiled<Norm>{"YOnX_OtherStride",
                      [](Norm& a) {
                        a.out.data = slot(0);
                        a.out.stride[0] = 100;
                      },
                      kInvalid, "out overlaps x"},
        Spoiled<Norm>{"YOnWeight", [](Norm& a) { a.weight.data = slot(3, 64); }, kInvalid, "out overlaps weight"},
        Spoiled<Norm>{"YOnBias", [](Norm& a) { a.bias.data = slot(3); }, kInvalid, "out overlaps bias"}),
    kNameOf);

using Addmm = hstu_addmm_args;
class AddmmRefuses : public testing::TestWithParam<Spoiled<Addmm>> {};
TEST_P(AddmmRefuses, Field) { test::expect_refused(test::sample_addmm(), GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    BadInput, AddmmRefuses,
    testing::Values(
        Spoiled<Addmm>{"OtherStructSize", [](Addmm& a) { a.struct_size = 0; }, kInvalid, "struct_size = 0"},
        Spoiled<Addmm>{"AbsentW", [](Addmm& a) { a.w = {}; }, kInvalid, "w is absent"},
        Spoiled<Addmm>{"AbsentZ", [](Addmm& a) { a.out = {}; }, kInvalid, "out is absent"},
        Spoiled<Addmm>{"IntegerX", [](Addmm& a) { a.x.dtype = HSTU_DTYPE_I64; }, kDtype, "x.dtype = i64"},
        Spoiled<Addmm>{"OtherDtypeOfW", [](Addmm& a) { a.w.dtype = HSTU_DTYPE_BF16; }, kDtype, "w.dtype = bf16"},
        Spoiled<Addmm>{"OtherDtypeOfZ", [](Addmm& a) { a.out.dtype = HSTU_DTYPE_F32; }, kDtype, "out.dtype = f32"},
        Spoiled<Addmm>{"OtherDtypeOfResidual", [](Addmm& a) { a.residual.dtype = HSTU_DTYPE_F32; }, kDtype, "residual.dtype = f32"},
        Spoiled<Addmm>{"IntegerBiasRow", [](Addmm& a) { a.residual = {}, a.bias = hstu_vector(slot(2), HSTU_DTYPE_I32, 96); }, kDtype,
                       "bias.dtype = i32"},
        Spoiled<Addmm>{"NegativeStrideOfX", [](Addmm& a) { a.x.stride[1] = -3; }, kInvalid, "x.stride[1] = -3"},
        Spoiled<Addmm>{"OtherDtypeOfZ1",
                       [](Addmm& a) {
                         a.out.shape[1] = 64;
                         a.out1 = hstu_matrix(slot(4), HSTU_DTYPE_F32, a.out.shape[0], 32);
                       },
                       kDtype, "out1.dtype = f32"},
        Spoiled<Addmm>{"OtherRowsOfZ1",
                       [](Addmm& a) {
                         a.out.shape[1] = 64;
                         a.out1 = hstu_matrix(slot(4), a.out.dtype, a.out.shape[0] + 1, 32);
                       },
                       kShape, "out1.shape[0]"},
        Spoiled<Addmm>{"PartsTooWide",
                       [](Addmm& a) { a.out1 = hstu_matrix(slot(4), a.out.dtype, a.out.shape[0], 32); },
                       kShape, "out, out1, ... have 128 columns together"},
        Spoiled<Addmm>{"Z2WithoutZ1",
                       [](Addmm& a) {
                         a.out.shape[1] = 64;
                         a.out2 = hstu_matrix(slot(4), a.out.dtype, a.out.shape[0], 32);
                       },
                       kInvalid, "out2 is there without out1"},
        Spoiled<Addmm>{"Z1OnZ",
                       [](Addmm& a) {
                         a.out.shape[1] = 64;
                         a.out1 = hstu_matrix(a.out.data, a.out.dtype, a.out.shape[0], 32);
                       },
                       kInvalid, "out1 overlaps out"},
        Spoiled<Addmm>{"Fp8WithoutScale", [](Addmm& a) { a.out.dtype = HSTU_DTYPE_E4M3; }, kInvalid,
                       "out_descale is absent: it belongs to out in e4m3 or e5m2, and out.dtype = e4m3"},
        Spoiled<Addmm>{"ScaleOfWideZ", [](Addmm& a) { a.out_descale = hstu_vector(slot(5), HSTU_DTYPE_F32, 1); },
                       kInvalid, "out_descale is there: it belongs to out in e4m3 or e5m2, and out.dtype = f16"},
        Spoiled<Addmm>{"TwoScales",
                       [](Addmm& a) {
                         a.out.dtype = HSTU_DTYPE_E4M3;
                         a.out_descale = hstu_vector(slot(5), HSTU_DTYPE_F32, 2);
                       },
                       kShape, "out_descale.shape[0] = 2"},
        Spoiled<Addmm>{"NarrowScale",
                       [](Addmm& a) {
                         a.out.dtype = HSTU_DTYPE_E5M2;
                         a.out_descale = hstu_vector(slot(5), HSTU_DTYPE_F16, 1);
                       },
                       kDtype, "out_descale.dtype = f16"},
        Spoiled<Addmm>{"ZOnItsScale",
                       [](Addmm& a) {
                         a.out.dtype = HSTU_DTYPE_E4M3;
                         a.out_descale = hstu_vector(a.out.data, HSTU_DTYPE_F32, 1);
                       },
                       kInvalid, "out overlaps out_descale"},
        Spoiled<Addmm>{"OtherResidualBesideFp8",
                       [](Addmm& a) {
                         a.out.dtype = HSTU_DTYPE_E4M3;
                         a.out_descale = hstu_vector(slot(5), HSTU_DTYPE_F32, 1);
                         a.residual.dtype = HSTU_DTYPE_BF16;
                       },
                       kDtype, "residual.dtype = bf16"},
        Spoiled<Addmm>{"Fp8OnItsResidual",
                       [](Addmm& a) {
                         a.out.dtype = HSTU_DTYPE_E4M3;
                         a.out_descale = hstu_vector(slot(5), HSTU_DTYPE_F32, 1);
                         a.residual.data = a.out.data;
                       },
                       kInvalid, "out overlaps residual"},
        Spoiled<Addmm>{"OtherTf32", [](Addmm& a) { a.allow_tf32 = 2; }, kInvalid, "allow_tf32 = 2"},
        Spoiled<Addmm>{"NullW", [](Addmm& a) { a.w.data = nullptr; }, kInvalid, "w.data = NULL"},
        Spoiled<Addmm>{"OtherK", [](Addmm& a) { a.w.shape[0] = 63; }, kShape, "w.shape[0] = 63"},
        Spoiled<Addmm>{"OtherM", [](Addmm& a) { a.out.shape[0] = 41; }, kShape, "out.shape[0] = 41"},
        Spoiled<Addmm>{"OtherN",
                       [](Addmm& a) {
                         a.out.shape[1] = 97;
                         a.out.stride[0] = 97;
                       },
                       kShape, "out.shape[1] = 97"},
        Spoiled<Addmm>{"ScalarBias", [](Addmm& a) { a.residual = {}, a.bias = hstu_vector(slot(2), HSTU_DTYPE_F16, 96), a.bias.rank = 0; }, kInvalid, "bias.rank = 0"},
        Spoiled<Addmm>{"CubicBias", [](Addmm& a) { a.residual = {}, a.bias = hstu_vector(slot(2), HSTU_DTYPE_F16, 96), a.bias.rank = 3; }, kInvalid, "bias.rank = 3"},
        Spoiled<Addmm>{"ShortBiasRow", [](Addmm& a) { a.bias = hstu_vector(slot(2), HSTU_DTYPE_F16, 95); }, kShape,
                       "bias.shape[0] = 95"},
        Spoiled<Addmm>{"OtherRowsOfResidual", [](Addmm& a) { a.residual.shape[0] = 1; }, kShape, "residual.shape[0] = 1"},
        Spoiled<Addmm>{"Sigmoid", [](Addmm& a) { a.activation = HSTU_ACTIVATION_SIGMOID; }, kInvalid,
                       "activation = 2: addmm covers NONE (0), SILU (1), GELU (3) and GELU_TANH (4)"},
        Spoiled<Addmm>{"UnknownActivation", [](Addmm& a) { test::set_code(a.activation, 9); }, kInvalid,
                       "activation = 9"},
        Spoiled<Addmm>{"NegativeActivationColumns", [](Addmm& a) { a.activation_columns = -1; }, kInvalid,
                       "activation_columns = -1"},
        Spoiled<Addmm>{"TooManyActivationColumns", [](Addmm& a) { a.activation_columns = 97; }, kInvalid,
                       "activation_columns = 97"},
        Spoiled<Addmm>{"RowsOfZOverlap", [](Addmm& a) { a.out.stride[0] = 64; }, kInvalid, "out.stride[0] = 64"},
        Spoiled<Addmm>{"ZOnX", [](Addmm& a) { a.out.data = a.x.data; }, kInvalid, "out overlaps x"},
        Spoiled<Addmm>{"ZOnW", [](Addmm& a) { a.out.data = slot(1, 64); }, kInvalid, "out overlaps w"},
        Spoiled<Addmm>{"ZOnAnotherPartOfY", [](Addmm& a) { a.out.data = slot(2, 192); }, kInvalid, "out overlaps residual"},
        Spoiled<Addmm>{"ZOnBiasRow", [](Addmm& a) { a.bias = hstu_vector(a.out.data, HSTU_DTYPE_F16, 96); }, kInvalid,
                       "out overlaps bias"},
        Spoiled<Addmm>{"NBeyond32Bits",
                       [](Addmm& a) {
                         const int64_t n = int64_t{1} << 31;
                         a.w = hstu_matrix(nullptr, HSTU_DTYPE_F16, 0, n);
                         a.x = hstu_matrix(nullptr, HSTU_DTYPE_F16, 0, 0);
                         a.out = hstu_matrix(nullptr, HSTU_DTYPE_F16, 0, n);
                         a.residual = {};
                       },
                       kUnsupported, "w.shape[1] = 2147483648"}),
    kNameOf);

using Attention = hstu_attention_args;
class AttentionRefuses : public testing::TestWithParam<Spoiled<Attention>> {};
TEST_P(AttentionRefuses, Field) { test::expect_refused(test::sample_attention(), GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    BadTensors, AttentionRefuses,
    testing::Values(
        Spoiled<Attention>{"OtherStructSize", [](Attention& a) { a.struct_size = 1; }, kInvalid, "struct_size = 1"},
        Spoiled<Attention>{"AbsentQ", [](Attention& a) { a.q = {}; }, kInvalid, "q is absent"},
        Spoiled<Attention>{"AbsentOffsets", [](Attention& a) { a.seq_offsets = {}; }, kInvalid,
                           "seq_offsets is absent"},
        Spoiled<Attention>{"MatrixK", [](Attention& a) { a.k.rank = 2; }, kInvalid, "k.rank = 2"},
        Spoiled<Attention>{"IntegerQ", [](Attention& a) { a.q.dtype = HSTU_DTYPE_I32; }, kDtype, "q.dtype = i32"},
        Spoiled<Attention>{"OtherDtypeOfV", [](Attention& a) { a.v.dtype = HSTU_DTYPE_F16; }, kDtype, "v.dtype = f16"},
        Spoiled<Attention>{"OtherDtypeOfOut", [](Attention& a) { a.out.dtype = HSTU_DTYPE_F32; }, kDtype,
                           "out.dtype = f32"},
        Spoiled<Attention>{"FloatingOffsets", [](Attention& a) { a.seq_offsets.dtype = HSTU_DTYPE_F32; }, kDtype,
                           "seq_offsets.dtype = f32"},
        Spoiled<Attention>{"FloatingTargets", [](Attention& a) { a.mask.num_targets.dtype = HSTU_DTYPE_F16; }, kDtype,
                           "num_targets.dtype = f16"},
        Spoiled<Attention>{"HalfScale", [](Attention& a) { a.attn_scale.dtype = HSTU_DTYPE_F16; }, kDtype,
                           "attn_scale.dtype = f16"},
        Spoiled<Attention>{"MisalignedOffsets", [](Attention& a) { a.seq_offsets.data = slot(4, 4); }, kInvalid,
                           "seq_offsets.data"},
        Spoiled<Attention>{"LastStrideOfV", [](Attention& a) { a.v.stride[2] = 2; }, kInvalid, "v.stride[2] = 2"},
        Spoiled<Attention>{"NegativeHeadStride", [](Attention& a) { a.q.stride[1] = -64; }, kInvalid,
                           "q.stride[1] = -64"},
        Spoiled<Attention>{"OtherTotal", [](Attention& a) { a.k.shape[0] = 49; }, kShape, "k.shape[0] = 49"},
        Spoiled<Attention>{"OtherHeads", [](Attention& a) { a.v.shape[1] = 1; }, kShape, "v.shape[1] = 1"},
        Spoiled<Attention>{"OtherHeadsOfOut", [](Attention& a) { a.out.shape[1] = 1; }, kShape, "out.shape[1] = 1"},
        Spoiled<Attention>{"UnevenGroups", [](Attention& a) { a.k.shape[1] = a.v.shape[1] = 3; }, kShape,
                           "k.shape[1] = 3: it must divide num_heads = q.shape[1] = 2"},
        Spoiled<Attention>{"NoHeadOfKeys", [](Attention& a) { a.k.shape[1] = a.v.shape[1] = 0; }, kShape,
                           "k.shape[1] = 0"},
        Spoiled<Attention>{"OtherHeadDimOfK", [](Attention& a) { a.k.shape[2] = 32; }, kShape, "k.shape[2] = 32"},
        Spoiled<Attention>{"OtherHeadDimOfOut", [](Attention& a) { a.out.shape[2] = 31; }, kShape, "out.shape[2] = 31"},
        Spoiled<Attention>{"HeadDimQkTooLarge",
                           [](Attention& a) { a.q = a.k = hstu_heads(slot(0), HSTU_DTYPE_BF16, 50, 2, 257); },
                           kUnsupported, "head_dim_qk = 257"},
        Spoiled<Attention>{"HeadDimQkZero",
                           [](Attention& a) { a.q = a.k = hstu_heads(slot(0), HSTU_DTYPE_BF16, 50, 2, 0); },
                           kUnsupported, "head_dim_qk = 0"},
        Spoiled<Attention>{"HeadDimVTooLarge",
                           [](Attention& a) { a.v = hstu_heads(slot(2), HSTU_DTYPE_BF16, 50, 2, 300); }, kUnsupported,
                           "head_dim_v = 300"},
        Spoiled<Attention>{"HeadDimVZero", [](Attention& a) { a.v = hstu_heads(slot(2), HSTU_DTYPE_BF16, 50, 2, 0); },
                           kUnsupported, "head_dim_v = 0"},
        Spoiled<Attention>{"NoOffset", [](Attention& a) { a.seq_offsets.shape[0] = 0; }, kShape,
                           "seq_offsets.shape[0] = 0"},
        Spoiled<Attention>{"OtherBatchOfTargets", [](Attention& a) { a.mask.num_targets.shape[0] = 4; }, kShape,
                           "num_targets.shape[0] = 4"},
        Spoiled<Attention>{"ForgottenDtypeOfTargets", [](Attention& a) { a.mask.num_targets.dtype = HSTU_DTYPE_NONE; },
                           kInvalid, "num_targets.dtype = 0"},
        Spoiled<Attention>{"OtherRowsOfScale", [](Attention& a) { a.attn_scale.shape[0] = 2; }, kShape,
                           "attn_scale.shape[0] = 2"},
        Spoiled<Attention>{"BatchBeyond32Bits",
                           [](Attention& a) {
                             a.seq_offsets.shape[0] = (int64_t{1} << 31) + 1;
                             a.seq_offsets.data = slot(1 << 20);
                             a.mask.num_targets = {};
                           },
                           kUnsupported, "seq_offsets.shape[0] = 2147483649"},
        Spoiled<Attention>{"HeadsOfOutOverlap", [](Attention& a) { a.out.stride[1] = 31; }, kInvalid,
                           "out.stride[1] = 31"},
        Spoiled<Attention>{"RowsOfOutOverlap", [](Attention& a) { a.out.stride[0] = 63; }, kInvalid,
                           "out.stride[0] = 63"},
        Spoiled<Attention>{"OutOnQ", [](Attention& a) { a.out.data = a.q.data; }, kInvalid, "out overlaps q"},
        Spoiled<Attention>{"OutOnK", [](Attention& a) { a.out.data = slot(1, 128); }, kInvalid, "out overlaps k"},
        Spoiled<Attention>{"OutOnV", [](Attention& a) { a.out.data = a.v.data; }, kInvalid, "out overlaps v"},
        Spoiled<Attention>{"OutOnOffsets", [](Attention& a) { a.seq_offsets.data = slot(3, 8); }, kInvalid,
                           "out overlaps seq_offsets"},
        Spoiled<Attention>{"OutOnTargets", [](Attention& a) { a.mask.num_targets.data = slot(3, 8); }, kInvalid,
                           "out overlaps num_targets"},
        Spoiled<Attention>{"OutOnScale", [](Attention& a) { a.attn_scale.data = slot(3, 8); }, kInvalid,
                           "out overlaps attn_scale"}),
    kNameOf);

/// Mask FULL with nothing else, then one option.
void full(Attention& a) {
  a.mask.kind = HSTU_MASK_FULL;
  a.mask.num_targets = {};
}

INSTANTIATE_TEST_SUITE_P(
    BadAttributes, AttentionRefuses,
    testing::Values(
        Spoiled<Attention>{"NanAlpha", [](Attention& a) { a.alpha = kNan; }, kInvalid, "alpha = nan"},
        Spoiled<Attention>{"InfiniteAlpha", [](Attention& a) { a.alpha = -kInfinity; }, kInvalid, "alpha = -inf"},
        Spoiled<Attention>{"NoMaxSeqLen", [](Attention& a) { a.max_seq_len = 0; }, kInvalid, "max_seq_len = 0"},
        Spoiled<Attention>{"NegativeMaxSeqLen", [](Attention& a) { a.max_seq_len = -5; }, kInvalid, "max_seq_len = -5"},
        Spoiled<Attention>{"NegativeScalingSeqlen", [](Attention& a) { a.scaling_seqlen = -1; }, kInvalid,
                           "scaling_seqlen = -1"},
        Spoiled<Attention>{"NegativeContextual", [](Attention& a) { a.mask.contextual_seq_len = -1; }, kInvalid,
                           "contextual_seq_len = -1"},
        Spoiled<Attention>{"NegativeMaxAttnLen", [](Attention& a) { a.mask.max_attn_len = -2; }, kInvalid,
                           "max_attn_len = -2"},
        Spoiled<Attention>{"NegativeMinFull", [](Attention& a) { a.mask.min_full_attn_seq_len = -3; }, kInvalid,
                           "min_full_attn_seq_len = -3"},
        Spoiled<Attention>{"UnknownMask", [](Attention& a) { test::set_code(a.mask.kind, 4); }, kInvalid,
                           "mask.kind = 4"},
        Spoiled<Attention>{"FullWithTargets", [](Attention& a) { a.mask.kind = HSTU_MASK_FULL; }, kInvalid,
                           "num_targets"},
        Spoiled<Attention>{"FullWithContext",
                           [](Attention& a) {
                             full(a);
                             a.mask.contextual_seq_len = 1;
                           },
                           kInvalid, "contextual_seq_len = 1"},
        Spoiled<Attention>{"FullWithWindow",
                           [](Attention& a) {
                             full(a);
                             a.mask.max_attn_len = 7;
                           },
                           kInvalid, "max_attn_len = 7"},
        Spoiled<Attention>{"FullWithMinFull",
                           [](Attention& a) {
                             full(a);
                             a.mask.min_full_attn_seq_len = 7;
                           },
                           kInvalid, "min_full_attn_seq_len = 7"}),
    kNameOf);

using NormMul = hstu_norm_mul_args;
class NormMulRefuses : public testing::TestWithParam<Spoiled<NormMul>> {};
TEST_P(NormMulRefuses, Field) { test::expect_refused(test::sample_norm_mul(), GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    BadInput, NormMulRefuses,
    testing::Values(
        Spoiled<NormMul>{"OtherStructSize", [](NormMul& a) { a.struct_size = 2; }, kInvalid, "struct_size = 2"},
        Spoiled<NormMul>{"AbsentAttn", [](NormMul& a) { a.attn = {}; }, kInvalid, "attn is absent"},
        Spoiled<NormMul>{"AbsentU", [](NormMul& a) { a.u = {}; }, kInvalid, "u is absent"},
        Spoiled<NormMul>{"AbsentWeight", [](NormMul& a) { a.weight = {}; }, kInvalid, "weight is absent"},
        Spoiled<NormMul>{"AbsentBias", [](NormMul& a) { a.bias = {}; }, kInvalid, "bias is absent"},
        Spoiled<NormMul>{"AbsentOut", [](NormMul& a) { a.out = {}; }, kInvalid, "out is absent"},
        Spoiled<NormMul>{"IntegerAttn", [](NormMul& a) { a.attn.dtype = HSTU_DTYPE_I32; }, kDtype, "attn.dtype = i32"},
        Spoiled<NormMul>{"OtherDtypeOfU", [](NormMul& a) { a.u.dtype = HSTU_DTYPE_F16; }, kDtype, "u.dtype = f16"},
        Spoiled<NormMul>{"OtherDtypeOfOut", [](NormMul& a) { a.out.dtype = HSTU_DTYPE_F16; }, kDtype,
                         "out.dtype = f16"},
        Spoiled<NormMul>{"OtherDtypeOfBias", [](NormMul& a) { a.bias.dtype = HSTU_DTYPE_F16; }, kDtype,
                         "bias.dtype = f16"},
        Spoiled<NormMul>{"IntegerWeight", [](NormMul& a) { a.weight.dtype = HSTU_DTYPE_I32; }, kDtype,
                         "weight.dtype = i32"},
        Spoiled<NormMul>{"OtherRowsOfU", [](NormMul& a) { a.u.shape[0] = 1; }, kShape, "u.shape[0] = 1"},
        Spoiled<NormMul>{"OtherDimOfU", [](NormMul& a) { a.u.shape[1] = 97; }, kShape, "u.shape[1] = 97"},
        Spoiled<NormMul>{"OtherRowsOfOut", [](NormMul& a) { a.out.shape[0] = 39; }, kShape, "out.shape[0] = 39"},
        Spoiled<NormMul>{"TooFewSegments", [](NormMul& a) { a.out.shape[1] = 192; }, kShape, "out.shape[1] = 192"},
        Spoiled<NormMul>{"OneConcatIsNoneUnderGroupNorm", [](NormMul& a) { a.concat_u = 0; }, kShape,
                         "out.shape[1] = 288"},
        Spoiled<NormMul>{"WeightsOfAnotherGroupCount", [](NormMul& a) { a.weight.shape[0] = 96; }, kShape,
                         "weight.shape[0] = 96"},
        Spoiled<NormMul>{"LayerNormNeedsFullWeights", [](NormMul& a) { a.num_groups = 0; }, kShape,
                         "weight.shape[0] = 4"},
        Spoiled<NormMul>{"GroupsThatDoNotDivide",
                         [](NormMul& a) {
                           a.num_groups = 5;
                           a.weight.shape[0] = a.bias.shape[0] = 5;
                         },
                         kInvalid, "num_groups = 5"},
        Spoiled<NormMul>{"NegativeGroups", [](NormMul& a) { a.num_groups = -4; }, kInvalid, "num_groups = -4"},
        Spoiled<NormMul>{"ConcatUIsNoFlag", [](NormMul& a) { a.concat_u = 2; }, kInvalid, "concat_u = 2"},
        Spoiled<NormMul>{"ConcatXIsNoFlag", [](NormMul& a) { a.concat_x = -1; }, kInvalid, "concat_x = -1"},
        Spoiled<NormMul>{"SiluUIsNoFlag", [](NormMul& a) { a.silu_u = 3; }, kInvalid, "silu_u = 3"},
        Spoiled<NormMul>{"UnknownActivation", [](NormMul& a) { test::set_code(a.activation, 3); }, kInvalid,
                         "activation = 3"},
        Spoiled<NormMul>{"NegativeEps", [](NormMul& a) { a.eps = -1; }, kInvalid, "eps = -1"},
        Spoiled<NormMul>{"NanEps", [](NormMul& a) { a.eps = kNan; }, kInvalid, "eps = nan"},
        Spoiled<NormMul>{"RowsOfOutOverlap", [](NormMul& a) { a.out.stride[0] = 96; }, kInvalid, "out.stride[0] = 96"},
        Spoiled<NormMul>{"OutOnAttn", [](NormMul& a) { a.out.data = a.attn.data; }, kInvalid, "out overlaps attn"},
        Spoiled<NormMul>{"OutOnU", [](NormMul& a) { a.out.data = slot(1, 16); }, kInvalid, "out overlaps u"},
        Spoiled<NormMul>{"OutOnWeight", [](NormMul& a) { a.weight.data = slot(4, 16); }, kInvalid,
                         "out overlaps weight"},
        Spoiled<NormMul>{"OutOnBias", [](NormMul& a) { a.bias.data = slot(4, 4096); }, kInvalid, "out overlaps bias"}),
    kNameOf);

}  // namespace
}  // namespace hstujit
