// swish_layer_norm_backward as a problem: what prepare() refuses, its key, and its workspace.
#include "operators/norm/row_norm_backward.hpp"
#include "operators/sample_args.hpp"

namespace hstujit {
namespace {

using test::kDtype;
using test::kInvalid;
using test::kNameOf;
using test::kShape;
using test::slot;
using test::Spoiled;

using Args = hstu_swish_layer_norm_backward_args;

constexpr hstu_dtype kF32 = HSTU_DTYPE_F32, kBf16 = HSTU_DTYPE_BF16;

/// All tensors there, [40, 96] bf16 with weights in f32.
Args sample() {
  auto args = sized<Args>();
  args.forward.x = hstu_matrix(slot(0), kBf16, 40, 96);
  args.forward.weight = hstu_vector(slot(1), kF32, 96);
  args.forward.bias = hstu_vector(slot(2), kF32, 96);
  args.dout = hstu_matrix(slot(3), kBf16, 40, 96);
  args.moments = hstu_heads(slot(4), kF32, 40, 1, 2);
  args.dresidual = hstu_matrix(slot(5), kBf16, 40, 96);
  args.dx = hstu_matrix(slot(6), kBf16, 40, 96);
  args.dweight = hstu_vector(slot(7), kF32, 96);
  args.dbias = hstu_vector(slot(8), kF32, 96);
  args.valid_rows = hstu_vector(slot(9), HSTU_DTYPE_I64, 1);
  args.workspace = slot(10);
  args.workspace_size = size_t{40} * 2 * 96 * 4;
  return args;
}

class SwishLayerNormBackwardRefuses : public testing::TestWithParam<Spoiled<Args>> {};
TEST_P(SwishLayerNormBackwardRefuses, Field) { test::expect_refused(sample(), GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    BadInput, SwishLayerNormBackwardRefuses,
    testing::Values(
        Spoiled<Args>{"OtherStructSize", [](Args& a) { a.struct_size = 8; }, kInvalid, "struct_size = 8"},
        Spoiled<Args>{"OtherSizeOfForward", [](Args& a) { a.forward.struct_size = 8; }, kInvalid, "struct_size = 8"},
        Spoiled<Args>{"AbsentX", [](Args& a) { a.forward.x = {}; }, kInvalid, "x is absent"},
        Spoiled<Args>{"AbsentDout", [](Args& a) { a.dout = {}; }, kInvalid, "dout is absent"},
        Spoiled<Args>{"OtherDtypeOfDout", [](Args& a) { a.dout.dtype = HSTU_DTYPE_F16; }, kDtype, "dout.dtype = f16"},
        Spoiled<Args>{"OtherRowsOfDout", [](Args& a) { a.dout.shape[0] = 39; }, kShape, "dout.shape[0] = 39"},
        Spoiled<Args>{"OtherDimOfDx", [](Args& a) { a.dx.shape[1] = 95; }, kShape, "dx.shape[1] = 95"},
        Spoiled<Args>{"OtherDtypeOfDx", [](Args& a) { a.dx.dtype = kF32; }, kDtype, "dx.dtype = f32"},
        Spoiled<Args>{"RowsOfDxCoincide", [](Args& a) { a.dx.stride[0] = 0; }, kInvalid, "dx.stride[0] = 0"},
        Spoiled<Args>{"OtherDtypeOfDresidual", [](Args& a) { a.dresidual.dtype = kF32; }, kDtype, "dresidual.dtype"},
        Spoiled<Args>{"DresidualWithoutDx", [](Args& a) { a.dx = {}; }, kInvalid, "dresidual is there"},
        Spoiled<Args>{"MomentsIn16Bits", [](Args& a) { a.moments.dtype = kBf16; }, kDtype, "moments.dtype = bf16"},
        Spoiled<Args>{"MomentsOfParts", [](Args& a) { a.moments.shape[1] = 2; }, kShape, "moments.shape[1] = 2"},
        Spoiled<Args>{"MisalignedMoments", [](Args& a) { a.moments.data = slot(4, 4); }, kInvalid, "moments.data = "},
        Spoiled<Args>{"OddStrideOfMoments", [](Args& a) { a.moments.stride[0] = 3; }, kInvalid,
                      "moments.stride[0] = 3"},
        Spoiled<Args>{"WeightAlone", [](Args& a) { a.forward.bias = {}; }, kInvalid, "bias is absent"},
        Spoiled<Args>{"GradientOfAbsentWeight", [](Args& a) { a.forward.weight = a.forward.bias = {}; }, kInvalid,
                      "dweight is there, but weight is absent"},
        Spoiled<Args>{"OtherDtypeOfDweight", [](Args& a) { a.dweight.dtype = kBf16; }, kDtype, "dweight.dtype = bf16"},
        Spoiled<Args>{"ShortDbias", [](Args& a) { a.dbias.shape[0] = 95; }, kShape, "dbias.shape[0] = 95"},
        Spoiled<Args>{"FloatingValidRows", [](Args& a) { a.valid_rows.dtype = kF32; }, kDtype, "valid_rows.dtype"},
        Spoiled<Args>{"TwoValidRows", [](Args& a) { a.valid_rows.shape[0] = 2; }, kShape, "valid_rows.shape[0] = 2"},
        Spoiled<Args>{"DxOnMoments", [](Args& a) { a.moments.data = slot(6); }, kInvalid, "dx overlaps moments"},
        Spoiled<Args>{"DxShiftedAgainstDout", [](Args& a) { a.dx.data = slot(3, 192); }, kInvalid, "dx overlaps dout"},
        Spoiled<Args>{"DweightOnWeight", [](Args& a) { a.dweight.data = slot(1); }, kInvalid,
                      "dweight overlaps weight"},
        Spoiled<Args>{"DbiasOnDweight", [](Args& a) { a.dbias.data = slot(7, 4); }, kInvalid, "overlaps"},
        Spoiled<Args>{"Accumulate", [](Args& a) { a.accumulate = 2; }, kInvalid, "accumulate = 2"},
        Spoiled<Args>{"Determinism", [](Args& a) { test::set_code(a.determinism, 2); }, kInvalid, "determinism = 2"},
        Spoiled<Args>{"NegativeEps", [](Args& a) { a.forward.eps = -1; }, kInvalid, "eps"},
        Spoiled<Args>{"SmallWorkspace", [](Args& a) { --a.workspace_size; }, kInvalid, "workspace_size = 30719"},
        Spoiled<Args>{"AbsentWorkspace", [](Args& a) { a.workspace = nullptr; }, kInvalid, "workspace = 0x0"},
        Spoiled<Args>{"MisalignedWorkspace", [](Args& a) { a.workspace = slot(10, 128); }, kInvalid, "workspace = 0x"},
        Spoiled<Args>{"WorkspaceOnDx", [](Args& a) { a.workspace = slot(6); }, kInvalid, "workspace overlaps dx"}),
    kNameOf);

TEST(SwishLayerNormBackward, TakesDxInThePlaceOfItsInputs) {
  for (hstu_tensor Args::*member : {&Args::dout, &Args::dresidual}) {
    Args args = sample();
    args.*member = args.dx;
    EXPECT_NO_THROW(prepare(args));
  }
  Args args = sample();
  args.forward.x = args.dx;
  EXPECT_NO_THROW(prepare(args));
}

TEST(SwishLayerNormBackward, NeedsAWorkspaceForSumsAlone) {
  const WorkspaceSlot& workspace = *operator_of(Op::swish_layer_norm_backward).workspace;
  Args args = sample();
  EXPECT_EQ(workspace.bytes(&args), size_t{40} * 2 * 96 * 4);
  args.forward.x.shape[0] = int64_t{1} << 40;
  EXPECT_EQ(workspace.bytes(&args), static_cast<size_t>(layer_norm_backward::kMostBlocks) * 2 * 96 * 4);
  args.dweight = {};
  EXPECT_EQ(workspace.bytes(&args), static_cast<size_t>(layer_norm_backward::kMostBlocks) * 96 * 4);
  args = sample();
  args.dweight = args.dbias = {};
  args.workspace = nullptr;
  args.workspace_size = 0;
  EXPECT_NO_THROW(prepare(args));
}

TEST(SwishLayerNormBackward, HasItsOptionsInItsKey) {
  Args args = sample();
  EXPECT_EQ(
      text(prepare(args)),
      "swish_layer_norm_backward dtype=bf16 weight_dtype=f32 gradient_dtype=f32 has_moments=1 has_dresidual=1 has_dx=1 "
      "has_dweight=1 has_dbias=1 activation=0 dim=96 vector=8 rows=64");
  args = sample();
  args.accumulate = 1;
  args.determinism = HSTU_FASTEST;
  Args plain = sample();
  EXPECT_EQ(prepare(args), prepare(plain)) << "no kernel differs by them";
}

}  // namespace
}  // namespace hstujit
