// norm_mul_backward as a problem: what prepare() refuses, its key, and its workspace.
#include "operators/norm/norm_mul_backward.hpp"

#include "operators/sample_args.hpp"

namespace hstujit {
namespace {

using test::kDtype;
using test::kInvalid;
using test::kNameOf;
using test::kShape;
using test::slot;
using test::Spoiled;

using Args = hstu_norm_mul_backward_args;

constexpr hstu_dtype kF32 = HSTU_DTYPE_F32, kBf16 = HSTU_DTYPE_BF16;

/// All tensors there, three segments of [40, 96] bf16 with weights in f32.
Args sample() {
  auto args = sized<Args>();
  args.forward.attn = hstu_matrix(slot(0), kBf16, 40, 96);
  args.forward.u = hstu_matrix(slot(1), kBf16, 40, 96);
  args.forward.weight = hstu_vector(slot(2), kF32, 96);
  args.forward.bias = hstu_vector(slot(3), kF32, 96);
  args.forward.concat_u = args.forward.concat_x = 1;
  args.dout = hstu_matrix(slot(4), kBf16, 40, 288);
  args.moments = hstu_heads(slot(5), kF32, 40, 4, 2);
  args.dattn = hstu_matrix(slot(6), kBf16, 40, 96);
  args.du = hstu_matrix(slot(7), kBf16, 40, 96);
  args.dweight = hstu_vector(slot(8), kF32, 96);
  args.dbias = hstu_vector(slot(9), kF32, 96);
  args.out = hstu_matrix(slot(10), kBf16, 40, 288);
  args.valid_rows = hstu_vector(slot(11), HSTU_DTYPE_I64, 1);
  args.workspace = slot(12);
  args.workspace_size = size_t{40} * 2 * 96 * 4;
  return args;
}

class NormMulBackwardRefuses : public testing::TestWithParam<Spoiled<Args>> {};
TEST_P(NormMulBackwardRefuses, Field) { test::expect_refused(sample(), GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    BadInput, NormMulBackwardRefuses,
    testing::Values(
        Spoiled<Args>{"OtherStructSize", [](Args& a) { a.struct_size = 8; }, kInvalid, "struct_size = 8"},
        Spoiled<Args>{"OtherSizeOfForward", [](Args& a) { a.forward.struct_size = 8; }, kInvalid, "struct_size = 8"},
        Spoiled<Args>{"AbsentAttn", [](Args& a) { a.forward.attn = {}; }, kInvalid, "attn is absent"},
        Spoiled<Args>{"AbsentU", [](Args& a) { a.forward.u = {}; }, kInvalid, "u is absent"},
        Spoiled<Args>{"AbsentWeight", [](Args& a) { a.forward.weight = {}; }, kInvalid, "weight is absent"},
        Spoiled<Args>{"AbsentBias", [](Args& a) { a.forward.bias = {}; }, kInvalid, "bias is absent"},
        Spoiled<Args>{"AbsentDout", [](Args& a) { a.dout = {}; }, kInvalid, "dout is absent"},
        Spoiled<Args>{"OtherDimOfU", [](Args& a) { a.forward.u.shape[1] = 95; }, kShape, "u.shape[1] = 95"},
        Spoiled<Args>{"OtherDtypeOfDout", [](Args& a) { a.dout.dtype = HSTU_DTYPE_F16; }, kDtype, "dout.dtype = f16"},
        Spoiled<Args>{"OtherRowsOfDout", [](Args& a) { a.dout.shape[0] = 39; }, kShape, "dout.shape[0] = 39"},
        Spoiled<Args>{"OneSegmentOfDout", [](Args& a) { a.dout.shape[1] = 96; }, kShape, "dout.shape[1] = 96"},
        Spoiled<Args>{"OtherDimOfDattn", [](Args& a) { a.dattn.shape[1] = 95; }, kShape, "dattn.shape[1] = 95"},
        Spoiled<Args>{"OtherDtypeOfDu", [](Args& a) { a.du.dtype = kF32; }, kDtype, "du.dtype = f32"},
        Spoiled<Args>{"RowsOfDuCoincide", [](Args& a) { a.du.stride[0] = 0, a.du.stride[1] = 1; }, kInvalid,
                      "du.stride[0] = 0"},
        Spoiled<Args>{"OneSegmentOfOut", [](Args& a) { a.out.shape[1] = 96; }, kShape, "out.shape[1] = 96"},
        Spoiled<Args>{"OutInFp8", [](Args& a) { a.out.dtype = HSTU_DTYPE_E4M3; }, kDtype, "out.dtype = e4m3"},
        Spoiled<Args>{"MomentsIn16Bits", [](Args& a) { a.moments.dtype = kBf16; }, kDtype, "moments.dtype = bf16"},
        Spoiled<Args>{"MomentsOfOtherRows", [](Args& a) { a.moments.shape[0] = 41; }, kShape, "moments.shape[0] = 41"},
        Spoiled<Args>{"PartsThatDoNotDivide", [](Args& a) { a.moments = hstu_heads(slot(5), kF32, 40, 5, 2); }, kShape,
                      "moments.shape[1] = 5"},
        Spoiled<Args>{"FewerPartsThanGroups",
                      [](Args& a) {
                        a.forward.num_groups = 8;
                        for (hstu_tensor* each : {&a.forward.weight, &a.forward.bias, &a.dweight, &a.dbias})
                          each->shape[0] = 8;
                      },
                      kShape, "moments.shape[1] = 4"},
        Spoiled<Args>{"MisalignedMoments", [](Args& a) { a.moments.data = slot(5, 4); }, kInvalid, "moments.data = "},
        Spoiled<Args>{"OtherDtypeOfDweight", [](Args& a) { a.dweight.dtype = kBf16; }, kDtype, "dweight.dtype = bf16"},
        Spoiled<Args>{"ShortDbias", [](Args& a) { a.dbias.shape[0] = 95; }, kShape, "dbias.shape[0] = 95"},
        Spoiled<Args>{"DbiasOfRms",
                      [](Args& a) {
                        a.forward.norm = HSTU_NORM_RMS;
                        a.forward.bias = {};
                      },
                      kInvalid, "dbias is there, but norm = RMS has no bias"},
        Spoiled<Args>{"GroupsThatDoNotDivide", [](Args& a) { a.forward.num_groups = 7; }, kInvalid, "num_groups = 7"},
        Spoiled<Args>{"TooManyGroups", [](Args& a) { a.forward.num_groups = 1025; }, HSTU_ERROR_UNSUPPORTED,
                      "num_groups = 1025"},
        Spoiled<Args>{"Activation", [](Args& a) { a.forward.activation = HSTU_ACTIVATION_GELU; }, kInvalid,
                      "activation = 3"},
        Spoiled<Args>{"Norm", [](Args& a) { test::set_code(a.forward.norm, 3); }, kInvalid, "norm = 3"},
        Spoiled<Args>{"DropoutRatio", [](Args& a) { a.forward.dropout_ratio = 1; }, kInvalid, "dropout_ratio = 1"},
        Spoiled<Args>{"FloatingValidRows", [](Args& a) { a.valid_rows.dtype = kF32; }, kDtype, "valid_rows.dtype"},
        Spoiled<Args>{"TwoValidRows", [](Args& a) { a.valid_rows.shape[0] = 2; }, kShape, "valid_rows.shape[0] = 2"},
        Spoiled<Args>{"DattnOnU", [](Args& a) { a.dattn.data = slot(1); }, kInvalid, "dattn overlaps u"},
        Spoiled<Args>{"DattnOnDout", [](Args& a) { a.dattn.data = slot(4); }, kInvalid, "dattn overlaps dout"},
        Spoiled<Args>{"DuOnDattn", [](Args& a) { a.du.data = slot(6); }, kInvalid, "overlaps"},
        Spoiled<Args>{"DuShiftedAgainstU", [](Args& a) { a.du.data = slot(1, 192); }, kInvalid, "du overlaps u"},
        Spoiled<Args>{"OutOnAttn", [](Args& a) { a.out.data = slot(0); }, kInvalid, "out overlaps attn"},
        Spoiled<Args>{"OutShiftedAgainstDout", [](Args& a) { a.out.data = slot(4, 192); }, kInvalid,
                      "out overlaps dout"},
        Spoiled<Args>{"DweightOnWeight", [](Args& a) { a.dweight.data = slot(2); }, kInvalid,
                      "dweight overlaps weight"},
        Spoiled<Args>{"DbiasOnDweight", [](Args& a) { a.dbias.data = slot(8, 4); }, kInvalid, "overlaps"},
        Spoiled<Args>{"Accumulate", [](Args& a) { a.accumulate = 2; }, kInvalid, "accumulate = 2"},
        Spoiled<Args>{"Determinism", [](Args& a) { test::set_code(a.determinism, 2); }, kInvalid, "determinism = 2"},
        Spoiled<Args>{"NegativeEps", [](Args& a) { a.forward.eps = -1; }, kInvalid, "eps"},
        Spoiled<Args>{"SmallWorkspace", [](Args& a) { --a.workspace_size; }, kInvalid, "workspace_size = 30719"},
        Spoiled<Args>{"AbsentWorkspace", [](Args& a) { a.workspace = nullptr; }, kInvalid, "workspace = 0x0"},
        Spoiled<Args>{"WorkspaceOnDu", [](Args& a) { a.workspace = slot(7); }, kInvalid, "workspace overlaps du"}),
    kNameOf);

TEST(NormMulBackward, TakesResultsInThePlaceOfWhatTheyAreOf) {
  Args args = sample();
  args.dattn = args.forward.attn;
  args.du = args.forward.u;
  args.out = args.dout;
  EXPECT_NO_THROW(prepare(args));
}

TEST(NormMulBackward, TakesDattnAndDuAsColumnsOfOneBuffer) {
  Args args = sample();
  args.dattn = hstu_matrix(slot(6), kBf16, 40, 96);
  args.dattn.stride[0] = 384, args.dattn.stride[1] = 1;
  args.du = args.dattn;
  args.du.data = slot(6, 96 * 2);
  EXPECT_NO_THROW(prepare(args));
}

TEST(NormMulBackward, NeedsAWorkspaceForSumsAlone) {
  const WorkspaceSlot& workspace = *operator_of(Op::norm_mul_backward).workspace;
  Args args = sample();
  EXPECT_EQ(workspace.bytes(&args), size_t{40} * 2 * 96 * 4);
  args.forward.attn.shape[0] = int64_t{1} << 40;
  EXPECT_EQ(workspace.bytes(&args), static_cast<size_t>(norm_mul_backward::kMostBlocks) * 2 * 96 * 4);
  args.dweight = {};
  args.forward.num_groups = 4;
  EXPECT_EQ(workspace.bytes(&args), static_cast<size_t>(norm_mul_backward::kMostBlocks) * 32 * 4);
  args = sample();
  args.dweight = args.dbias = {};
  args.workspace = nullptr;
  args.workspace_size = 0;
  EXPECT_NO_THROW(prepare(args));
}

TEST(NormMulBackward, HasItsOptionsInItsKey) {
  Args args = sample();
  EXPECT_EQ(text(prepare(args)),
            "norm_mul_backward dtype=bf16 weight_dtype=f32 gradient_dtype=f32 dim=96 groups=0 activation=0 concat_u=1 "
            "concat_x=1 silu_u=0 norm=0 dropout=0 parts=4 has_dattn=1 has_du=1 has_dweight=1 has_dbias=1 has_out=1 "
            "vector=8 rows=64");
  args = sample();
  args.accumulate = 1;
  args.determinism = HSTU_FASTEST;
  Args plain = sample();
  EXPECT_EQ(prepare(args), prepare(plain)) << "no kernel differs by them";
}

TEST(NormMulBackward, FlagsThatDoNothingAreClearedAsInTheForward) {
  Args args = sample();
  args.forward.concat_u = 0;
  args.dout.shape[1] = args.out.shape[1] = 192;
  args.dout.stride[0] = args.dout.stride[1] = args.out.stride[0] = args.out.stride[1] = 0;
  Args silu = args;
  silu.forward.silu_u = 1;
  EXPECT_EQ(prepare(silu), prepare(args));
}

}  // namespace
}  // namespace hstujit
