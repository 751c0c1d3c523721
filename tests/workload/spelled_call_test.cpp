// Entries that spell an operator's args struct, from the text to the args.
#include "operators/problem.hpp"
#include "support/error.hpp"
#include "workload/calls.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

namespace hstujit {
namespace {

std::string document(const std::string& entry) {
  return R"({"format": "hstujit-workload-1", "name": "t", "operators": [)" + entry + "]}";
}
Calls expanded(const std::string& entry) { return expand(parse_workload(document(entry))).at(0); }
std::string refusal(const std::string& entry) {
  try {
    expanded(entry);
  } catch (const Error& error) { return error.message(); }
  return "(accepted)";
}

TEST(SpelledCall, TakesShapesTypesStridesAndAttributes) {
  const Calls calls = expanded(R"({"op": "norm_mul", "dtype": "f16", "eps": 0.25, "activation": "sigmoid",
    "concat_u": true, "tensors": {"attn": [7, 8], "u": {"shape": [7, 8], "stride": [16, 1]},
    "weight": {"shape": [8], "dtype": "f32", "mean": 1, "deviation": 0.5}, "bias": {"shape": [8], "dtype": "f32"},
    "out": [7, 16]}})");
  const auto& args = std::get<hstu_norm_mul_args>(calls.calls[0].args);
  EXPECT_EQ(args.attn.dtype, HSTU_DTYPE_F16);
  EXPECT_EQ(args.u.stride[0], 16);
  EXPECT_EQ(args.weight.dtype, HSTU_DTYPE_F32);
  EXPECT_EQ(args.out.shape[1], 16);
  EXPECT_EQ(args.eps, 0.25f);
  EXPECT_EQ(args.activation, HSTU_ACTIVATION_SIGMOID);
  EXPECT_EQ(args.concat_u, 1);
  EXPECT_EQ(args.concat_x, 0);
  EXPECT_EQ(calls.buffers[1].elements, 6 * 16 + 8);  // up to the last element of the strided view
  EXPECT_EQ(calls.buffers[2].mean, 1);
  EXPECT_EQ(calls.buffers[2].deviation, 0.5f);
  EXPECT_EQ(calls.result, 4);
}

TEST(SpelledCall, StridesOfZeroAreMeant) {
  const Calls calls = expanded(R"({"op": "addmm", "dtype": "f32", "tensors": {
    "x": {"shape": [7, 8], "stride": [0, 0]}, "w": [8, 16], "out": [7, 16]}})");
  const auto& args = std::get<hstu_addmm_args>(calls.calls[0].args);
  EXPECT_EQ(args.x.flags, HSTU_STRIDES_GIVEN);
  EXPECT_EQ(args.x.stride[0], 0);
  EXPECT_EQ(args.x.stride[1], 0);
  EXPECT_EQ(calls.buffers[0].elements, 1);
  EXPECT_EQ(args.w.flags, 0);
}

TEST(SpelledCall, AnExactZeroKeepsItsSign) {
  const Calls calls = expanded(R"({"op": "layer_norm", "eps": -0.0, "tensors": {"x": [7, 8], "out": [7, 8]}})");
  const auto& args = std::get<hstu_layer_norm_args>(calls.calls[0].args);
  EXPECT_EQ(args.eps, 0);
  EXPECT_TRUE(std::signbit(args.eps));
}

TEST(SpelledCall, TakesEveryElementType) {
  for (const auto& [word, dtype] : {std::pair{"u8", HSTU_DTYPE_U8}, {"i16", HSTU_DTYPE_I16}, {"f64", HSTU_DTYPE_F64}}) {
    const Calls calls = expanded(fmt::format(R"({{"op": "dense_to_jagged", "dtype": "f32", "tensors": {{
      "offsets": {{"offsets": {{"batch": 1, "lengths": 2}}}}, "dense": {{"shape": [1, 2, 3], "dtype": "{0}"}},
      "out": {{"shape": [2, 3], "dtype": "{0}"}}}}}})",
                                             word));
    EXPECT_EQ(std::get<hstu_dense_to_jagged_args>(calls.calls[0].args).out.dtype, dtype);
    EXPECT_EQ(name_of(dtype), word);
    EXPECT_EQ(dtype_named(word), dtype);
  }
}

