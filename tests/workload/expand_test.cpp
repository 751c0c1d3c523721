// Expansion: the calls, shapes, strides and keys that a workload stands for.
#include "operators/attention/attention.hpp"
#include "operators/dense/addmm.hpp"
#include "operators/norm/norm_mul.hpp"
#include "support/element.hpp"
#include "support/error.hpp"
#include "support/source_dir.hpp"
#include "tuner/values.hpp"
#include "workload/calls.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace hstujit {
namespace {

Workload shipped(const char* name) { return read_workload(test::source_dir() / "tools/workloads" / name); }

Workload workload(const std::string& members) {
  return parse_workload(R"({"format": "hstujit-workload-1", "name": "t", )" + members + "}");
}

template <class Args>
const Args& args_of(const Calls& calls, size_t index) {
  return std::get<Args>(calls.calls.at(index).args);
}

std::vector<int64_t> strides(const hstu_tensor& t) { return {t.stride, t.stride + t.rank}; }
std::vector<int64_t> shape(const hstu_tensor& t) { return {t.shape, t.shape + t.rank}; }
using List = std::vector<int64_t>;

TEST(ExpandDlrm, HasTheTokensOfTheIssue) {
  const Calls calls = expand_stack(shipped("dlrm_v3.json"));
  ASSERT_EQ(calls.calls.size(), 25u);
  const auto& attention = args_of<hstu_attention_args>(calls, 2);
  EXPECT_EQ(shape(attention.q), (List{98304, 4, 128}));
  EXPECT_EQ(attention.max_seq_len, 4032);
  EXPECT_EQ(shape(attention.seq_offsets), List{33});
  const Buffer& targets = calls.buffers[static_cast<size_t>(calls.find("num_targets"))];
  EXPECT_EQ(targets.list, List(32, 2048));
}

TEST(ExpandDlrm, IsFiveProblemsAndThreeWhereStagesAreOneCall) {
  const std::vector<Calls> all = expand(shipped("dlrm_v3.json"));
  const std::vector<Need> found = needs(all);
  ASSERT_EQ(found.size(), 8u);
  EXPECT_EQ(found[5].problem[attention::kMoments], 1);
  EXPECT_EQ(text(found[6].problem),
            "gated_addmm dtype=bf16 weight_dtype=bf16 dim=512 n=512 parts=4 residual=1 weight_transposed=0 vector=8 "
            "vector_w=8 m=131072");
  EXPECT_EQ(text(found[7].problem),
            "norm_addmm dtype=bf16 weight_dtype=bf16 n=2048 k=512 bias=1 bias_dtype=bf16 activation=1 act_columns=512 "
            "weight_transposed=0 vector=8 vector_w=8 split=64 m=131072");
  EXPECT_EQ(needs_on(*facts_of_target("sm_90a"), found).size(), 8u);
  EXPECT_EQ(needs_on(*facts_of_target("sm_80"), found).size(), 5u);
  for (const Need& need : found) EXPECT_EQ(need.count, 5) << text(need.problem);
  EXPECT_EQ(found[1].problem[addmm::kN], 2048);
  EXPECT_EQ(found[4].problem[addmm::kK], 1536);
  double pairs = 0;  // history rows see themselves and what came before, candidates the history and themselves
  for (int b = 0; b < 32; ++b) {
    const double history = 64 + std::round(1920.0 * b / 31);
    pairs += history * (history + 1) / 2 + 2048 * (history + 1);
  }
  EXPECT_EQ(found[2].cost.flops, pairs * 4 * 2 * (128 + 128));
  EXPECT_EQ(found[1].cost.flops + found[4].cost.flops, 2.0 * 98304 * (512 * 2048 + 1536 * 512));
}

TEST(ExpandDlrmInFp8, IsFiveProblemsAndTwoWhereTheOutputStageIsOneCall) {
  const std::vector<Calls> all = expand(shipped("dlrm_v3_fp8.json"));
  const std::vector<Need> found = needs(all);
  ASSERT_EQ(found.size(), 7u);
  EXPECT_EQ(found[5].problem[attention::kMoments], 1);
  EXPECT_EQ(text(found[6].problem),
            "gated_fp8_gemm dtype=bf16 weight_dtype=bf16 dim=512 n=512 parts=4 residual=1 vector=8 vector_w=16 "
            "m=131072");
  EXPECT_EQ(needs_on(*facts_of_target("sm_90a"), found).size(), 7u);
  EXPECT_EQ(needs_on(*facts_of_target("sm_80"), found).size(), 5u);
  for (const Need& need : found) EXPECT_EQ(need.count, 5) << text(need.problem);
}

TEST(ExpandFigures, EntriesAreDifferentProblemsWithNamesAndFigures) {
  const std::vector<Calls> all = expand(shipped("figures.json"));
  EXPECT_EQ(needs(all).size(), all.size());
  for (const Calls& calls : all) EXPECT_TRUE(calls.calls[0].figure) << calls.name;
}

TEST(ExpandFigures, AreThoseOfOperatorsThatTheDeviceHas) {
  const std::vector<Calls> all = expand(shipped("figures.json"));
  EXPECT_EQ(needs_on(*facts_of_target("sm_90a"), needs(all)).size(), all.size());
  for (const Need& need : needs_on(*facts_of_target("sm_80"), needs(all)))
    EXPECT_NE(need.problem.op, Op::norm_addmm) << need.call->name;
}

TEST(ExpandDlrm, IsThreeCallsALayerWhereBothStagesAreOne) {
  const Workload w = shipped("dlrm_v3.json");
  const Calls both = stack_on(*facts_of_target("sm_90a"), w), neither = stack_on(*facts_of_target("sm_80"), w);
  ASSERT_EQ(both.calls.size(), 15u);
  EXPECT_EQ(neither.calls.size(), 25u);
  const auto& project = args_of<hstu_norm_addmm_args>(both, 3);
  EXPECT_EQ(shape(project.out), (List{98304, 512}));
  EXPECT_EQ(shape(project.out1), (List{98304, 1536}));
  EXPECT_EQ(both.calls[3].places[0].buffer, both.calls[2].places[7].buffer) << "its x is the layer in front's out";
  EXPECT_EQ(both.calls[3].places[5].buffer, both.find("workspace")) << "u";
  EXPECT_EQ(both.calls[3].places[5].offset, both.calls[5].places[1].offset) << "u";
}

const char* const kSmall =
    R"("sequences": {"batch": 2, "history": {"kind": "explicit", "lengths": [5, 3]}, "targets": 2},
  "stack": {"layers": 3, "embedding_dim": 16, "num_heads": 2, "attn_dim": 8, "hidden_dim": 24, "concat_ux": true})";

