// attention_backward as a problem: what prepare() refuses, its key, and its workspace.
#include "operators/attention/attention_backward.hpp"

#include "operators/sample_args.hpp"

namespace hstujit {
namespace {

using test::kDtype;
using test::kInvalid;
using test::kNameOf;
using test::kShape;
using test::slot;
using test::Spoiled;

using Args = hstu_attention_backward_args;
namespace key = attention_backward;

constexpr hstu_dtype kF32 = HSTU_DTYPE_F32, kBf16 = HSTU_DTYPE_BF16, kF16 = HSTU_DTYPE_F16;

hstu_tensor tables(int index, int64_t heads) { return {slot(index), kBf16, 4, 0, {3, heads, 25, 25}, {}}; }

/// 50 rows in 3 sequences, 2 heads of 64 and 32, one of them under softmax, with targets, a bias and scales of rows;
/// all gradients.
Args sample() {
  auto args = sized<Args>();
  args.forward = test::sample_attention();
  args.forward.struct_size = 0;
  args.forward.num_softmax_heads = 1;
  args.forward.rab = tables(9, 2);
  args.dout = hstu_heads(slot(10), kBf16, 50, 2, 32);
  args.forward.out = hstu_heads(slot(11), kBf16, 50, 2, 32);
  args.forward.lse = hstu_matrix(slot(12), kF32, 1, 50);
  args.dq = hstu_heads(slot(13), kBf16, 50, 2, 64);
  args.dk = hstu_heads(slot(14), kBf16, 50, 2, 64);
  args.dv = hstu_heads(slot(15), kBf16, 50, 2, 32);
  args.drab = tables(16, 2);
  args.d_attn_scale = hstu_vector(slot(17), kF32, 50);
  args.workspace = slot(18);
  args.workspace_size = size_t{2} * 50 * 4;
  return args;
}

class AttentionBackwardRefuses : public testing::TestWithParam<Spoiled<Args>> {};
TEST_P(AttentionBackwardRefuses, Field) { test::expect_refused(sample(), GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    BadInput, AttentionBackwardRefuses,
    testing::Values(
        Spoiled<Args>{"OtherStructSize", [](Args& a) { a.struct_size = 8; }, kInvalid, "struct_size = 8"},
        Spoiled<Args>{"OtherSizeOfForward", [](Args& a) { a.forward.struct_size = 8; }, kInvalid,
                      "forward.struct_size = 8"},
        Spoiled<Args>{"AbsentQ", [](Args& a) { a.forward.q = {}; }, kInvalid, "q is absent"},
        Spoiled<Args>{"AbsentDout", [](Args& a) { a.dout = {}; }, kInvalid, "dout is absent"},
        Spoiled<Args>{"AbsentOffsets", [](Args& a) { a.forward.seq_offsets = {}; }, kInvalid, "seq_offsets is absent"},
        Spoiled<Args>{"OtherDtypeOfDout", [](Args& a) { a.dout.dtype = kF16; }, kDtype, "dout.dtype = f16"},
        Spoiled<Args>{"OtherRowsOfDout", [](Args& a) { a.dout.shape[0] = 49; }, kShape, "dout.shape[0] = 49"},
        Spoiled<Args>{"OtherHeadsOfDout", [](Args& a) { a.dout.shape[1] = 3; }, kShape, "dout.shape[1] = 3"},
        Spoiled<Args>{"OtherDimOfDout", [](Args& a) { a.dout.shape[2] = 64; }, kShape, "dout.shape[2] = 64"},
        Spoiled<Args>{"MoreSoftmaxHeadsThanHeads", [](Args& a) { a.forward.num_softmax_heads = 3; }, kInvalid,
                      "num_softmax_heads = 3"},
        Spoiled<Args>{"AbsentLse", [](Args& a) { a.forward.lse = {}; }, kInvalid,
                      "lse is absent, but num_softmax_heads = 1: give what hstu_attention left"},
        Spoiled<Args>{"AbsentOut", [](Args& a) { a.forward.out = {}; }, kInvalid,
                      "out is absent, but num_softmax_heads = 1"},
        Spoiled<Args>{"LseIn16Bits", [](Args& a) { a.forward.lse.dtype = kBf16; }, kDtype, "lse.dtype = bf16"},
        Spoiled<Args>{"LseOfMoreHeads", [](Args& a) { a.forward.lse.shape[0] = 2; }, kShape, "lse.shape[0] = 2"},
        Spoiled<Args>{"LseOfFewerRows", [](Args& a) { a.forward.lse.shape[1] = 49; }, kShape, "lse.shape[1] = 49"},
        Spoiled<Args>{"OtherDtypeOfOut", [](Args& a) { a.forward.out.dtype = kF16; }, kDtype, "out.dtype = f16"},
        Spoiled<Args>{"OtherDimOfOut", [](Args& a) { a.forward.out.shape[2] = 31; }, kShape, "out.shape[2] = 31"},
        Spoiled<Args>{"OtherDtypeOfDq", [](Args& a) { a.dq.dtype = kF32; }, kDtype, "dq.dtype = f32"},
        Spoiled<Args>{"OtherRowsOfDq", [](Args& a) { a.dq.shape[0] = 51; }, kShape, "dq.shape[0] = 51"},
        Spoiled<Args>{"OtherHeadsOfDk", [](Args& a) { a.dk.shape[1] = 1; }, kShape, "dk.shape[1] = 1"},
        Spoiled<Args>{"OtherDimOfDv", [](Args& a) { a.dv.shape[2] = 64; }, kShape, "dv.shape[2] = 64"},
        Spoiled<Args>{"RowsOfDqCoincide", [](Args& a) { a.dq.stride[0] = 0, a.dq.stride[1] = 64, a.dq.stride[2] = 1; },
                      kInvalid, "dq.stride[0] = 0"},
        Spoiled<Args>{"DrabWithoutRab", [](Args& a) { a.forward.rab = {}; }, kInvalid,
                      "drab is there, but rab is absent"},
        Spoiled<Args>{"OtherHeadsOfDrab", [](Args& a) { a.drab.shape[1] = 1; }, kShape, "drab.shape[1] = 1"},
        Spoiled<Args>{"OtherDtypeOfDrab", [](Args& a) { a.drab.dtype = kF32; }, kDtype, "drab.dtype = f32"},
        Spoiled<Args>{"GradientOfAbsentScale", [](Args& a) { a.forward.attn_scale = {}; }, kInvalid,
                      "d_attn_scale is there, but attn_scale is absent"},
        Spoiled<Args>{"ShortGradientOfScale", [](Args& a) { a.d_attn_scale.shape[0] = 1; }, kShape,
                      "d_attn_scale.shape[0] = 1"},
        Spoiled<Args>{"GradientOfScaleIn16Bits", [](Args& a) { a.d_attn_scale.dtype = kBf16; }, kDtype,
                      "d_attn_scale.dtype = bf16"},
        Spoiled<Args>{"DqOnQ", [](Args& a) { a.dq.data = slot(0); }, kInvalid, "dq overlaps q"},
        Spoiled<Args>{"DvOnDout", [](Args& a) { a.dv.data = slot(10); }, kInvalid, "dv overlaps dout"},
        Spoiled<Args>{"DvOnOut", [](Args& a) { a.dv.data = slot(11); }, kInvalid, "dv overlaps out"},
        Spoiled<Args>{"DkOnDq", [](Args& a) { a.dk.data = slot(13, 64); }, kInvalid, "dk overlaps dq"},
        Spoiled<Args>{"DrabOnRab", [](Args& a) { a.drab.data = slot(9); }, kInvalid, "drab overlaps rab"},
        Spoiled<Args>{"GradientOfScaleOnLse", [](Args& a) { a.d_attn_scale.data = slot(12); }, kInvalid,
                      "d_attn_scale overlaps lse"},
        Spoiled<Args>{"Accumulate", [](Args& a) { a.accumulate = 2; }, kInvalid, "accumulate = 2"},
        Spoiled<Args>{"Determinism", [](Args& a) { test::set_code(a.determinism, 2); }, kInvalid, "determinism = 2"},
        Spoiled<Args>{"SmallWorkspace", [](Args& a) { --a.workspace_size; }, kInvalid, "workspace_size = 399"},
        Spoiled<Args>{"AbsentWorkspace", [](Args& a) { a.workspace = nullptr; }, kInvalid, "workspace = 0x0"},
        Spoiled<Args>{"MisalignedWorkspace", [](Args& a) { a.workspace = slot(18, 128); }, kInvalid, "workspace = 0x"},
        Spoiled<Args>{"WorkspaceOnDv", [](Args& a) { a.workspace = slot(15); }, kInvalid, "workspace overlaps dv"}),
    kNameOf);

TEST(AttentionBackward, TakesGradientsAsColumnsOfOneBuffer) {
  Args args = sample();
  int64_t column = 0;
  for (hstu_tensor* t : {&args.dv, &args.dq, &args.dk}) {
    t->data = slot(13, 2 * column);
    t->stride[0] = 320, t->stride[1] = t->shape[2], t->stride[2] = 1;
    column += 2 * t->shape[2];
  }
  EXPECT_NO_THROW(prepare(args));
}

TEST(AttentionBackward, ReadsWhatTheCallLeftOnlyOfSoftmaxHeads) {
  Args args = sample();
  args.forward.num_softmax_heads = 0;
  args.forward.lse.dtype = kBf16;
  args.forward.out.shape[0] = 7;
  EXPECT_NO_THROW(prepare(args));
  EXPECT_FALSE(present(args.forward.out) || present(args.forward.lse));
}

TEST(AttentionBackward, NeedsAWorkspaceForScalesAlone) {
  const WorkspaceSlot& workspace = *operator_of(Op::attention_backward).workspace;
  Args args = sample();
  EXPECT_EQ(workspace.bytes(&args), size_t{2} * 50 * 4);
  args.d_attn_scale = {};
  EXPECT_EQ(workspace.bytes(&args), size_t{0});
  args.workspace = nullptr;
  args.workspace_size = 0;
  EXPECT_NO_THROW(prepare(args));
}

TEST(AttentionBackward, HasItsOptionsInItsKey) {
  Args args = sample();
  EXPECT_EQ(text(prepare(args)),
            "attention_backward dtype=bf16 head_dim_qk=64 head_dim_v=32 num_heads=2 offset_dtype=i64 target_dtype=i32 "
            "mask=0 contextual=0 max_attn_len=0 min_full_attn=0 attn_scale=2 vector=8 batch=4 total=64 max_seq_len=32 "
            "target_groups=0 intervals=0 softmax_heads=2 rab=1 heads_per_kv=1 has_dq=1 has_dk=1 has_dv=1 drab=1 "
            "has_d_attn_scale=1");
  args = sample();
  args.dq = args.dv = {};
  args.forward.rab = tables(9, 1), args.drab = tables(16, 1);
  const Problem fewer = prepare(args);
  EXPECT_EQ(fewer[key::kHasDq], 0);
  EXPECT_EQ(fewer[key::kHasDk], 1);
  EXPECT_EQ(fewer[key::kHasDv], 0);
  EXPECT_EQ(fewer[key::kDrab], key::kDrabOfAll);
  args = sample();
  args.accumulate = 1;
  args.determinism = HSTU_FASTEST;
  Args plain = sample();
  EXPECT_EQ(prepare(args), prepare(plain)) << "no kernel differs by them";
}

}  // namespace
}  // namespace hstujit
