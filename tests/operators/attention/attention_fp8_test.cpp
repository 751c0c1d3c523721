// hstu_attention_fp8: what is in its key, the shapes of its descales, and refusals.
#include "operators/attention/attention_fp8.hpp"

#include "operators/attention/attention.hpp"
#include "operators/sample_args.hpp"

namespace hstujit {
namespace {

using test::kDtype;
using test::kInvalid;
using test::kNameOf;
using test::kShape;
using test::kUnsupported;
using test::slot;
using test::Spoiled;
using Args = hstu_attention_fp8_args;

Args sample() { return test::sample_attention_fp8(); }

/// The sample with descales of another scaling.
Args scaled(hstu_fp8_attention_scaling scaling) {
  Args args = sample();
  args.scaling = scaling;
  int at = 4;
  for (hstu_tensor* t : {&args.q_descale, &args.k_descale, &args.v_descale}) {
    void* const data = slot(at++);
    if (scaling == HSTU_FP8_ATTENTION_TENSOR) *t = hstu_vector(data, HSTU_DTYPE_F32, 1);
    if (scaling == HSTU_FP8_ATTENTION_SEQUENCE) *t = hstu_matrix(data, HSTU_DTYPE_F32, 3, 2);
    if (scaling == HSTU_FP8_ATTENTION_BLOCK) *t = hstu_matrix(data, HSTU_DTYPE_F32, 1, 2);
  }
  return args;
}

TEST(AttentionFp8, KeySaysWhatShapesCode) {
  Args args = sample();
  const Problem problem = prepare(args);
  EXPECT_EQ(problem[attention::kDtype], HSTU_DTYPE_BF16);
  EXPECT_EQ(problem[attention::kHeadDimQk], 64);
  EXPECT_EQ(problem[attention::kVector], 16);
  EXPECT_EQ(problem[attention_fp8::kScaling], HSTU_FP8_ATTENTION_HEAD);
  EXPECT_EQ(problem[attention_fp8::kVectorOut], 8);
  EXPECT_EQ(problem[attention_fp8::kFastSums], 0);
  EXPECT_EQ(args.alpha, 0.125f);
  args.fast_sums = 1;
  EXPECT_EQ(prepare(args)[attention_fp8::kFastSums], 1);
  args.q.data = slot(0, 8);
  EXPECT_EQ(prepare(args)[attention::kVector], 8);
  args.out.data = slot(3, 4);
  EXPECT_EQ(prepare(args)[attention_fp8::kVectorOut], 2);
}

/// The sample with two heads of q on one of k and v.
Args grouped() {
  Args args = sample();
  args.k.shape[1] = args.v.shape[1] = 1;
  args.k_descale.shape[0] = args.v_descale.shape[0] = 1;
  return args;
}

TEST(AttentionFp8, GroupsOfHeadsAreInTheKey) {
  Args args = sample(), shared = grouped();
  EXPECT_EQ(prepare(args)[attention_fp8::kHeadsPerKv], 1);
  EXPECT_EQ(prepare(shared)[attention_fp8::kHeadsPerKv], 2);
}

TEST(AttentionFp8, FieldsUpToIntervalsAreThoseOfAttention) {
  const auto fields = fields_of(Op::attention_fp8), of_attention = fields_of(Op::attention);
  for (size_t i = 0; i <= attention::kIntervals; ++i) EXPECT_EQ(fields[i].name, of_attention[i].name);
}

TEST(AttentionFp8, DescalesHaveTheStridesOfTheirScaling) {
  struct Form {
    hstu_fp8_attention_scaling scaling;
    int64_t unit, head;
  };
  for (const auto& [scaling, unit, head] :
       {Form{HSTU_FP8_ATTENTION_TENSOR, 0, 0}, Form{HSTU_FP8_ATTENTION_HEAD, 0, 1},
        Form{HSTU_FP8_ATTENTION_SEQUENCE, 2, 1}, Form{HSTU_FP8_ATTENTION_BLOCK, 2, 1}}) {
    Args args = scaled(scaling);
    EXPECT_EQ(prepare(args)[attention_fp8::kScaling], scaling);
    EXPECT_EQ(attention_fp8::unit_stride(args.k_descale, scaling), unit);
    EXPECT_EQ(attention_fp8::head_stride(args.k_descale, scaling), head);
  }
  Args transposed = scaled(HSTU_FP8_ATTENTION_SEQUENCE);
  transposed.v_descale.stride[0] = 1, transposed.v_descale.stride[1] = 3;
  prepare(transposed);
  EXPECT_EQ(attention_fp8::unit_stride(transposed.v_descale, transposed.scaling), 1);
  EXPECT_EQ(attention_fp8::head_stride(transposed.v_descale, transposed.scaling), 3);
}

class AttentionFp8Refuses : public testing::TestWithParam<Spoiled<Args>> {};
TEST_P(AttentionFp8Refuses, Field) { test::expect_refused(sample(), GetParam()); }
INSTANTIATE_TEST_SUITE_P(
    BadInput, AttentionFp8Refuses,
    testing::Values(
        Spoiled<Args>{"Size", [](Args& a) { a.struct_size = 8; }, kInvalid, "struct_size"},
        Spoiled<Args>{"WideQ", [](Args& a) { a.q.dtype = HSTU_DTYPE_BF16; }, kDtype, "q.dtype = bf16"},
        Spoiled<Args>{"OtherFp8", [](Args& a) { a.k.dtype = HSTU_DTYPE_E5M2; }, kDtype, "k.dtype = e5m2"},
        Spoiled<Args>{"WideV", [](Args& a) { a.v.dtype = HSTU_DTYPE_F16; }, kDtype, "v.dtype = f16"},
        Spoiled<Args>{"F32Out", [](Args& a) { a.out.dtype = HSTU_DTYPE_F32; }, kDtype, "out.dtype = f32"},
        Spoiled<Args>{"Fp8Out", [](Args& a) { a.out.dtype = HSTU_DTYPE_E4M3; }, kDtype, "out.dtype = e4m3"},
        Spoiled<Args>{"RowsOfK", [](Args& a) { a.k.shape[0] = 49; }, kShape, "k.shape[0] = 49"},
        Spoiled<Args>{"HeadsOfV", [](Args& a) { a.v.shape[1] = 1; }, kShape, "v.shape[1] = 1"},
        Spoiled<Args>{"UnevenGroups",
                      [](Args& a) {
                        a.k.shape[1] = a.v.shape[1] = 3;
                        a.k_descale.shape[0] = a.v_descale.shape[0] = 3;
                      },
                      kShape, "k.shape[1] = 3: it must divide num_heads = q.shape[1] = 2"},
        Spoiled<Args>{"ScalesOfQForKeys",
                      [](Args& a) {
                        a = grouped();
                        a.k_descale.shape[0] = 2;
                      },
                      kShape, "k_descale.shape[0] = 2: it must be num_kv_heads = k.shape[1] = 1"},
        Spoiled<Args>{"HeadsOfOut", [](Args& a) { a.out.shape[1] = 1; }, kShape, "out.shape[1] = 1"},
        Spoiled<Args>{"DimOfOut", [](Args& a) { a.out.shape[2] = 16; }, kShape, "out.shape[2] = 16"},
        Spoiled<Args>{"WideHead",
                      [](Args& a) {
                        a.q.shape[2] = a.k.shape[2] = 512;
                        a.q.stride[0] = a.k.stride[0] = 1024;
                      },
                      kUnsupported, "head_dim_qk = 512"},
        Spoiled<Args>{"OutInV", [](Args& a) { a.out.data = a.v.data; }, kInvalid, "out"},
        Spoiled<Args>{"Scaling", [](Args& a) { test::set_code(a.scaling, 4); }, kInvalid, "scaling = 4"},
        Spoiled<Args>{"NoScale", [](Args& a) { a.q_descale = {}; }, kInvalid, "q_descale"},
        Spoiled<Args>{"HalfScale", [](Args& a) { a.k_descale.dtype = HSTU_DTYPE_F16; }, kDtype,
                      "k_descale.dtype = f16"},
        Spoiled<Args>{"HeadsOfScale", [](Args& a) { a.v_descale.shape[0] = 1; }, kShape, "v_descale.shape[0] = 1"},
        Spoiled<Args>{"RankOfScale", [](Args& a) { a.scaling = HSTU_FP8_ATTENTION_SEQUENCE; }, kInvalid,
                      "q_descale.rank = 1"},
        Spoiled<Args>{"OneForTheTensor", [](Args& a) { a.scaling = HSTU_FP8_ATTENTION_TENSOR; }, kShape,
                      "q_descale.shape[0] = 2"},
        Spoiled<Args>{"Sequences",
                      [](Args& a) {
                        a.scaling = HSTU_FP8_ATTENTION_SEQUENCE;
                        a.q_descale = hstu_matrix(slot(4), HSTU_DTYPE_F32, 4, 2);
                      },
                      kShape, "q_descale.shape[0] = 4"},
        Spoiled<Args>{"Blocks",
                      [](Args& a) {
                        a.scaling = HSTU_FP8_ATTENTION_BLOCK;
                        a.q_descale = hstu_matrix(slot(4), HSTU_DTYPE_F32, 2, 2);
                      },
                      kShape, "q_descale.shape[0] = 2"},
        Spoiled<Args>{"ScaleInOut", [](Args& a) { a.k_descale.data = a.out.data; }, kInvalid, "out"},
        Spoiled<Args>{"Offsets", [](Args& a) { a.seq_offsets = {}; }, kInvalid, "seq_offsets"},
        Spoiled<Args>{"Targets", [](Args& a) { a.mask.num_targets.shape[0] = 2; }, kShape, "num_targets.shape[0] = 2"},
        Spoiled<Args>{"Longest", [](Args& a) { a.max_seq_len = 0; }, kInvalid, "max_seq_len = 0"},
        Spoiled<Args>{"Mask", [](Args& a) { test::set_code(a.mask.kind, 4); }, kInvalid, "mask.kind = 4"},
        Spoiled<Args>{"TargetsOfFull", [](Args& a) { a.mask.kind = HSTU_MASK_FULL; }, kInvalid, "num_targets is there"},
        Spoiled<Args>{"Alpha", [](Args& a) { a.alpha = test::kNan; }, kInvalid, "alpha"},
        Spoiled<Args>{"FastSums", [](Args& a) { a.fast_sums = 2; }, kInvalid, "fast_sums = 2"}),
    kNameOf);

}  // namespace
}  // namespace hstujit