TEST(ExpandStack, CutsUvqkIntoColumnsInThatOrder) {
  const Calls calls = expand_stack(workload(kSmall));
  const int64_t u = 48, columns = 2 * (48 + 16);
  const auto& projection = args_of<hstu_addmm_args>(calls, 1);
  EXPECT_EQ(shape(projection.out), (List{12, columns}));
  EXPECT_EQ(projection.activation, HSTU_ACTIVATION_SILU);
  EXPECT_EQ(projection.activation_columns, u);

  const Call& call = calls.calls[2];
  const auto& attention = args_of<hstu_attention_args>(calls, 2);
  const int buffer = calls.find("workspace");
  for (const int slot : {0, 1, 2}) EXPECT_EQ(call.places[static_cast<size_t>(slot)].buffer, buffer);
  const int64_t uvqk = calls.calls[1].places[4].offset, bytes = size_of(attention.q.dtype);  // elements of one byte
  EXPECT_EQ(call.places[2].offset, uvqk + bytes * u) << "v";
  EXPECT_EQ(call.places[0].offset, uvqk + bytes * 2 * u) << "q";
  EXPECT_EQ(call.places[1].offset, uvqk + bytes * (2 * u + 16)) << "k";
  EXPECT_EQ(strides(attention.q), (List{columns, 8, 1}));
  EXPECT_EQ(strides(attention.v), (List{columns, 24, 1}));
  EXPECT_EQ(calls.calls[3].places[1].offset, uvqk) << "u";
  EXPECT_EQ(strides(args_of<hstu_norm_mul_args>(calls, 3).u), (List{columns, 1}));
}

