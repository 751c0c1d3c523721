// addmm_wgrad as a problem: what prepare() refuses, its key, and its workspace.
#include "operators/dense/addmm_wgrad.hpp"

#include "dense/addmm_wgrad.h"
#include "operators/sample_args.hpp"

namespace hstujit {
namespace {

using test::kDtype;
using test::kInvalid;
using test::kNameOf;
using test::kShape;
using test::slot;
using test::Spoiled;

using Args = hstu_addmm_wgrad_args;
namespace key = addmm_wgrad;

constexpr hstu_dtype kF32 = HSTU_DTYPE_F32, kBf16 = HSTU_DTYPE_BF16;

size_t needed(const Args& args) { return operator_of(Op::addmm_wgrad).workspace->bytes(&args); }

/// All tensors there, 1000 rows of 64 and 96 columns.
Args sample() {
  auto args = sized<Args>();
  args.x = hstu_matrix(slot(0), kBf16, 1000, 64);
  args.dout = hstu_matrix(slot(1), kBf16, 1000, 96);
  args.dw = hstu_matrix(slot(2), kF32, 64, 96);
  args.dbias = hstu_vector(slot(3), kBf16, 96);
  args.valid_rows = hstu_vector(slot(4), HSTU_DTYPE_I64, 1);
  args.workspace = slot(5);
  args.workspace_size = needed(args);
  return args;
}

class AddmmWgradRefuses : public testing::TestWithParam<Spoiled<Args>> {};
TEST_P(AddmmWgradRefuses, Field) { test::expect_refused(sample(), GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    BadInput, AddmmWgradRefuses,
    testing::Values(
        Spoiled<Args>{"OtherStructSize", [](Args& a) { a.struct_size = 8; }, kInvalid, "struct_size = 8"},
        Spoiled<Args>{"AbsentX", [](Args& a) { a.x = {}; }, kInvalid, "x is absent"},
        Spoiled<Args>{"Fp8X", [](Args& a) { a.x.dtype = HSTU_DTYPE_E4M3; }, kDtype, "x.dtype = e4m3"},
        Spoiled<Args>{"AbsentDout", [](Args& a) { a.dout = {}; }, kInvalid, "dout is absent"},
        Spoiled<Args>{"OtherDtypeOfDout", [](Args& a) { a.dout.dtype = HSTU_DTYPE_F16; }, kDtype, "dout.dtype = f16"},
        Spoiled<Args>{"OtherRowsOfDout", [](Args& a) { a.dout.shape[0] = 999; }, kShape, "dout.shape[0] = 999"},
        Spoiled<Args>{"OtherRowsOfDw", [](Args& a) { a.dw.shape[0] = 63; }, kShape, "dw.shape[0] = 63"},
        Spoiled<Args>{"OtherColumnsOfDw", [](Args& a) { a.dw.shape[1] = 95; }, kShape, "dw.shape[1] = 95"},
        Spoiled<Args>{"DwNotTransposed", [](Args& a) { a.transposed = 1; }, kShape, "dw.shape[1] = 96"},
        Spoiled<Args>{"OtherDtypeOfDw", [](Args& a) { a.dw.dtype = HSTU_DTYPE_F16; }, kDtype, "dw.dtype = f16"},
        Spoiled<Args>{"ColumnsOfDwApart", [](Args& a) { a.dw.stride[0] = 1, a.dw.stride[1] = 64; }, kInvalid,
                      "dw.stride[1] = 64"},
        Spoiled<Args>{"RowsOfDwCoincide", [](Args& a) { a.dw.stride[0] = 0; }, kInvalid, "dw.stride[0] = 0"},
        Spoiled<Args>{"IntegerDbias", [](Args& a) { a.dbias.dtype = HSTU_DTYPE_I32; }, kDtype, "dbias.dtype = i32"},
        Spoiled<Args>{"ShortDbias", [](Args& a) { a.dbias.shape[0] = 95; }, kShape, "dbias.shape[0] = 95"},
        Spoiled<Args>{"FloatingValidRows", [](Args& a) { a.valid_rows.dtype = kF32; }, kDtype, "valid_rows.dtype"},
        Spoiled<Args>{"TwoValidRows", [](Args& a) { a.valid_rows.shape[0] = 2; }, kShape, "valid_rows.shape[0] = 2"},
        Spoiled<Args>{"DwOnX", [](Args& a) { a.dw.data = slot(0); }, kInvalid, "dw overlaps x"},
        Spoiled<Args>{"DwOnDout", [](Args& a) { a.dw.data = slot(1); }, kInvalid, "dw overlaps dout"},
        Spoiled<Args>{"DbiasOnDw", [](Args& a) { a.dbias.data = slot(2); }, kInvalid, "dw overlaps dbias"},
        Spoiled<Args>{"DbiasOnValidRows", [](Args& a) { a.dbias.data = slot(4); }, kInvalid,
                      "dbias overlaps valid_rows"},
        Spoiled<Args>{"Transposed", [](Args& a) { a.transposed = 2; }, kInvalid, "transposed = 2"},
        Spoiled<Args>{"Accumulate", [](Args& a) { a.accumulate = -1; }, kInvalid, "accumulate = -1"},
        Spoiled<Args>{"Tf32", [](Args& a) { a.allow_tf32 = 2; }, kInvalid, "allow_tf32 = 2"},
        Spoiled<Args>{"Determinism", [](Args& a) { test::set_code(a.determinism, 2); }, kInvalid, "determinism = 2"},
        Spoiled<Args>{"SmallWorkspace", [](Args& a) { --a.workspace_size; }, kInvalid, "workspace_size = "},
        Spoiled<Args>{"AbsentWorkspace", [](Args& a) { a.workspace = nullptr; }, kInvalid, "workspace = 0x0"},
        Spoiled<Args>{"MisalignedWorkspace", [](Args& a) { a.workspace = slot(5, 128); }, kInvalid, "workspace = 0x"},
        Spoiled<Args>{"WorkspaceOnDw", [](Args& a) { a.workspace = slot(2); }, kInvalid, "workspace overlaps dw"}),
    kNameOf);

TEST(AddmmWgrad, HasItsOptionsInItsKey) {
  Args args = sample();
  EXPECT_EQ(text(prepare(args)),
            "addmm_wgrad dtype=bf16 gradient_dtype=f32 bias_dtype=bf16 n=96 k=64 transposed=0 x_along_rows=0 "
            "dout_along_rows=0 vector_x=8 vector_dout=8 vector_dw=4 allow_tf32=0 m=1024");
  Args same = sample();
  same.accumulate = 1;
  same.determinism = HSTU_FASTEST;
  same.allow_tf32 = 1;
  same.valid_rows = {};
  EXPECT_EQ(prepare(same), prepare(args)) << "no kernel differs by them";
}

TEST(AddmmWgrad, TakesAWeightThatIsStoredTransposed) {
  Args args = sample();
  args.transposed = 1;
  args.dw = hstu_matrix(slot(2), kBf16, 96, 64);
  const Problem problem = prepare(args);
  EXPECT_EQ(problem[key::kTransposed], 1);
  EXPECT_EQ(problem[key::kK], 64);
  EXPECT_EQ(problem[key::kN], 96);
  EXPECT_EQ(problem[key::kVectorDw], 8);
}

TEST(AddmmWgrad, TakesOperandsInAnyLayout) {
  Args args = sample();
  args.x.stride[0] = 1, args.x.stride[1] = 1000;
  args.dout.stride[0] = 200, args.dout.stride[1] = 2;
  Problem problem = prepare(args);
  EXPECT_EQ(problem[key::kXAlongRows], 1);
  EXPECT_EQ(problem[key::kVectorX], 1) << "accesses along the rows would reach beyond the valid ones";
  EXPECT_EQ(problem[key::kVectorDout], 0);
  args.valid_rows = {};
  problem = prepare(args);
  EXPECT_EQ(problem[key::kVectorX], 8);
  args.dw = {};
  args.workspace_size = needed(args);
  problem = prepare(args);
  EXPECT_EQ(problem[key::kK], 0) << "x is not read";
  EXPECT_EQ(problem[key::kGradientDtype], HSTU_DTYPE_NONE);
}

TEST(AddmmWgrad, CostsWhatItReadsAndWrites) {
  Args args = sample();
  prepare(args);
  EXPECT_EQ(cost_of(args).flops, 2.0 * 1000 * 64 * 96 + 1000 * 96);
  EXPECT_EQ(cost_of(args).bytes, 2.0 * 1000 * (64 + 96) + 4 * 64 * 96 + 2 * 96);
  args.accumulate = 1;
  args.dw = {};
  EXPECT_EQ(cost_of(args).flops, 1000.0 * 96);
  EXPECT_EQ(cost_of(args).bytes, 2.0 * 1000 * 96 + 2 * 2 * 96);
}

/// A place for each part's sums, as the largest tile pads them, and for none where there is one part of few rows.
TEST(AddmmWgrad, NeedsAWorkspaceForPartsAlone) {
  Args args = sample();
  EXPECT_EQ(needed(args), size_t{4} * (256 * 256 + 256) * 4);
  args.dbias = {};
  EXPECT_EQ(needed(args), size_t{4} * 256 * 256 * 4);
  args.x.shape[0] = args.dout.shape[0] = int64_t{1} << 40;
  EXPECT_EQ(needed(args), static_cast<size_t>(key::kMostParts) * 256 * 256 * 4);
  args.x.shape[1] = args.dout.shape[1] = 16384;
  EXPECT_EQ(needed(args), size_t{16384} * 16384 * 4) << "sums of many rows lie there even in one part";
  args.x.shape[0] = args.dout.shape[0] = hstu::kRowsInTensorCores;
  EXPECT_EQ(needed(args), 0u);
  args = sample();
  args.dw = {};
  EXPECT_EQ(needed(args), size_t{16} * 256 * 4);
  args.dbias = {};
  EXPECT_EQ(needed(args), 0u);
  args.workspace = nullptr;
  args.workspace_size = 0;
  EXPECT_NO_THROW(prepare(args));
}

}  // namespace
}  // namespace hstujit
