// Softmax heads, their log-sum-exp and the relative bias of attention: key and refusals.
#include "operators/attention/attention.hpp"

#include "operators/attention/attention_checks.hpp"
#include "operators/sample_args.hpp"

namespace hstujit {
namespace {

using test::kDtype;
using test::kInvalid;
using test::kNameOf;
using test::kShape;
using test::slot;
using test::Spoiled;
using Args = hstu_attention_args;

/// The sample with one of its two heads under softmax and a bias of 25 positions.
Args sample() {
  Args args = test::sample_attention();
  args.num_softmax_heads = 1;
  args.lse = hstu_matrix(slot(8), HSTU_DTYPE_F32, 1, 50);
  args.rab.data = slot(9);
  args.rab.dtype = HSTU_DTYPE_BF16;
  args.rab.rank = 4;
  args.rab.shape[0] = 3, args.rab.shape[1] = 2, args.rab.shape[2] = args.rab.shape[3] = 25;
  args.mask.num_contexts = hstu_vector(slot(10), HSTU_DTYPE_I64, 3);
  return args;
}

TEST(HstuAttention, SoftmaxHeadsAndBiasAreInTheKey) {
  Args args = sample();
  const Problem some = prepare(args);
  EXPECT_EQ(some[attention::kSoftmaxHeads], attention_extras::kSomeSoftmax);
  EXPECT_EQ(some[attention::kLse], 1);
  EXPECT_EQ(some[attention::kRab], 1);
  args = sample();
  args.num_softmax_heads = 2;
  args.lse = {};
  args.rab = {};
  const Problem all = prepare(args);
  EXPECT_EQ(all[attention::kSoftmaxHeads], attention_extras::kAllSoftmax);
  EXPECT_EQ(all[attention::kLse], 0);
  EXPECT_EQ(all[attention::kRab], 0);
  args = test::sample_attention();
  EXPECT_EQ(prepare(args)[attention::kSoftmaxHeads], attention_extras::kNoSoftmax);
}

TEST(HstuAttention, GroupsOfHeadsAreInTheKey) {
  Args args = sample();
  EXPECT_EQ(prepare(args)[attention::kHeadsPerKv], 1);
  args = sample();
  args.k.shape[1] = args.v.shape[1] = 1;
  EXPECT_EQ(prepare(args)[attention::kHeadsPerKv], 2);
}

TEST(HstuAttention, NumbersOfContextsAreInTheKey) {
  Args args = sample();
  EXPECT_EQ(prepare(args)[attention::kContextual], attention_checks::kOwnContexts);
  args.mask.num_contexts = {};
  EXPECT_EQ(prepare(args)[attention::kContextual], attention_checks::kNoContext);
  args.mask.contextual_seq_len = 3;
  EXPECT_EQ(prepare(args)[attention::kContextual], attention_checks::kOneContext);
}

TEST(HstuAttention, StatisticsOfRowsAreInTheKey) {
  Args args = sample();
  EXPECT_EQ(prepare(args)[attention::kMoments], 0);
  args.moments = hstu_heads(slot(11), HSTU_DTYPE_F32, 50, 2, 2);
  EXPECT_EQ(prepare(args)[attention::kMoments], 1);
}

class HstuAttentionRefuses : public testing::TestWithParam<Spoiled<Args>> {};
TEST_P(HstuAttentionRefuses, Field) { test::expect_refused(sample(), GetParam()); }
INSTANTIATE_TEST_SUITE_P(
    BadInput, HstuAttentionRefuses,
    testing::Values(
        Spoiled<Args>{"MomentsOfOneHead", [](Args& a) { a.moments = hstu_heads(slot(11), HSTU_DTYPE_F32, 50, 1, 2); },
                      kShape, "moments.shape[1] = 1"},
        Spoiled<Args>{"HalfMoments", [](Args& a) { a.moments = hstu_heads(slot(11), HSTU_DTYPE_F16, 50, 2, 2); },
                      kDtype, "moments.dtype = f16"},
        Spoiled<Args>{"MomentsWithGaps",
                      [](Args& a) {
                        a.moments = hstu_heads(slot(11), HSTU_DTYPE_F32, 50, 2, 2);
                        a.moments.stride[0] = 6;
                      },
                      kInvalid, "moments.stride = [6, 2, 1]"},
        Spoiled<Args>{"MomentsOnOut", [](Args& a) { a.moments = hstu_heads(slot(3), HSTU_DTYPE_F32, 50, 2, 2); },
                      kInvalid, "moments overlaps out"},
        Spoiled<Args>{"MomentsOnLse", [](Args& a) { a.moments = hstu_heads(slot(8), HSTU_DTYPE_F32, 50, 2, 2); },
                      kInvalid, "moments overlaps lse"},
        Spoiled<Args>{"NegativeHeads", [](Args& a) { a.num_softmax_heads = -1; }, kInvalid, "num_softmax_heads = -1"},
        Spoiled<Args>{"MoreHeads", [](Args& a) { a.num_softmax_heads = 3; }, kInvalid, "num_softmax_heads = 3"},
        Spoiled<Args>{"LseWithoutHeads", [](Args& a) { a.num_softmax_heads = 0; }, kInvalid, "lse is there"},
        Spoiled<Args>{"HalfLse", [](Args& a) { a.lse.dtype = HSTU_DTYPE_F16; }, kDtype, "lse.dtype = f16"},
        Spoiled<Args>{"RankOfLse", [](Args& a) { a.lse.rank = 1; }, kInvalid, "lse.rank = 1"},
        Spoiled<Args>{"HeadsOfLse", [](Args& a) { a.lse.shape[0] = 2; }, kShape, "lse.shape[0] = 2"},
        Spoiled<Args>{"RowsOfLse", [](Args& a) { a.lse.shape[1] = 49; }, kShape, "lse.shape[1] = 49"},
        Spoiled<Args>{"LseInQ", [](Args& a) { a.lse.data = a.q.data; }, kInvalid, "lse"},
        Spoiled<Args>{"LseInOut", [](Args& a) { a.lse.data = a.out.data; }, kInvalid, "lse"},
        Spoiled<Args>{"OtherDtypeOfRab", [](Args& a) { a.rab.dtype = HSTU_DTYPE_F16; }, kDtype, "rab.dtype = f16"},
        Spoiled<Args>{"RankOfRab", [](Args& a) { a.rab.rank = 3; }, kInvalid, "rab.rank = 3"},
        Spoiled<Args>{"BatchOfRab", [](Args& a) { a.rab.shape[0] = 2; }, kShape, "rab.shape[0] = 2"},
        Spoiled<Args>{"HeadsOfRab", [](Args& a) { a.rab.shape[1] = 3; }, kShape, "rab.shape[1] = 3"},
        Spoiled<Args>{"OblongRab", [](Args& a) { a.rab.shape[3] = 24; }, kShape, "rab.shape[3] = 24"},
        Spoiled<Args>{"RabInOut", [](Args& a) { a.rab.data = a.out.data; }, kInvalid, "out"},
        Spoiled<Args>{"ContextsTwice", [](Args& a) { a.mask.contextual_seq_len = 2; }, kInvalid,
                      "contextual_seq_len = 2"},
        Spoiled<Args>{"FloatingContexts", [](Args& a) { a.mask.num_contexts.dtype = HSTU_DTYPE_F32; }, kDtype,
                      "num_contexts.dtype"},
        Spoiled<Args>{"BatchOfContexts", [](Args& a) { a.mask.num_contexts.shape[0] = 4; }, kShape,
                      "num_contexts.shape[0] = 4"},
        Spoiled<Args>{"ContextsInOut", [](Args& a) { a.mask.num_contexts.data = a.out.data; }, kInvalid, "out"},
        Spoiled<Args>{"ContextsUnderAnotherMask",
                      [](Args& a) {
                        a.mask.num_targets = {};
                        a.mask.kind = HSTU_MASK_FULL;
                      },
                      kInvalid, "num_contexts is there"}),
    kNameOf);

}  // namespace
}  // namespace hstujit