TEST(ExpandStack, ChainsLayersWithoutOverwritingTheInput) {
  const Calls calls = expand_stack(workload(kSmall));
  ASSERT_EQ(calls.calls.size(), 15u);
  const auto buffer = [&](size_t call, size_t slot) { return calls.calls[call].places[slot].buffer; };
  constexpr size_t kResidual = 3, kOut = 4;
  EXPECT_EQ(buffer(0, 0), calls.find("x"));
  for (const size_t layer : {0, 5, 10}) {
    EXPECT_EQ(buffer(layer + 4, kResidual), buffer(layer, 0)) << "the residual is the layer's input";
    EXPECT_NE(buffer(layer + 4, kOut), buffer(layer, 0));
    EXPECT_NE(buffer(layer + 4, kOut), calls.find("x"));
    EXPECT_TRUE(layer == 0 || buffer(layer, 0) == buffer(layer - 1, kOut)) << layer;
  }
  EXPECT_EQ(calls.result, buffer(14, kOut));
}

TEST(ExpandStack, GivesLayersTheirOwnWeights) {
  const Calls calls = expand_stack(workload(kSmall));
  std::set<int> weights;
  for (const size_t projection : {1, 6, 11}) weights.insert(calls.calls[projection].places[1].buffer);
  EXPECT_EQ(weights.size(), 3u);
}

TEST(ExpandStack, OffsetsAreRunningSumsOfHistoryAndTargets) {
  const Calls calls = expand_stack(workload(kSmall));
  EXPECT_EQ(calls.buffers[static_cast<size_t>(calls.find("seq_offsets"))].list, (List{0, 7, 12}));
}

TEST(ExpandStack, WithoutConcatenationTheOutputProjectionIsNarrow) {
  Workload w = workload(kSmall);
  w.stack->concat_ux = false;
  EXPECT_EQ(shape(args_of<hstu_addmm_args>(expand_stack(w), 4).w), (List{48, 16}));
  w.stack->concat_ux = true;
  EXPECT_EQ(shape(args_of<hstu_addmm_args>(expand_stack(w), 4).w), (List{144, 16}));
}

TEST(ExpandStack, TakesAnEmptyBatch) {
  const Workload w = workload(R"("sequences": {"batch": 0, "history": 5, "targets": 1}, "stack": {"layers": 1,
    "embedding_dim": 16, "num_heads": 2, "attn_dim": 8, "hidden_dim": 8})");
  EXPECT_EQ(needs(expand(w)).size(), 6u) << "with layer norm and projection as one call, too";
}

TEST(ExpandOperators, TakesRowsFromTheSequences) {
  const std::vector<Calls> all =
      expand(workload(R"("sequences": {"batch": 2, "history": 5, "targets": 2}, "operators": [
      {"op": "layer_norm", "dim": 32}, {"op": "addmm", "k": 8, "n": 8}, {"op": "norm_mul", "dim": 8}])"));
  EXPECT_EQ(shape(args_of<hstu_layer_norm_args>(all[0], 0).x), (List{14, 32}));
  EXPECT_EQ(shape(args_of<hstu_addmm_args>(all[1], 0).out), (List{14, 8}));
  EXPECT_EQ(shape(args_of<hstu_norm_mul_args>(all[2], 0).out), (List{14, 8}));
  EXPECT_EQ(all[0].name, "layer_norm 14 x 32");
}

