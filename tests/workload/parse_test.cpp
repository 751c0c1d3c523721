// Workload files are read strictly: what is accepted, and the message for everything else.
#include "support/error.hpp"
#include "support/source_dir.hpp"
#include "support/temp_dir.hpp"
#include "workload/workload.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <ostream>

namespace hstujit {
namespace {

/// The message that parsing ends with.
std::string refusal(const std::string& text) {
  try {
    parse_workload(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), HSTU_ERROR_INVALID_ARGUMENT);
    return error.message();
  }
  return "(accepted)";
}

std::string document(const std::string& members) {
  return R"({"format": "hstujit-workload-1", "name": "t", )" + members + "}";
}
std::string one_operator(const std::string& members) { return document(R"("operators": [{)" + members + "}]"); }
std::string with_history(const std::string& history) {
  return document(R"("sequences": {"batch": 3, "history": )" + history +
                  R"(}, "stack": {"layers": 1, "embedding_dim": 8, "num_heads": 1, "attn_dim": 8, "hidden_dim": 8})");
}

TEST(ParseWorkload, ReadsEveryMemberOfAStack) {
  const Workload w = parse_workload(document(R"("dtype": "f16", "about": "x",
    "sequences": {"batch": 2, "history": {"kind": "uniform", "from": 3, "to": 9, "seed": 7}, "targets": 4,
                  "integer_dtype": "i32"},
    "stack": {"layers": 3, "embedding_dim": 16, "num_heads": 2, "attn_dim": 8, "hidden_dim": 24, "eps": 0.5,
              "concat_ux": false, "alpha": 0.25, "max_seq_len": 100, "scaling_seqlen": 50, "contextual_seq_len": 1,
              "max_attn_len": 5, "min_full_attn_seq_len": 2})"));
  EXPECT_EQ(w.dtype, HSTU_DTYPE_F16);
  EXPECT_EQ(w.sequences->history.kind, Lengths::Kind::uniform);
  EXPECT_EQ(w.sequences->targets->from, 4);
  EXPECT_EQ(w.sequences->integer_dtype, HSTU_DTYPE_I32);
  EXPECT_EQ(w.stack->layers, 3);
  EXPECT_EQ(w.stack->hidden_dim, 24);
  EXPECT_EQ(w.stack->eps, 0.5f);
  EXPECT_FALSE(w.stack->concat_ux);
  EXPECT_EQ(w.stack->attention.alpha, 0.25f);
  EXPECT_EQ(w.stack->attention.scaling_seqlen, 50);
  EXPECT_EQ(w.stack->attention.min_full_attn_seq_len, 2);
  EXPECT_EQ(w.stack->projections, HSTU_DTYPE_NONE);
}

TEST(ParseWorkload, ReadsProjectionsInFp8) {
  const Workload w = read_workload(test::source_dir() / "tools/workloads/dlrm_v3_fp8.json");
  const Workload bf16 = read_workload(test::source_dir() / "tools/workloads/dlrm_v3.json");
  EXPECT_EQ(w.stack->projections, HSTU_DTYPE_E4M3);
  EXPECT_EQ(w.stack->accumulation, HSTU_FP8_ACCUMULATE_FAST);
  EXPECT_EQ(w.dtype, bf16.dtype);
  EXPECT_EQ(w.stack->layers, bf16.stack->layers);
  EXPECT_EQ(w.stack->embedding_dim, bf16.stack->embedding_dim);
}

TEST(ParseWorkload, ReadsEveryOperator) {
  const Workload w = parse_workload(document(R"("dtype": "f16", "sequences": {"batch": 2, "history": 5}, "operators": [
    {"op": "layer_norm", "dim": 32, "weighted": false, "name": "n", "count": 2.5},
    {"op": "addmm", "m": 5, "k": 8, "n": 16, "bias": "residual", "activation": "silu", "activation_columns": 8,
     "weight_transposed": true, "dtype": "bf16"},
    {"op": "attention", "num_heads": 2, "attn_dim": 32, "mask": "full"},
    {"op": "norm_mul", "rows": 9, "dim": 64, "concat_u": true, "concat_x": true, "num_groups": 4},
    {"op": "addmm", "m": 5, "k": 8, "n": 16, "activation": "gelu"},
    {"op": "addmm", "m": 5, "k": 8, "n": 16, "bias": "both", "activation": "gelu_tanh"}])"));
  ASSERT_EQ(w.operators.size(), 6u);
  EXPECT_EQ(w.operators[0].count, 2.5);
  EXPECT_EQ(w.operators[0].dtype, HSTU_DTYPE_F16);
  EXPECT_EQ(std::get<LayerNormSpec>(w.operators[0].spec).rows, 0);
  EXPECT_EQ(w.operators[1].dtype, HSTU_DTYPE_BF16);
  EXPECT_TRUE(std::get<AddmmSpec>(w.operators[1].spec).weight_transposed);
  EXPECT_EQ(std::get<AttentionSpec>(w.operators[2].spec).hidden_dim, 32);
  EXPECT_EQ(std::get<NormMulSpec>(w.operators[3].spec).num_groups, 4);
  EXPECT_EQ(std::get<AddmmSpec>(w.operators[4].spec).activation, HSTU_ACTIVATION_GELU);
  EXPECT_EQ(std::get<AddmmSpec>(w.operators[5].spec).activation, HSTU_ACTIVATION_GELU_TANH);
  EXPECT_EQ(std::get<AddmmSpec>(w.operators[1].spec).bias, AddmmSpec::Bias::residual);
  EXPECT_EQ(std::get<AddmmSpec>(w.operators[4].spec).bias, AddmmSpec::Bias::row);
  EXPECT_EQ(std::get<AddmmSpec>(w.operators[5].spec).bias, AddmmSpec::Bias::both);
}

struct Refusal {
  const char* what;
  std::string text;
  std::string message;  ///< must be contained

  friend void PrintTo(const Refusal& refusal, std::ostream* out) { *out << refusal.what; }
};

class RefusedWorkload : public testing::TestWithParam<Refusal> {};

TEST_P(RefusedWorkload, NamesTheFieldAndTheRule) {
  const std::string message = refusal(GetParam().text);
  EXPECT_NE(message.find(GetParam().message), std::string::npos) << message;
}

INSTANTIATE_TEST_SUITE_P(
    Messages, RefusedWorkload,
    testing::Values(
        Refusal{
            "OtherProjections",
            R"({"format": "hstujit-workload-1", "name": "t", "stack": {"layers": 1, "embedding_dim": 8, "num_heads": 1,
                    "attn_dim": 8, "hidden_dim": 8, "projections": "e5m2"}})",
            "/stack/projections: \"e5m2\": use one of \"e4m3\""},
        Refusal{
            "AccumulationOfBf16",
            R"({"format": "hstujit-workload-1", "name": "t", "stack": {"layers": 1, "embedding_dim": 8, "num_heads": 1,
                    "attn_dim": 8, "hidden_dim": 8, "accumulation": "fast"}})",
            "/stack/accumulation"},
        Refusal{"NotJson", "{", "not JSON"}, Refusal{"Empty", "", "not JSON"},
        Refusal{"NotAnObject", "[]", "(document): []: an object {...} belongs here"},
        Refusal{"NoFormat", R"({"name": "t"})", "/format: missing"},
        Refusal{"OtherFormat", R"({"format": "hstujit-workload-9"})",
                "/format: \"hstujit-workload-9\": this release reads"},
        Refusal{"Nothing", R"({"format": "hstujit-workload-1", "name": "t"})", "(document): it names neither"},
        Refusal{"UnknownKey", document(R"("layers": 1, "operators": [])"), "/layers: unknown; known here: about"},
        Refusal{"EscapedKey", document(R"("a/b~c": 1, "operators": [])"), "/a~1b~0c: unknown"},
        Refusal{"RepeatedKey", document(R"("operators": [], "operators": [])"), "\"operators\" stands twice"},
        Refusal{"Dtype", document(R"("dtype": "fp8")"), "/dtype: \"fp8\": use one of \"bf16\", \"f16\", \"f32\""},
        Refusal{
            "StackWithoutSequences",
            document(R"("stack": {"layers": 1, "embedding_dim": 8, "num_heads": 1, "attn_dim": 8, "hidden_dim": 8})"),
            "/stack: it needs /sequences"},
        Refusal{"NegativeLayers", document(R"("sequences": {"batch": 1, "history": 1}, "stack": {"layers": -1})"),
                "/stack/layers: -1: it must be from 1 to 1000"},
        Refusal{"FractionalLayers", document(R"("sequences": {"batch": 1, "history": 1}, "stack": {"layers": 1.5})"),
                "/stack/layers: 1.5: an integer"},
        Refusal{"MissingDim", document(R"("sequences": {"batch": 1, "history": 1}, "stack": {"layers": 1})"),
                "/stack/embedding_dim: missing"},
        Refusal{"HugeInteger", one_operator(R"("op": "layer_norm", "rows": 18446744073709551615, "dim": 8)"),
                "/operators/0/rows: 18446744073709551615: it must be from"},
        Refusal{"OperatorsNotAList", document(R"("operators": {})"), "/operators: {}: a list"},
        Refusal{"UnknownOperator", one_operator(R"("op": "sort")"), "/operators/0/op: \"sort\": use one of"},
        Refusal{"NoOperator", one_operator(R"("dim": 3)"), "/operators/0/op: missing"},
        Refusal{"OperatorKey", one_operator(R"("op": "layer_norm", "rows": 1, "dim": 8, "cols": 8)"),
                "/operators/0/cols: unknown"},
        Refusal{"RowsFromNowhere", one_operator(R"("op": "layer_norm", "dim": 8)"),
                "/operators/0: it has no rows of its own"},
        Refusal{"SequencesFromNowhere", one_operator(R"("op": "attention", "num_heads": 1, "attn_dim": 8)"),
                "/operators/0: it has no sequences of its own"},
        Refusal{"Count", one_operator(R"("op": "layer_norm", "rows": 1, "dim": 8, "count": 0)"),
                "/operators/0/count: 0: it must be positive"},
        Refusal{"FlagAsNumber", one_operator(R"("op": "norm_mul", "rows": 1, "dim": 8, "concat_u": 1)"),
                "/operators/0/concat_u: 1: true or false"},
        Refusal{"NegativeEps", one_operator(R"("op": "layer_norm", "rows": 1, "dim": 8, "eps": -1)"),
                "/operators/0/eps: -1: it must not be negative"},
        Refusal{"LengthKind", with_history(R"({"kind": "zipf"})"),
                "/sequences/history/kind: \"zipf\": use one of \"constant\", \"linear\", \"uniform\", \"explicit\""},
        Refusal{"BackwardsRange", with_history(R"({"kind": "linear", "from": 9, "to": 3})"),
                "/sequences/history/to: 3: it must be from 9"},
        Refusal{"SeedlessDraw", with_history(R"({"kind": "uniform", "from": 1, "to": 3})"),
                "/sequences/history/seed: missing"},
        Refusal{"KeyOfAnotherKind", with_history(R"({"kind": "constant", "length": 3, "seed": 1})"),
                "/sequences/history/seed: unknown"},
        Refusal{"WrongCount", with_history(R"({"kind": "explicit", "lengths": [1, 2]})"),
                "/sequences/history/lengths: 2 lengths for a batch of 3"},
        Refusal{"WrongLength", with_history(R"({"kind": "explicit", "lengths": [1, "2", 3]})"),
                "/sequences/history/lengths/1: \"2\": an integer"},
        Refusal{"NegativeLength", with_history("-4"), "/sequences/history: -4: it must be from 0"}),
    [](const auto& param_info) { return param_info.param.what; });

TEST(ReadWorkload, PutsThePathInFront) {
  const test::TempDir dir;
  const std::string path = dir.str() + "/w.json";
  std::ofstream(path) << "{}";
  try {
    read_workload(path);
    FAIL();
  } catch (const Error& error) { EXPECT_EQ(error.message(), path + ": /format: missing"); }
}

TEST(ReadWorkload, SaysWhyAFileCannotBeRead) {
  const test::TempDir dir;
  for (const std::string& path : {dir.str() + "/absent.json", dir.str()}) {
    try {
      read_workload(path);
      FAIL() << path;
    } catch (const Error& error) {
      EXPECT_TRUE(error.message().starts_with(path + ": cannot be read")) << error.message();
    }
  }
}

}  // namespace
}  // namespace hstujit
