// Defaults that follow the shape of a problem, where another choice was measured to be much slower.
#include "families/families.hpp"
#include "operators/attention/attention.hpp"
#include "operators/jagged/complete_cumsum.hpp"
#include "operators/jagged/expand_1d_jagged_to_dense.hpp"
#include "operators/jagged/jagged_lengths.hpp"
#include "operators/jagged/jagged_reduce_sum.hpp"
#include "operators/norm/dropout.hpp"
#include "operators/operators.hpp"

#include <gtest/gtest.h>

#include <string_view>

namespace hstujit {
namespace {

int32_t default_of(std::string_view family_name, const Problem& problem, std::string_view knob) {
  const Family& family = *family_named(family_name);
  const Config config = family.default_config(problem, *facts_of_target("sm_90a"));
  for (size_t i = 0; i < family.knobs.size(); ++i)
    if (family.knobs[i].name == knob) return config.value[i];
  ADD_FAILURE() << family_name << " has no knob " << knob;
  return 0;
}

Problem attention_problem(hstu_dtype dtype, int batch, int longest, int heads, int dim) {
  Problem p;
  p.op = Op::attention;
  p[attention::kDtype] = dtype;
  p[attention::kHeadDimQk] = p[attention::kHeadDimV] = dim;
  p[attention::kNumHeads] = heads;
  p[attention::kHeadsPerKv] = 1;
  p[attention::kVector] = dtype == HSTU_DTYPE_F32 ? 4 : 8;
  p[attention::kBatch] = batch;
  p[attention::kTotal] = batch * longest;
  p[attention::kMaxSeqLen] = longest;
  return p;
}

int32_t consumers(int batch, int longest, int heads, int dim) {
  return default_of("attn_fwd_sm90", attention_problem(HSTU_DTYPE_BF16, batch, longest, heads, dim), "consumers");
}

TEST(DefaultShape, AttentionHalvesItsTilesWhereTheyAreFewerThanSms) {
  EXPECT_EQ(consumers(1, 4096, 4, 128), 1);
  EXPECT_EQ(consumers(1, 4096, 2, 256), 1);
  EXPECT_EQ(consumers(8, 512, 4, 128), 2) << "short sequences: no tile is long";
  EXPECT_EQ(consumers(8, 1024, 4, 128), 2) << "more tiles than SMs";
  EXPECT_EQ(consumers(32, 2048, 4, 128), 2);
}

TEST(DefaultShape, F32AttentionTakesTheStepsItWasMeasuredBestWith) {
  const auto keys = [](int dim) {
    return default_of("attn_f32_sm80", attention_problem(HSTU_DTYPE_F32, 32, 512, 4, dim), "block_n");
  };
  EXPECT_EQ(keys(32), 16);
  EXPECT_EQ(keys(64), 32);
  EXPECT_EQ(keys(128), 16);
}

TEST(DefaultShape, SumsShareAsManyThreadsAsASequenceHasRows) {
  const auto threads = [](int batch, int rows) {
    Problem p;
    p.op = Op::jagged_reduce_sum;
    p[jagged_reduce::kDtype] = p[jagged_reduce::kOutDtype] = HSTU_DTYPE_BF16;
    p[jagged_reduce::kDim] = 512;
    p[jagged_reduce::kVector] = 8;
    p[jagged_reduce::kBatch] = batch;
    p[jagged_reduce::kRows] = rows;
    return default_of("jagged_reduce_sum_sm80", p, "threads");
  };
  EXPECT_EQ(threads(512, 1 << 19), 1024);
  EXPECT_EQ(threads(4096, 1 << 19), 128);
}

TEST(DefaultShape, ShortPrefixSumsTakeSmallBlocks) {
  const auto threads = [](int count) {
    Problem p;
    p.op = Op::complete_cumsum;
    p[cumsum::kDtype] = p[cumsum::kOutDtype] = HSTU_DTYPE_I32;
    p[cumsum::kCount] = count;
    return default_of("complete_cumsum_sm80", p, "threads");
  };
  EXPECT_EQ(threads(8192), 256);
  EXPECT_EQ(threads(16384), 512);
}

TEST(DefaultShape, RemovalOfLongSequencesHasOneProducer) {
  const auto pipes = [](int batch, int rows) {
    Problem p;
    p.op = Op::jagged_remove_first_or_last_1d;
    p[jagged_lengths::kAccessBytes] = p[jagged_lengths::kRowBytes] = 4;
    p[jagged_lengths::kLeftLength] = HSTU_DTYPE_I64;
    p[jagged_lengths::kBatch] = batch;
    p[jagged_lengths::kRows] = rows;
    return default_of("jagged_remove_1d_sm90", p, "pipes");
  };
  EXPECT_EQ(pipes(4096, 1 << 27), 1);
  EXPECT_EQ(pipes(4096, 1 << 23), 2) << "2048 elements each: a chunk is of several runs";
}

TEST(DefaultShape, ExpansionWritesSmallResultsWithMoreWarps) {
  const auto accesses = [](int batch, int longest) {
    Problem p;
    p.op = Op::expand_1d_jagged_to_dense;
    p[expand::kElementBytes] = 4;
    p[expand::kOffsetDtype] = HSTU_DTYPE_I64;
    p[expand::kBatch] = batch;
    p[expand::kMaxLen] = longest;
    return default_of("expand_1d_jagged_sm80", p, "accesses");
  };
  EXPECT_EQ(accesses(512, 2048), 1);
  EXPECT_EQ(accesses(16384, 8192), 2);
  EXPECT_EQ(accesses(1 << 20, 256), 1) << "rows of two spans";
}

TEST(DefaultShape, DropoutHidesTheLatenciesOfItsArithmetic) {
  const auto accesses = [](hstu_dtype dtype, int words, int active) {
    Problem p;
    p.op = Op::dropout;
    p[dropout::kDtype] = dtype;
    p[dropout::kActive] = active;
    p[dropout::kWords] = words;
    p[dropout::kVector] = dtype == HSTU_DTYPE_F32 ? 4 : 8;
    p[dropout::kRows] = 1 << 19;
    p[dropout::kDim] = 512;
    return default_of("dropout_sm80", p, "accesses");
  };
  EXPECT_EQ(accesses(HSTU_DTYPE_BF16, 1, 1), 4);
  EXPECT_EQ(accesses(HSTU_DTYPE_F32, 1, 1), 2);
  EXPECT_EQ(accesses(HSTU_DTYPE_BF16, 4, 1), 1);
  EXPECT_EQ(accesses(HSTU_DTYPE_BF16, 1, 0), 1) << "a copy";
}

}  // namespace
}  // namespace hstujit
