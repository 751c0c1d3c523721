// The operators on caches: keys, defaults, costs, and what they refuse.
#include "operators/attention/append_kv_cache.hpp"
#include "operators/attention/cache_pages.hpp"
#include "operators/attention/new_rows.hpp"
#include "operators/sample_args.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace hstujit {
namespace {

using test::kDtype;
using test::kInvalid;
using test::kNameOf;
using test::kShape;
using test::kUnsupported;
using test::slot;
using test::Spoiled;

using Delta = hstu_delta_attention_args;
using Paged = hstu_paged_attention_args;
using Append = hstu_append_kv_cache_args;

TEST(PrepareDelta, FillsDefaultsAndNamesTheKey) {
  Delta args = test::sample_delta();
  EXPECT_EQ(text(prepare(args)),
            "delta_attention dtype=bf16 head_dim_qk=64 head_dim_v=32 num_heads=4 heads_per_kv=2 offset_dtype=i64 "
            "q_offset_dtype=none target_dtype=i32 page_dtype=none page_size=0 mask=0 contextual=0 max_attn_len=0 "
            "min_full_attn=0 target_groups=0 intervals=0 attn_scale=0 vector=8 batch=4 max_q_len=8 max_seq_len=32 "
            "rab=0 page_gaps=0");
  EXPECT_EQ(args.max_q_len, 5);
  EXPECT_EQ(args.scaling_seqlen, 20);
  EXPECT_EQ(args.alpha, 0.125f);
  EXPECT_EQ(args.mask.target_group_size, 1);
}

hstu_tensor sample_rab(int64_t heads) {
  hstu_tensor rab{slot(11), HSTU_DTYPE_BF16, 4, 0, {3, heads, 25, 25}, {}};
  return rab;
}

TEST(PrepareDelta, TheBiasIsInTheKey) {
  Delta args = test::sample_delta();
  args.rab = sample_rab(4);
  EXPECT_EQ(prepare(args)[delta_attention::kRab], 1);
  args.rab = sample_rab(1);
  EXPECT_EQ(prepare(args)[delta_attention::kRab], 1);
  Paged paged = test::sample_paged();
  paged.rab = sample_rab(4);
  EXPECT_EQ(prepare(paged)[delta_attention::kRab], 1);
}

TEST(PrepareDelta, EmptyBatches) {
  Delta args = test::sample_delta();
  args.seq_offsets.shape[0] = 1;
  args.mask.num_targets.shape[0] = 0;
  args.q.shape[0] = args.out.shape[0] = args.k.shape[0] = args.v.shape[0] = 0;
  EXPECT_NO_THROW(prepare(args));
  EXPECT_EQ(args.max_q_len, 0);
}

TEST(PreparePaged, NamesTheKeyAndTakesOnePageASequence) {
  Paged args = test::sample_paged();
  EXPECT_EQ(text(prepare(args)),
            "paged_attention dtype=bf16 head_dim_qk=64 head_dim_v=32 num_heads=4 heads_per_kv=2 offset_dtype=none "
            "q_offset_dtype=none target_dtype=i64 page_dtype=i32 page_size=32 mask=0 contextual=0 max_attn_len=0 "
            "min_full_attn=0 target_groups=0 intervals=0 attn_scale=0 vector=8 batch=4 max_q_len=8 max_seq_len=128 "
            "rab=0 page_gaps=0");
  args = test::sample_paged();
  args.page_offsets = args.page_ids = {};
  EXPECT_NO_THROW(prepare(args));
}

TEST(PreparePaged, TheKeySaysWhereSlotsOfPagesDoNotLineUp) {
  Paged args = test::sample_paged();
  const auto gaps_and_vector = [&] {
    const Problem problem = prepare(args);
    return std::pair(problem[delta_attention::kPageGaps], problem[delta_attention::kVector]);
  };
  args.k_cache.stride[0] += args.k_cache.stride[1], args.v_cache.stride[0] += args.v_cache.stride[1];
  EXPECT_EQ(gaps_and_vector(), std::pair(0, 8));  // a whole slot
  args.k_cache.stride[0] += args.k_cache.stride[1];
  EXPECT_EQ(gaps_and_vector(), std::pair(1, 8));  // not as many for V
  args.v_cache.stride[0] += 8;
  args.k_cache.stride[0] += 8 - args.k_cache.stride[1];
  EXPECT_EQ(gaps_and_vector(), std::pair(1, 8));  // a part of one
  args.k_cache.stride[0] += 1;
  EXPECT_EQ(gaps_and_vector(), std::pair(1, 1));
}

TEST(PreparePaged, PagesOfKAndVMayAlternate) {
  Paged args = test::sample_paged();
  args.v = hstu_heads(slot(2), HSTU_DTYPE_BF16, 15, 2, 64);
  args.out = hstu_heads(slot(3), HSTU_DTYPE_BF16, 15, 4, 64);
  const int64_t page = 32 * 2 * 64;
  args.k_cache.stride[0] = 2 * page, args.k_cache.stride[1] = 128, args.k_cache.stride[2] = 64;
  args.k_cache.stride[3] = 1;
  args.v_cache = args.k_cache;
  args.v_cache.data = slot(6, page * 2);
  EXPECT_NO_THROW(prepare(args));
  Append append = test::sample_append();
  append.v = args.v;
  append.k_cache = args.k_cache, append.v_cache = args.v_cache;
  EXPECT_NO_THROW(prepare(append));
  append.v_cache.data = slot(6, page);
  EXPECT_THROW(prepare(append), Error);
}

TEST(ContentsOfPages, AreRefusedByTheirRules) {
  hstu_tensor cache{};
  cache.shape[0] = 3, cache.shape[1] = 32;
  const auto tensor = [](std::vector<int32_t>& v) {
    return hstu_vector(v.data(), HSTU_DTYPE_I32, static_cast<int64_t>(v.size()));
  };
  const auto refusal = [&](std::vector<int32_t> offsets, std::vector<int32_t> ids, std::vector<int32_t> lens) {
    try {
      cache_pages::check_contents(cache, tensor(offsets), tensor(ids), tensor(lens));
    } catch (const Error& e) { return std::string(e.message()); }
    return std::string();
  };
  EXPECT_EQ(refusal({0, 2, 3}, {0, 1, 2}, {32, 5}), "");
  EXPECT_EQ(refusal({-1, 2, 3}, {0, 1, 2}, {32, 5}), "page_offsets[0] = -1: it must not be negative");
  EXPECT_EQ(refusal({0, 2, 1}, {0, 1, 2}, {32, 5}),
            "page_offsets[2] = 1: it must be at least page_offsets[1] = 2 and at most page_ids.shape[0] = 3");
  EXPECT_EQ(refusal({0, 2, 4}, {0, 1, 2}, {32, 5}),
            "page_offsets[2] = 4: it must be at least page_offsets[1] = 2 and at most page_ids.shape[0] = 3");
  EXPECT_EQ(refusal({0, 2, 3}, {0, 3, 2}, {32, 5}),
            "page_ids[1] = 3: it must be less than k_cache.shape[0] = 3, and not negative");
  EXPECT_EQ(refusal({0, 2, 3}, {0, 1, 2}, {33, 5}), "last_page_lens[0] = 33: it must be 1 to page_size = 32");
}

TEST(PrepareAppend, KeepsTheSizeOfElementsNotTheirType) {
  Append args = test::sample_append();
  EXPECT_EQ(
      text(prepare(args)),
      "append_kv_cache element_bytes=2 head_dim_qk=64 head_dim_v=32 num_heads=2 offset_dtype=i64 target_dtype=i64 "
      "page_dtype=i32 page_size=32 vector=16 batch=4 total=16");
  Append other = test::sample_append();
  for (hstu_tensor* t : {&other.k, &other.v, &other.k_cache, &other.v_cache}) t->dtype = HSTU_DTYPE_F16;
  EXPECT_EQ(prepare(args), prepare(other));
  other = test::sample_append();
  other.k.data = slot(1, 4);
  EXPECT_EQ(prepare(other)[append_kv_cache::kVector], 4);
}

TEST(CostOfCaches, CountsTheBiasesOfNewRows) {
  const int64_t offsets[] = {0, 6, 6, 44};
  Delta with = test::sample_delta(), without = with;
  for (Delta* args : {&with, &without}) {
    args->seq_offsets.data = const_cast<int64_t*>(offsets);
    args->mask.num_targets = {};
  }
  with.rab = sample_rab(4);
  prepare(with);
  prepare(without);
  const Operator& op = operator_of(Op::delta_attention);
  // Five rows of the first sequence; the third has its new rows behind the 25 positions of rab.
  EXPECT_EQ(op.cost(&with).bytes - op.cost(&without).bytes, 2 * 4 * 5 * 6);
}

TEST(CostOfCaches, CountsPairsOfNewRowsAndAppendedBytes) {
  const int64_t offsets[] = {0, 6, 6, 14};
  int32_t targets[] = {2, 0, 2};
  Delta args = test::sample_delta();
  args.seq_offsets.data = const_cast<int64_t*>(offsets);
  args.mask.num_targets.data = targets;
  prepare(args);
  // Five new rows each; those of the second sequence, and none of the first, lie before its keys.
  const double pairs = (2 + 3 + 4 + 5 + 5) + (4 + 5 + 6 + 7 + 7);
  EXPECT_EQ(operator_of(Op::delta_attention).cost(&args).flops, 2 * pairs * 4 * (64 + 32));

  const int32_t page_offsets[] = {0, 2, 2, 3}, lens[] = {3, 1, 4};
  const int64_t new_offsets[] = {0, 5, 10, 15}, new_targets[] = {1, 0, 0};
  Append append = test::sample_append();
  append.page_offsets.data = const_cast<int32_t*>(page_offsets);
  append.last_page_lens.data = const_cast<int32_t*>(lens);
  append.seq_offsets.data = const_cast<int64_t*>(new_offsets);
  append.num_targets.data = const_cast<int64_t*>(new_targets);
  prepare(append);
  const double integers = 4 * 4 + 7 * 4 + 3 * 4 + 4 * 8 + 3 * 8;
  EXPECT_EQ(operator_of(Op::append_kv_cache).cost(&append).bytes, 2 * (4 + 0 + 4) * 2.0 * (64 + 32) * 2 + integers);
}

class DeltaRefuses : public testing::TestWithParam<Spoiled<Delta>> {};
TEST_P(DeltaRefuses, Field) { test::expect_refused(test::sample_delta(), GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    BadInput, DeltaRefuses,
    testing::Values(
        Spoiled<Delta>{"OtherStructSize", [](Delta& a) { a.struct_size = 8; }, kInvalid, "struct_size = 8"},
        Spoiled<Delta>{"AbsentQ", [](Delta& a) { a.q = {}; }, kInvalid, "q is absent"},
        Spoiled<Delta>{"AbsentOffsets", [](Delta& a) { a.seq_offsets = {}; }, kInvalid, "seq_offsets is absent"},
        Spoiled<Delta>{"IntegerQ", [](Delta& a) { a.q.dtype = HSTU_DTYPE_I32; }, kDtype, "q.dtype = i32"},
        Spoiled<Delta>{"OtherDtypeOfV", [](Delta& a) { a.v.dtype = HSTU_DTYPE_F16; }, kDtype, "v.dtype = f16"},
        Spoiled<Delta>{"RowsThatDoNotDivide", [](Delta& a) { a.q.shape[0] = a.out.shape[0] = 16; }, kShape,
                       "q.shape[0] = 16"},
        Spoiled<Delta>{"OtherRowsOfOut", [](Delta& a) { a.out.shape[0] = 14; }, kShape, "out.shape[0] = 14"},
        Spoiled<Delta>{"OtherRowsOfV", [](Delta& a) { a.v.shape[0] = 49; }, kShape, "v.shape[0] = 49"},
        Spoiled<Delta>{"HeadsThatDoNotDivide", [](Delta& a) { a.k.shape[1] = a.v.shape[1] = 3; }, kShape,
                       "k.shape[1] = 3"},
        Spoiled<Delta>{"OtherHeadDimOfK", [](Delta& a) { a.k.shape[2] = 32; }, kShape, "k.shape[2] = 32"},
        Spoiled<Delta>{"OtherHeadDimOfOut", [](Delta& a) { a.out.shape[2] = 16; }, kShape, "out.shape[2] = 16"},
        Spoiled<Delta>{"QOffsetsOfAnotherBatch",
                       [](Delta& a) {
                         a.q_offsets = hstu_vector(slot(8), HSTU_DTYPE_I32, 5);
                         a.max_q_len = 5;
                       },
                       kShape, "q_offsets.shape[0] = 5"},
        Spoiled<Delta>{"QOffsetsWithoutLength",
                       [](Delta& a) {
                         a.q_offsets = hstu_vector(slot(8), HSTU_DTYPE_I32, 4);
                         a.max_q_len = 0;
                       },
                       kInvalid, "max_q_len = 0"},
        Spoiled<Delta>{"OtherBatchOfTargets", [](Delta& a) { a.mask.num_targets.shape[0] = 4; }, kShape,
                       "num_targets.shape[0] = 4"},
        Spoiled<Delta>{"NoMaxSeqLen", [](Delta& a) { a.max_seq_len = 0; }, kInvalid, "max_seq_len = 0"},
        Spoiled<Delta>{"NegativeGroup", [](Delta& a) { a.mask.target_group_size = -1; }, kInvalid,
                       "target_group_size = -1"},
        Spoiled<Delta>{"WindowOfACausalMask", [](Delta& a) { a.mask.window_left = 3; }, kInvalid, "window_left = 3"},
        Spoiled<Delta>{"LocalWithTargets", [](Delta& a) { a.mask.kind = HSTU_MASK_LOCAL; }, kInvalid, "num_targets"},
        Spoiled<Delta>{"IntervalsOfACausalMask",
                       [](Delta& a) { a.mask.intervals = hstu_heads(slot(8), HSTU_DTYPE_I32, 1, 3, 15); }, kInvalid,
                       "intervals is there"},
        Spoiled<Delta>{"AbsentIntervals",
                       [](Delta& a) {
                         a.mask.kind = HSTU_MASK_INTERVALS;
                         a.mask.num_targets = {};
                       },
                       kInvalid, "intervals is absent"},
        Spoiled<Delta>{"EvenBounds",
                       [](Delta& a) {
                         a.mask.kind = HSTU_MASK_INTERVALS;
                         a.mask.num_targets = {};
                         a.mask.intervals = hstu_heads(slot(8), HSTU_DTYPE_I32, 1, 4, 15);
                       },
                       kShape, "intervals.shape[1] = 4"},
        Spoiled<Delta>{"TooManyBounds",
                       [](Delta& a) {
                         a.mask.kind = HSTU_MASK_INTERVALS;
                         a.mask.num_targets = {};
                         a.mask.intervals = hstu_heads(slot(8), HSTU_DTYPE_I32, 1, 65, 15);
                       },
                       kUnsupported, "intervals.shape[1] = 65"},
        Spoiled<Delta>{"WideBounds",
                       [](Delta& a) {
                         a.mask.kind = HSTU_MASK_INTERVALS;
                         a.mask.num_targets = {};
                         a.mask.intervals = hstu_heads(slot(8), HSTU_DTYPE_I64, 4, 3, 15);
                       },
                       kDtype, "intervals.dtype = i64"},
        Spoiled<Delta>{"OtherDtypeOfRab",
                       [](Delta& a) {
                         a.rab = sample_rab(4);
                         a.rab.dtype = HSTU_DTYPE_F16;
                       },
                       kDtype, "rab.dtype = f16"},
        Spoiled<Delta>{"BatchOfRab",
                       [](Delta& a) {
                         a.rab = sample_rab(4);
                         a.rab.shape[0] = 2;
                       },
                       kShape, "rab.shape[0] = 2"},
        Spoiled<Delta>{"HeadsOfRab", [](Delta& a) { a.rab = sample_rab(2); }, kShape, "rab.shape[1] = 2"},
        Spoiled<Delta>{"OblongRab",
                       [](Delta& a) {
                         a.rab = sample_rab(1);
                         a.rab.shape[2] = 15;
                       },
                       kShape, "rab.shape[3] = 25"},
        Spoiled<Delta>{"RabInOut",
                       [](Delta& a) {
                         a.rab = sample_rab(1);
                         a.rab.data = a.out.data;
                       },
                       kInvalid, "out overlaps rab"},
        Spoiled<Delta>{"OutOnK", [](Delta& a) { a.out.data = a.k.data; }, kInvalid, "out overlaps k"},
        Spoiled<Delta>{"OutOnOffsets", [](Delta& a) { a.seq_offsets.data = slot(3, 8); }, kInvalid,
                       "out overlaps seq_offsets"}),
    kNameOf);

class PagedRefuses : public testing::TestWithParam<Spoiled<Paged>> {};
TEST_P(PagedRefuses, Field) { test::expect_refused(test::sample_paged(), GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    BadInput, PagedRefuses,
    testing::Values(
        Spoiled<Paged>{"AbsentCache", [](Paged& a) { a.k_cache = {}; }, kInvalid, "k_cache is absent"},
        Spoiled<Paged>{"AbsentLengths", [](Paged& a) { a.last_page_lens = {}; }, kInvalid, "last_page_lens is absent"},
        Spoiled<Paged>{"OffsetsWithoutIds", [](Paged& a) { a.page_ids = {}; }, kInvalid, "page_ids is absent"},
        Spoiled<Paged>{"IdsWithoutOffsets", [](Paged& a) { a.page_offsets = {}; }, kInvalid, "page_offsets is absent"},
        Spoiled<Paged>{"OtherDtypeOfIds", [](Paged& a) { a.page_ids.dtype = HSTU_DTYPE_I64; }, kDtype,
                       "page_ids.dtype = i64"},
        Spoiled<Paged>{"OtherBatchOfOffsets", [](Paged& a) { a.page_offsets.shape[0] = 5; }, kShape,
                       "page_offsets.shape[0] = 5"},
        Spoiled<Paged>{"FewerPagesThanSequences",
                       [](Paged& a) {
                         a.page_offsets = a.page_ids = {};
                         a.k_cache.shape[0] = a.v_cache.shape[0] = 2;
                       },
                       kShape, "k_cache.shape[0] = 2"},
        Spoiled<Paged>{"EmptyPages", [](Paged& a) { a.k_cache.shape[1] = a.v_cache.shape[1] = 0; }, kUnsupported,
                       "page_size = 0"},
        Spoiled<Paged>{"OtherPagesOfV", [](Paged& a) { a.v_cache.shape[0] = 8; }, kShape, "v_cache.shape[0] = 8"},
        Spoiled<Paged>{"OtherDtypeOfCache", [](Paged& a) { a.k_cache.dtype = a.v_cache.dtype = HSTU_DTYPE_F16; },
                       kDtype, "k_cache.dtype = f16"},
        Spoiled<Paged>{"TargetsWithoutK", [](Paged& a) { a.k = {}; }, kInvalid, "k is absent"},
        Spoiled<Paged>{"VWithoutTargets",
                       [](Paged& a) {
                         a.mask.num_targets = {};
                         a.k = {};
                       },
                       kInvalid, "v is there"},
        Spoiled<Paged>{"OtherRowsOfK", [](Paged& a) { a.k.shape[0] = a.v.shape[0] = 14; }, kShape, "k.shape[0] = 14"},
        Spoiled<Paged>{"BatchOfRab",
                       [](Paged& a) {
                         a.rab = sample_rab(1);
                         a.rab.shape[0] = 4;
                       },
                       kShape, "rab.shape[0] = 4"},
        Spoiled<Paged>{"RankOfRab",
                       [](Paged& a) {
                         a.rab = sample_rab(1);
                         a.rab.rank = 3;
                       },
                       kInvalid, "rab.rank = 3"},
        Spoiled<Paged>{"OutOnCache", [](Paged& a) { a.out.data = a.k_cache.data; }, kInvalid, "out overlaps k_cache"},
        Spoiled<Paged>{"OutOnPageIds", [](Paged& a) { a.page_ids.data = slot(3, 8); }, kInvalid,
                       "out overlaps page_ids"}),
    kNameOf);

class AppendRefuses : public testing::TestWithParam<Spoiled<Append>> {};
TEST_P(AppendRefuses, Field) { test::expect_refused(test::sample_append(), GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    BadInput, AppendRefuses,
    testing::Values(
        Spoiled<Append>{"AbsentK", [](Append& a) { a.k = {}; }, kInvalid, "k is absent"},
        Spoiled<Append>{"IntegerRows",
                        [](Append& a) {
                          for (hstu_tensor* all : {&a.k, &a.v, &a.k_cache, &a.v_cache}) all->dtype = HSTU_DTYPE_I32;
                        },
                        kDtype, "k.dtype = i32"},
        Spoiled<Append>{"OtherDtypeOfCache", [](Append& a) { a.k_cache.dtype = a.v_cache.dtype = HSTU_DTYPE_F16; },
                        kDtype, "k_cache.dtype = f16"},
        Spoiled<Append>{"OtherHeadsOfCache", [](Append& a) { a.k_cache.shape[2] = a.v_cache.shape[2] = 1; }, kShape,
                        "k_cache.shape[2] = 1"},
        Spoiled<Append>{"OtherHeadDimOfCache", [](Append& a) { a.v_cache.shape[3] = 64; }, kShape,
                        "v_cache.shape[3] = 64"},
        Spoiled<Append>{"RowsThatDoNotDivide",
                        [](Append& a) {
                          a.seq_offsets = {};
                          a.k.shape[0] = a.v.shape[0] = 16;
                        },
                        kShape, "k.shape[0] = 16"},
        Spoiled<Append>{"OtherBatchOfOffsets", [](Append& a) { a.seq_offsets.shape[0] = 3; }, kShape,
                        "seq_offsets.shape[0] = 3"},
        Spoiled<Append>{"CachesOverlap", [](Append& a) { a.v_cache.data = a.k_cache.data; }, kInvalid,
                        "k_cache overlaps v_cache"},
        Spoiled<Append>{"CacheOnK", [](Append& a) { a.k.data = slot(6, 256); }, kInvalid, "k_cache overlaps k"},
        Spoiled<Append>{"CacheOnLengths", [](Append& a) { a.last_page_lens.data = slot(7, 256); }, kInvalid,
                        "v_cache overlaps last_page_lens"},
        Spoiled<Append>{"PagesOverlapThemselves",
                        [](Append& a) {
                          a.k_cache.stride[0] = 64, a.k_cache.stride[1] = 128, a.k_cache.stride[2] = 64;
                          a.k_cache.stride[3] = 1;
                        },
                        kInvalid, "k_cache.stride"}),
    kNameOf);

}  // namespace
}  // namespace hstujit