TEST(ExpandOperators, PutsOptionsIntoTheKey) {
  const std::vector<Calls> all = expand(workload(R"("operators": [
      {"op": "addmm", "m": 4, "k": 8, "n": 16, "bias": "residual", "activation": "silu", "weight_transposed": true},
      {"op": "addmm", "m": 4, "k": 8, "n": 16, "bias": "none"},
      {"op": "norm_mul", "rows": 3, "dim": 8, "num_groups": 2, "concat_u": true, "concat_x": true},
      {"op": "attention", "num_heads": 1, "attn_dim": 8, "max_attn_len": 3, "contextual_seq_len": 1,
       "sequences": {"batch": 1, "history": 5, "targets": 1, "integer_dtype": "i32"}},
      {"op": "addmm", "m": 4, "k": 8, "n": 16, "bias": "both"}])"));
  const std::vector<Need> found = needs(all);
  ASSERT_EQ(found.size(), 5u);
  EXPECT_EQ(found[0].problem[addmm::kBias], 2);
  EXPECT_EQ(found[0].problem[addmm::kWeightTransposed], 1);
  EXPECT_EQ(found[0].problem[addmm::kActivation], HSTU_ACTIVATION_SILU);
  EXPECT_EQ(found[1].problem[addmm::kBias], 0);
  EXPECT_EQ(found[2].problem[norm_mul::kGroups], 2);
  EXPECT_EQ(shape(args_of<hstu_norm_mul_args>(all[2], 0).weight), List{2});
  EXPECT_EQ(shape(args_of<hstu_norm_mul_args>(all[2], 0).out), (List{3, 24}));
  EXPECT_EQ(found[3].problem[attention::kTargetDtype], HSTU_DTYPE_I32);
  EXPECT_EQ(found[3].problem[attention::kMaxAttnLen], 1);
  EXPECT_EQ(found[3].problem[attention::kContextual], 1);
  EXPECT_EQ(found[4].problem[addmm::kBias], 3);
}

TEST(ExpandOperators, AddsUpTheCountsOfEqualProblems) {
  const std::vector<Calls> all = expand(workload(R"("operators": [
      {"op": "layer_norm", "rows": 100, "dim": 32, "count": 2}, {"op": "layer_norm", "rows": 120, "dim": 32}])"));
  const std::vector<Need> found = needs(all);
  ASSERT_EQ(found.size(), 1u) << "100 and 120 rows share a bucket";
  EXPECT_EQ(found[0].count, 3);
  EXPECT_EQ(found[0].call, &all[0].calls[0]);
}

TEST(ExpandOperators, PassesOnWhatTheOperatorObjectsTo) {
  const auto refusal = [](const std::string& members) {
    try {
      expand(workload(members));
    } catch (const Error& error) { return error.message(); }
    return std::string("(accepted)");
  };
  const std::string activation = refusal(R"("operators": [{"op": "layer_norm", "rows": 1, "dim": 8},
    {"op": "addmm", "name": "mine", "m": 1, "k": 8, "n": 8, "activation": "sigmoid"}])");
  EXPECT_TRUE(activation.starts_with("/operators/1 (mine): activation = 2")) << activation;
  const std::string mask = refusal(R"("sequences": {"batch": 1, "history": 3, "targets": 1}, "stack": {"layers": 1,
    "embedding_dim": 8, "num_heads": 1, "attn_dim": 8, "hidden_dim": 8, "mask": "full"})");
  EXPECT_TRUE(mask.starts_with("/stack: layers[0]: attention: num_targets")) << mask;
}

TEST(ExpandOperators, RefusesOffsetsBeyondTheirType) {
  const Workload w = workload(R"("operators": [{"op": "attention", "num_heads": 1, "attn_dim": 8,
    "sequences": {"batch": 4, "history": 1000000000, "integer_dtype": "i32"}}])");
  try {
    expand(w);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(error.message().find("too large for i32"), std::string::npos) << error.message();
  }
}

}  // namespace
}  // namespace hstujit