TEST(SpelledCall, ExtentsFollowTheDrawnSequences) {
  const Calls calls = expanded(R"j({"op": "attention", "max_seq_len": "longest(seq_offsets)", "tensors": {
    "seq_offsets": {"dtype": "i32", "offsets": {"batch": 3, "lengths": {"kind": "explicit", "lengths": [4, 0, 9]}}},
    "num_targets": {"values": {"batch": 3, "lengths": 2}},
    "attn_scale": {"shape": ["total(seq_offsets) + 2"], "dtype": "f32"},
    "q": ["total(seq_offsets)+2", 2, 32], "k": ["total(seq_offsets)+2", 2, 32], "v": ["total(seq_offsets)+2", 2, 16],
    "out": ["total(seq_offsets)+2", 2, 16]}})j");
  const auto& args = std::get<hstu_attention_args>(calls.calls[0].args);
  EXPECT_EQ(args.q.shape[0], 15);
  EXPECT_EQ(args.seq_offsets.dtype, HSTU_DTYPE_I32);
  EXPECT_EQ(args.seq_offsets.shape[0], 4);
  EXPECT_EQ(args.mask.num_targets.dtype, HSTU_DTYPE_I64);
  EXPECT_EQ(args.max_seq_len, 9);
  const auto offsets = static_cast<size_t>(calls.find("seq_offsets"));
  EXPECT_EQ(calls.buffers[offsets].list, (std::vector<int64_t>{0, 4, 4, 13}));
  const auto targets = static_cast<size_t>(calls.find("num_targets"));
  EXPECT_EQ(calls.buffers[targets].list, (std::vector<int64_t>{2, 2, 2}));
}

TEST(SpelledCall, IntegersTakeAShape) {
  const std::string rest = R"j("mask": "intervals", "max_seq_len": 4, "tensors": {
    "seq_offsets": {"offsets": {"batch": 2, "lengths": 4}}, "q": [8, 2, 32], "k": [8, 2, 32], "v": [8, 2, 16],
    "out": [8, 2, 16], "intervals": {"dtype": "i32", "shape": [1, 3, "total(seq_offsets)"],
    "values": {"batch": )j";
  const Calls calls = expanded(R"({"op": "attention", )" + rest + R"(24, "lengths": 2}}}})");
  const auto& args = std::get<hstu_attention_args>(calls.calls[0].args);
  EXPECT_EQ(args.mask.intervals.rank, 3);
  EXPECT_EQ(args.mask.intervals.shape[1], 3);
  EXPECT_EQ(args.mask.intervals.shape[2], 8);
  EXPECT_EQ(calls.buffers[static_cast<size_t>(calls.find("intervals"))].elements, 24);
  EXPECT_NE(refusal(R"({"op": "attention", )" + rest + R"(23, "lengths": 2}}}})").find("23 numbers"),
            std::string::npos);
}

TEST(SpelledCall, WeightsAreScaledByTheirDepth) {
  const Calls calls = expanded(R"({"op": "addmm", "tensors": {"x": [4, 64], "w": [64, 8], "out": [4, 8]}})");
  EXPECT_EQ(calls.buffers[1].deviation, 0.125f);
  EXPECT_EQ(calls.buffers[0].deviation, 1);
}

TEST(SpelledCall, CarriesItsFigure) {
  const Calls calls = expanded(R"({"op": "addmm", "tensors": {"x": [4, 64], "w": [64, 8], "out": [4, 8]},
    "figure": {"id": "f", "rate": "of_copy", "target": 95},
    "family_figures": [{"id": "g", "rate": "tflops", "family": "addmm_sm80"}]})");
  ASSERT_TRUE(calls.calls[0].figure);
  EXPECT_EQ(calls.calls[0].figure->id, "f");
  EXPECT_EQ(calls.calls[0].figure->rate, FigureSpec::Rate::of_copy);
  EXPECT_EQ(calls.calls[0].figure->target, 95);
  EXPECT_EQ(calls.calls[0].figure->family, "");
  ASSERT_EQ(calls.calls[0].family_figures.size(), 1u);
  EXPECT_EQ(calls.calls[0].family_figures[0].family, "addmm_sm80");
  EXPECT_EQ(calls.calls[0].family_figures[0].rate, FigureSpec::Rate::tflops);
}

TEST(SpelledCall, RefusalsNameTheField) {
  struct Case {
    const char *entry, *text;
  };
  for (const Case& c : {
           Case{R"j({"op": "addmm", "tensors": {"x": [4, 64], "b": [3]}})j", "/operators/0/tensors/b: unknown"},
           Case{R"j({"op": "addmm", "tensors": {"x": "big"}})j", "/operators/0/tensors/x"},
           Case{R"j({"op": "addmm", "tensors": {"x": {"shape": [4, 4], "mean": 1e39}}})j",
                "/operators/0/tensors/x/mean: 1e+39: it must fit a float"},
           Case{R"j({"op": "dropout", "ratio": -1e300, "tensors": {"x": [4, 4], "out": [4, 4]}})j",
                "/operators/0/ratio: -1e+300: it must fit a float"},
           Case{R"j({"op": "softmax", "tensors": {"x": ["9223372036854775807 + 1"], "out": [4, 4]}})j",
                "/tensors/x/0: \"9223372036854775807\": it must be from"},
           Case{R"j({"op": "softmax", "tensors": {"x": [1099511627776, 1099511627776], "out": [4, 4]}})j",
                "\"x\": so many elements overflow"},
           Case{R"j({"op": "softmax", "tensors": {"x": {"shape": [1099511627776, 4], "stride": [1099511627776, 1]},
                    "out": [4, 4]}})j",
                "\"x\": its shape and strides overflow"},
           Case{R"j({"op": "addmm", "tensors": {"x": [4, "rows"]}})j", "/operators/0/tensors/x/1: \"rows\": use"},
           Case{R"j({"op": "addmm", "tensors": {"x": ["total(w)", 4], "w": [4, 4], "out": [4, 4]}})j",
                "\"w\" holds no lengths"},
           Case{R"j({"op": "addmm", "tensors": {"x": [4, 64], "w": [32, 8], "out": [4, 8]}})j", "w.shape[0] = 32"},
           Case{R"j({"op": "addmm", "tensors": {"x": {"shape": [4, 4], "stride": [1]}}})j", "/tensors/x/stride"},
           Case{R"j({"op": "addmm", "activation": "relu", "tensors": {"x": [4, 4], "w": [4, 4], "out": [4, 4]}})j",
                "/operators/0/activation: \"relu\": use one of none, silu, sigmoid"},
           Case{R"j({"op": "attention", "tensors": {"seq_offsets": [4]}})j", "/tensors/seq_offsets: it holds"},
           Case{R"j({"op": "attention", "tensors": {"seq_offsets": {"dtype": "i32"}}})j", "either"},
           Case{R"j({"op": "addmm", "epsilon": 1, "tensors": {"x": [4, 4], "w": [4, 4], "out": [4, 4]}})j",
                "/operators/0/epsilon: unknown"},
           Case{R"j({"op": "addmm", "tensors": {"x": [4, 4], "w": [4, 4], "out": [4, 4]},
                    "figure": {"id": "f", "rate": "speed"}})j",
                "/operators/0/figure/rate"},
           Case{R"j({"op": "addmm", "tensors": {"x": [4, 4], "w": [4, 4], "out": [4, 4]},
                    "family_figures": [{"id": "f", "rate": "gbs", "family": "addmm_sm81"}]})j",
                "/operators/0/family_figures/0/family: \"addmm_sm81\": hstu-tune ops"},
       })
    EXPECT_NE(refusal(c.entry).find(c.text), std::string::npos) << refusal(c.entry) << "\n" << c.entry;
}

}  // namespace
}  // namespace hstujit
