// Stages and stacks as one call: the same numbers as their operators one by one, and refusals that name the field.
#include "support/host_tensor.hpp"
#include "workload/stack_args.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>

namespace hstujit {
namespace {

constexpr hstu_layer_dims kDims{2, 8, 16};
constexpr int64_t kRows = 20, kEmbedding = 24, kValues = 32, kColumns = 96;

class Layer : public testing::Test {
 protected:
  void SetUp() override {
    hstu_context_options options{};
    options.struct_size = sizeof options;
    options.device = "cpu";
    options.store_path = "";
    ASSERT_EQ(hstu_context_create(&context_, &options), HSTU_OK) << hstu_last_error();
  }
  void TearDown() override { hstu_context_destroy(context_); }

  hstu_tensor random(std::initializer_list<int64_t> shape) { return memory_.random(kDtype, shape); }
  void* workspace(size_t bytes) { return memory_.slab(static_cast<int64_t>(bytes)).base(); }

  hstu_compute_uvqk_args uvqk_args() {
    hstu_compute_uvqk_args args{};
    args.struct_size = sizeof args;
    args.x = random({kRows, kEmbedding});
    args.norm_weight = random({kEmbedding});
    args.norm_bias = random({kEmbedding});
    args.uvqk_weight = random({kEmbedding, kColumns});
    args.uvqk_bias = random({kColumns});
    args.uvqk = memory_.poison(kDtype, {kRows, kColumns});
    args.dims = kDims;
    EXPECT_EQ(hstu_compute_uvqk_workspace_size(&args, &args.workspace_size), HSTU_OK) << hstu_last_error();
    args.workspace = workspace(args.workspace_size);
    return args;
  }
  hstu_attention_args attention_args() {
    hstu_attention_args args{};
    args.seq_offsets = memory_.integers(HSTU_DTYPE_I64, {0, 7, 7, kRows});
    args.mask.num_targets = memory_.integers(HSTU_DTYPE_I32, {2, 0, 3});
    args.max_seq_len = 13;
    return args;
  }
  hstu_compute_output_args output_args() {
    hstu_compute_output_args args{};
    args.struct_size = sizeof args;
    args.attn = random({kRows, kValues});
    args.u = random({kRows, kValues});
    args.residual = random({kRows, kEmbedding});
    args.norm_weight = random({kValues});
    args.norm_bias = random({kValues});
    args.output_weight = random({3 * kValues, kEmbedding});
    args.out = memory_.poison(kDtype, {kRows, kEmbedding});
    args.options.concat_u = args.options.concat_x = 1;
    EXPECT_EQ(hstu_compute_output_workspace_size(&args, &args.workspace_size), HSTU_OK) << hstu_last_error();
    args.workspace = workspace(args.workspace_size);
    return args;
  }

  static constexpr hstu_dtype kDtype = HSTU_DTYPE_F32;
  test::HostMemory memory_{7};
  hstu_context* context_ = nullptr;
};

TEST_F(Layer, Fp8LinearIsQuantisationAndProduct) {
  for (const hstu_fp8_scaling scaling : {HSTU_FP8_ROW, HSTU_FP8_GROUP}) {
    const int64_t units = scaling == HSTU_FP8_ROW ? 1 : 2, k = 200;
    hstu_fp8_linear_args args{};
    args.struct_size = sizeof args;
    args.x = random({kRows, k});
    args.w = memory_.random(HSTU_DTYPE_E4M3, {kEmbedding, k});
    args.w_descale = random({kEmbedding});
    args.bias = random({kEmbedding});
    args.out = memory_.poison(kDtype, {kRows, kEmbedding});
    args.x_scaling = scaling;
    args.w_scaling = HSTU_FP8_ROW;
    ASSERT_EQ(hstu_fp8_linear_workspace_size(&args, &args.workspace_size), HSTU_OK) << hstu_last_error();
    args.workspace = workspace(args.workspace_size);
    ASSERT_EQ(hstu_fp8_linear(context_, &args, nullptr), HSTU_OK) << hstu_last_error();

    hstu_quantize_fp8_args quantise{};
    quantise.struct_size = sizeof quantise;
    quantise.x = args.x;
    quantise.q = memory_.poison(HSTU_DTYPE_E4M3, {kRows, k});
    quantise.descale = scaling == HSTU_FP8_ROW ? memory_.poison(HSTU_DTYPE_F32, {kRows})
                                               : memory_.poison(HSTU_DTYPE_F32, {kRows, units});
    quantise.scaling = scaling;
    ASSERT_EQ(hstu_quantize_fp8(context_, &quantise, nullptr), HSTU_OK) << hstu_last_error();
    hstu_fp8_gemm_args product{};
    product.struct_size = sizeof product;
    product.x = quantise.q;
    product.x_descale = quantise.descale;
    product.x_scaling = scaling;
    product.w = args.w;
    product.w_descale = args.w_descale;
    product.w_scaling = HSTU_FP8_ROW;
    product.bias = args.bias;
    product.out = memory_.poison(kDtype, {kRows, kEmbedding});
    ASSERT_EQ(hstu_fp8_gemm(context_, &product, nullptr), HSTU_OK) << hstu_last_error();
    EXPECT_EQ(std::memcmp(args.out.data, product.out.data, kRows * kEmbedding * 4), 0);

    args.workspace_size -= 256;
    EXPECT_EQ(hstu_fp8_linear(context_, &args, nullptr), HSTU_ERROR_INVALID_ARGUMENT);
    args.workspace_size += 256;
    args.x_scaling = HSTU_FP8_TENSOR;
    EXPECT_EQ(hstu_fp8_linear(context_, &args, nullptr), HSTU_ERROR_INVALID_ARGUMENT);
  }
}

TEST_F(Layer, UvqkIsNormProjectionAndSilu) {
  const hstu_compute_uvqk_args args = uvqk_args();
  ASSERT_EQ(hstu_compute_uvqk(context_, &args, nullptr), HSTU_OK) << hstu_last_error();
  hstu_layer_norm_args norm{};
  norm.struct_size = sizeof norm;
  norm.x = args.x;
  norm.weight = args.norm_weight;
  norm.bias = args.norm_bias;
  norm.out = memory_.poison(kDtype, {kRows, kEmbedding});
  norm.eps = 1e-6f;
  ASSERT_EQ(hstu_layer_norm(context_, &norm, nullptr), HSTU_OK);
  hstu_addmm_args project{};
  project.struct_size = sizeof project;
  project.x = norm.out;
  project.w = args.uvqk_weight;
  project.bias = args.uvqk_bias;
  project.out = memory_.poison(kDtype, {kRows, kColumns});
  project.activation = HSTU_ACTIVATION_SILU;
  project.activation_columns = kValues;
  ASSERT_EQ(hstu_addmm(context_, &project, nullptr), HSTU_OK);
  EXPECT_EQ(test::values(args.uvqk), test::values(project.out));
}

TEST_F(Layer, AttentionReadsTheProjectionsColumns) {
  hstu_preprocess_and_attention_args args{};
  args.struct_size = sizeof args;
  args.uvqk = uvqk_args();
  args.attention = attention_args();
  args.attention.out = memory_.poison(kDtype, {kRows, 2, 16});
  ASSERT_EQ(hstu_preprocess_and_attention_workspace_size(&args, &args.workspace_size), HSTU_OK);
  args.workspace = workspace(args.workspace_size);
  ASSERT_EQ(hstu_preprocess_and_attention(context_, &args, nullptr), HSTU_OK) << hstu_last_error();

  hstu_attention_args attention = attention_args();
  attention.struct_size = sizeof attention;
  const auto part = [&](int64_t first, int64_t columns) {
    return test::as_heads(test::columns_of(args.uvqk.uvqk, first, columns), 2);
  };
  attention.v = part(32, 32);
  attention.q = part(64, 16);
  attention.k = part(80, 16);
  attention.out = memory_.poison(kDtype, {kRows, 2, 16});
  ASSERT_EQ(hstu_attention(context_, &attention, nullptr), HSTU_OK) << hstu_last_error();
  EXPECT_EQ(test::values(args.attention.out), test::values(attention.out));
}

TEST_F(Layer, OutputIsGateProjectionAndResidual) {
  const hstu_compute_output_args args = output_args();
  ASSERT_EQ(hstu_compute_output(context_, &args, nullptr), HSTU_OK) << hstu_last_error();
  hstu_norm_mul_args gate{};
  gate.struct_size = sizeof gate;
  gate.attn = args.attn;
  gate.u = args.u;
  gate.weight = args.norm_weight;
  gate.bias = args.norm_bias;
  gate.out = memory_.poison(kDtype, {kRows, 3 * kValues});
  gate.eps = 1e-6f;
  gate.concat_u = gate.concat_x = 1;
  ASSERT_EQ(hstu_norm_mul(context_, &gate, nullptr), HSTU_OK);
  hstu_addmm_args project{};
  project.struct_size = sizeof project;
  project.x = gate.out;
  project.w = args.output_weight;
  project.residual = args.residual;
  project.out = memory_.poison(kDtype, {kRows, kEmbedding});
  ASSERT_EQ(hstu_addmm(context_, &project, nullptr), HSTU_OK);
  EXPECT_EQ(test::values(args.out), test::values(project.out));
}

TEST_F(Layer, WhatAnAbsentTensorsExtentsHoldIsNobodys) {
  const auto leave = [](hstu_tensor& t) {
    const hstu_tensor before = t;
    t = {};
    std::copy_n(before.shape, HSTU_MAX_RANK, t.shape);
    std::copy_n(before.stride, HSTU_MAX_RANK, t.stride);
  };
  hstu_compute_uvqk_args uvqk = uvqk_args(), bare_uvqk = uvqk;
  bare_uvqk.uvqk = memory_.poison(kDtype, {kRows, kColumns});
  bare_uvqk.uvqk_bias = {};
  leave(uvqk.uvqk_bias);
  ASSERT_EQ(hstu_compute_uvqk(context_, &uvqk, nullptr), HSTU_OK) << hstu_last_error();
  ASSERT_EQ(hstu_compute_uvqk(context_, &bare_uvqk, nullptr), HSTU_OK) << hstu_last_error();
  EXPECT_EQ(test::values(uvqk.uvqk), test::values(bare_uvqk.uvqk));

  hstu_compute_output_args output = output_args(), bare_output = output;
  bare_output.out = memory_.poison(kDtype, {kRows, kEmbedding});
  bare_output.residual = {};
  leave(output.residual);
  ASSERT_EQ(hstu_compute_output(context_, &output, nullptr), HSTU_OK) << hstu_last_error();
  ASSERT_EQ(hstu_compute_output(context_, &bare_output, nullptr), HSTU_OK) << hstu_last_error();
  EXPECT_EQ(test::values(output.out), test::values(bare_output.out));
}

TEST_F(Layer, SegmentsThatOverflowAreRefused) {
  hstu_compute_output_args args = output_args();
  args.attn.shape[1] = int64_t{1} << 62;
  size_t bytes = 0;
  EXPECT_EQ(hstu_compute_output_workspace_size(&args, &bytes), HSTU_ERROR_INVALID_ARGUMENT);
  EXPECT_NE(std::string(hstu_last_error()).find("attn.shape[1] = 4611686018427387904"), std::string::npos)
      << hstu_last_error();
}

TEST_F(Layer, OutputDropsOutWithItsSeedAndTakesOtherNorms) {
  hstu_compute_output_args args = output_args();
  args.norm_bias = {};
  args.options.norm = HSTU_NORM_RMS;
  args.options.dropout_ratio = 0.5f;
  args.options.seed = 11;
  ASSERT_EQ(hstu_compute_output(context_, &args, nullptr), HSTU_OK) << hstu_last_error();
  const std::vector<double> first = test::values(args.out);
  hstu_norm_mul_args gate{};
  gate.struct_size = sizeof gate;
  gate.attn = args.attn;
  gate.u = args.u;
  gate.weight = args.norm_weight;
  gate.out = memory_.poison(kDtype, {kRows, 3 * kValues});
  gate.eps = 1e-6f;
  gate.concat_u = gate.concat_x = 1;
  gate.norm = HSTU_NORM_RMS;
  gate.dropout_ratio = 0.5f;
  gate.seed = 11;
  ASSERT_EQ(hstu_norm_mul(context_, &gate, nullptr), HSTU_OK) << hstu_last_error();
  hstu_addmm_args project{};
  project.struct_size = sizeof project;
  project.x = gate.out;
  project.w = args.output_weight;
  project.residual = args.residual;
  project.out = memory_.poison(kDtype, {kRows, kEmbedding});
  ASSERT_EQ(hstu_addmm(context_, &project, nullptr), HSTU_OK);
  EXPECT_EQ(first, test::values(project.out));
  args.options.seed = 12;
  ASSERT_EQ(hstu_compute_output(context_, &args, nullptr), HSTU_OK);
  EXPECT_NE(first, test::values(args.out));
}

// ---- The stack against a workload's calls

Workload workload(int layers, int hidden_dim = 16, const std::string& more = "") {
  return parse_workload(R"({"format": "hstujit-workload-1", "name": "t", "dtype": "bf16",
    "sequences": {"batch": 4, "history": {"kind": "explicit", "lengths": [9, 0, 1, 14]}, "targets": 3},
    "stack": {"layers": )" +
                        std::to_string(layers) +
                        R"(, "embedding_dim": 24, "num_heads": 3, "attn_dim": 8, "hidden_dim": )" +
                        std::to_string(hidden_dim) + more + "}}");
}

const std::string kFp8 = R"(, "projections": "e4m3")";

class StackCall : public Layer, public testing::WithParamInterface<int> {
 protected:
  /// The call writes what its operators write, one after the other.
  void expect_numbers_of_operators(const Workload& w, chain::FusedStages fused = {}) {
    const std::unique_ptr<Memory> memory = host_memory();
    const Stack stack(expand_stack(w, fused), *memory, 1);
    stack.run(context_, nullptr);
    const std::vector<double> expected = stack.result();
    const StackArgs stack_args(w, stack);
    std::memset(stack_args.args().out.data, 0xff, static_cast<size_t>(extent_bytes(stack_args.args().out)));
    ASSERT_EQ(hstu_stack(context_, &stack_args.args(), nullptr), HSTU_OK) << hstu_last_error();
    EXPECT_EQ(stack.result(), expected);
  }
};

TEST_P(StackCall, GivesTheNumbersOfItsOperators) { expect_numbers_of_operators(workload(GetParam())); }

TEST_P(StackCall, GivesTheNumbersOfItsOperatorsWhenTheyWriteInPlace) {
  expect_numbers_of_operators(workload(GetParam(), 64));
}

// The reference rounds in the same places. Devices that make it so differ by the order of sums.
TEST_P(StackCall, GivesTheNumbersOfNormAndProjectionAsOneCall) {
  for (const int hidden_dim : {16, 64}) expect_numbers_of_operators(workload(GetParam(), hidden_dim), {.uvqk = true});
}

TEST_P(StackCall, GivesTheNumbersOfItsOperatorsInFp8) {
  for (const auto& [hidden_dim, more] :
       {std::pair{16, ""}, std::pair{64, ""}, std::pair{16, R"(, "accumulation": "fast")"}}) {
    const Workload w = workload(GetParam(), hidden_dim, kFp8 + more);
    const std::unique_ptr<Memory> memory = host_memory();
    const Stack stack(expand_stack(w), *memory, 1);
    stack.set_up(context_, nullptr);
    stack.run(context_, nullptr);
    const std::vector<double> expected = stack.result();
    const StackArgs stack_args(w, stack);
    ASSERT_NE(stack_args.args().fp8_layers, nullptr);
    std::memset(stack_args.args().out.data, 0xff, static_cast<size_t>(extent_bytes(stack_args.args().out)));
    ASSERT_EQ(hstu_stack(context_, &stack_args.args(), nullptr), HSTU_OK) << hstu_last_error();
    EXPECT_EQ(stack.result(), expected);
    hstu_stack_args args = stack_args.args();
    args.out = args.x;
    ASSERT_EQ(hstu_stack(context_, &args, nullptr), HSTU_OK) << hstu_last_error();
    EXPECT_EQ(stack.read("x"), expected);
  }
}

TEST_F(Layer, AStackInFp8TakesDropoutAndGroups) {
  const Workload w = workload(2, 16, kFp8);
  const std::unique_ptr<Memory> memory = host_memory();
  const Stack stack(expand_stack(w), *memory, 1);
  stack.set_up(context_, nullptr);
  const StackArgs stack_args(w, stack);
  hstu_stack_args args = stack_args.args();
  ASSERT_EQ(hstu_stack(context_, &args, nullptr), HSTU_OK) << hstu_last_error();
  const std::vector<double> plain = stack.result();
  args.output.dropout_ratio = 0.25f;
  ASSERT_EQ(hstu_stack(context_, &args, nullptr), HSTU_OK) << hstu_last_error();
  EXPECT_NE(stack.result(), plain);
  std::vector<hstu_layer_weights> layers(args.layers, args.layers + 2);
  for (hstu_layer_weights& layer : layers)
    layer.output_norm_weight.shape[0] = layer.output_norm_bias.shape[0] = args.dims.num_heads;
  args.layers = layers.data();
  args.layer_size = sizeof(hstu_layer_weights);
  args.output.dropout_ratio = 0;
  args.output.num_groups = static_cast<int32_t>(args.dims.num_heads);
  ASSERT_EQ(hstu_stack(context_, &args, nullptr), HSTU_OK) << hstu_last_error();
  EXPECT_NE(stack.result(), plain);
}

// The size knows no device, so it has room for both ways.
TEST_F(Layer, TheWorkspaceHasRoomForStatisticsWhereTheOutputStageMayBeOneProduct) {
  hstu_stack_args args{};
  args.struct_size = sizeof args;
  args.x = memory_.poison(HSTU_DTYPE_BF16, {640, 256});
  args.dims = {4, 64, 64};
  args.output.concat_u = args.output.concat_x = 1;
  size_t with = 0, without = 0;
  ASSERT_EQ(hstu_stack_workspace_size(&args, &with), HSTU_OK) << hstu_last_error();
  args.output.activation = HSTU_ACTIVATION_SILU;
  ASSERT_EQ(hstu_stack_workspace_size(&args, &without), HSTU_OK) << hstu_last_error();
  EXPECT_EQ(with - without, 640u * 4 * 8);
  args.output.activation = HSTU_ACTIVATION_NONE;
  args.x.dtype = HSTU_DTYPE_F32;
  size_t f32 = 0;
  ASSERT_EQ(hstu_stack_workspace_size(&args, &f32), HSTU_OK) << hstu_last_error();
  EXPECT_EQ(f32, 2 * without);
  // Whatever sums its products have: they may be chosen later.
  const hstu_fp8_layer_weights fp8{};
  args.x.dtype = HSTU_DTYPE_BF16;
  args.fp8_layers = &fp8;
  args.fp8_layer_size = sizeof(hstu_fp8_layer_weights);
  ASSERT_EQ(hstu_stack_workspace_size(&args, &with), HSTU_OK) << hstu_last_error();
  args.fp8_accumulation = HSTU_FP8_ACCUMULATE_FAST;
  size_t fast = 0;
  ASSERT_EQ(hstu_stack_workspace_size(&args, &fast), HSTU_OK) << hstu_last_error();
  EXPECT_EQ(fast, with);
  args.output.activation = HSTU_ACTIVATION_SILU;
  ASSERT_EQ(hstu_stack_workspace_size(&args, &without), HSTU_OK) << hstu_last_error();
  EXPECT_EQ(with - without, 640u * 4 * 8);
}

TEST_F(Layer, AStackThatWritesInPlaceGivesTheNumbersOfItsStages) {
  const Workload w = workload(1, 64);
  const std::unique_ptr<Memory> memory = host_memory();
  const Stack stack(expand_stack(w), *memory, 1);
  const StackArgs stack_args(w, stack);
  const hstu_stack_args& all = stack_args.args();
  ASSERT_EQ(hstu_stack(context_, &all, nullptr), HSTU_OK) << hstu_last_error();
  const std::vector<double> in_place = stack.result();

  const hstu_layer_weights& weights = all.layers[0];
  const int64_t rows = all.x.shape[0], value = all.dims.num_heads * all.dims.hidden_dim;
  hstu_preprocess_and_attention_args attend{};
  attend.struct_size = sizeof attend;
  attend.uvqk.x = all.x;
  attend.uvqk.norm_weight = weights.norm_weight;
  attend.uvqk.norm_bias = weights.norm_bias;
  attend.uvqk.uvqk_weight = weights.uvqk_weight;
  attend.uvqk.uvqk_bias = weights.uvqk_bias;
  attend.uvqk.uvqk = memory_.poison(all.x.dtype, {rows, hstu_uvqk_columns(all.dims)});
  attend.uvqk.dims = all.dims;
  attend.uvqk.eps = all.eps;
  attend.attention = all.attention;
  attend.attention.out = memory_.poison(all.x.dtype, {rows, all.dims.num_heads, all.dims.hidden_dim});
  ASSERT_EQ(hstu_preprocess_and_attention_workspace_size(&attend, &attend.workspace_size), HSTU_OK);
  attend.workspace = workspace(attend.workspace_size);
  ASSERT_EQ(hstu_preprocess_and_attention(context_, &attend, nullptr), HSTU_OK) << hstu_last_error();

  hstu_compute_output_args output{};
  output.struct_size = sizeof output;
  output.attn = hstu_matrix(attend.attention.out.data, all.x.dtype, rows, value);
  output.u = attend.uvqk.uvqk;
  output.u.shape[1] = value;
  output.residual = all.x;
  output.norm_weight = weights.output_norm_weight;
  output.norm_bias = weights.output_norm_bias;
  output.output_weight = weights.output_weight;
  output.out = memory_.poison(all.x.dtype, {rows, all.out.shape[1]});
  output.options = all.output;
  ASSERT_EQ(hstu_compute_output_workspace_size(&output, &output.workspace_size), HSTU_OK);
  output.workspace = workspace(output.workspace_size);
  ASSERT_EQ(hstu_compute_output(context_, &output, nullptr), HSTU_OK) << hstu_last_error();
  EXPECT_EQ(in_place, test::values(output.out));
}

TEST_P(StackCall, MayOverwriteItsInput) {
  const Workload w = workload(GetParam());
  const std::unique_ptr<Memory> memory = host_memory();
  const Stack stack(expand_stack(w), *memory, 1);
  stack.run(context_, nullptr);
  const std::vector<double> expected = stack.result();
  const StackArgs stack_args(w, stack);
  hstu_stack_args args = stack_args.args();
  args.out = args.x;
  ASSERT_EQ(hstu_stack(context_, &args, nullptr), HSTU_OK) << hstu_last_error();
  EXPECT_EQ(stack.read("x"), expected);
}

INSTANTIATE_TEST_SUITE_P(Layers, StackCall, testing::Values(1, 2, 3));

TEST_F(Layer, LayersOfAStackDropOutDifferently) {
  const Workload w = workload(2);
  const std::unique_ptr<Memory> memory = host_memory();
  const Stack stack(expand_stack(w), *memory, 1);
  const StackArgs stack_args(w, stack);
  hstu_stack_args args = stack_args.args();
  args.output.dropout_ratio = 0.25f;
  args.output.seed = 5;
  ASSERT_EQ(hstu_stack(context_, &args, nullptr), HSTU_OK) << hstu_last_error();
  const std::vector<double> both = stack.result();
  hstu_stack_args one = args;  // the same by hand: layer 0 with seed 5, layer 1 with seed 6
  ASSERT_EQ(hstu_layer(context_, &one, nullptr), HSTU_OK) << hstu_last_error();
  one.x = one.out;
  one.layers = args.layers + 1;
  one.layer_size = sizeof(hstu_layer_weights);
  one.output.seed = 6;
  ASSERT_EQ(hstu_layer(context_, &one, nullptr), HSTU_OK) << hstu_last_error();
  EXPECT_EQ(stack.result(), both);
}

TEST_F(Layer, OneLayerReadsOneParameterSet) {
  const Workload w = workload(1);
  const std::unique_ptr<Memory> memory = host_memory();
  const Stack stack(expand_stack(w), *memory, 1);
  stack.run(context_, nullptr);
  const std::vector<double> expected = stack.result();
  const StackArgs stack_args(w, stack);
  hstu_stack_args args = stack_args.args();
  args.num_layers = -5;
  ASSERT_EQ(hstu_layer(context_, &args, nullptr), HSTU_OK) << hstu_last_error();
  EXPECT_EQ(stack.result(), expected);
}

// ---- Refusals

template <class Args>
struct Refused {
  void (*spoil)(Args&);
  hstu_status status;
  const char* text;
};

/// Stores a value that the enum lacks, as a C caller can.
template <class Enum>
void set_code(Enum& target, int code) {
  std::memcpy(&target, &code, sizeof target);
}

TEST_F(Layer, UvqkNamesTheFieldItRefuses) {
  using Args = hstu_compute_uvqk_args;
  const Refused<Args> cases[] = {
      {[](Args& a) { a.struct_size = 1; }, HSTU_ERROR_INVALID_ARGUMENT, "args.struct_size"},
      {[](Args& a) { a.x.rank = 3; }, HSTU_ERROR_INVALID_ARGUMENT, "x.rank = 3"},
      {[](Args& a) { a.x.dtype = HSTU_DTYPE_I32; }, HSTU_ERROR_UNSUPPORTED_DTYPE, "x.dtype"},
      {[](Args& a) { a.x.shape[0] = -1; }, HSTU_ERROR_INVALID_ARGUMENT, "x.shape"},
      {[](Args& a) { a.x.shape[0] = int64_t{1} << 61; }, HSTU_ERROR_INVALID_ARGUMENT, "x.shape[0]"},
      {[](Args& a) { a.dims.num_heads = 0; }, HSTU_ERROR_INVALID_ARGUMENT, "dims.num_heads = 0"},
      {[](Args& a) { a.dims.attn_dim = -8; }, HSTU_ERROR_INVALID_ARGUMENT, "dims.attn_dim = -8"},
      {[](Args& a) { a.norm_weight.shape[0] = 3; }, HSTU_ERROR_SHAPE_MISMATCH, "norm_weight.shape[0] = 3"},
      {[](Args& a) { a.norm_bias = {}; }, HSTU_ERROR_INVALID_ARGUMENT, "norm_bias is absent"},
      {[](Args& a) { a.uvqk_weight.shape[1] = 95; }, HSTU_ERROR_SHAPE_MISMATCH, "uvqk_weight.shape[1] = 95"},
      {[](Args& a) { a.uvqk_weight.dtype = HSTU_DTYPE_F16; }, HSTU_ERROR_UNSUPPORTED_DTYPE,
       "uvqk_weight.dtype = f16: it must be that of x, f32"},
      {[](Args& a) { a.uvqk_bias.shape[0] = 95; }, HSTU_ERROR_SHAPE_MISMATCH, "uvqk_bias.shape[0] = 95"},
      {[](Args& a) { a.uvqk.shape[0] = 19; }, HSTU_ERROR_SHAPE_MISMATCH, "uvqk.shape[0] = 19"},
      {[](Args& a) { a.eps = -1; }, HSTU_ERROR_INVALID_ARGUMENT, "layer norm: eps = -1"},
      {[](Args& a) { a.workspace = nullptr; }, HSTU_ERROR_INVALID_ARGUMENT, "workspace = NULL"},
      {[](Args& a) { a.workspace = static_cast<char*>(a.workspace) + 16; }, HSTU_ERROR_INVALID_ARGUMENT, "aligned"},
      {[](Args& a) { a.workspace_size -= 1; }, HSTU_ERROR_INVALID_ARGUMENT, "workspace_size = "},
  };
  for (const auto& c : cases) {
    Args args = uvqk_args();
    c.spoil(args);
    EXPECT_EQ(hstu_compute_uvqk(context_, &args, nullptr), c.status) << c.text;
    EXPECT_NE(std::string(hstu_last_error()).find(c.text), std::string::npos) << hstu_last_error();
  }
  EXPECT_EQ(hstu_compute_uvqk(context_, nullptr, nullptr), HSTU_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hstu_compute_uvqk_workspace_size(nullptr, nullptr), HSTU_ERROR_INVALID_ARGUMENT);
}

TEST_F(Layer, OutputNamesTheFieldItRefuses) {
  using Args = hstu_compute_output_args;
  const Refused<Args> cases[] = {
      {[](Args& a) { a.out.shape[0] = 19; }, HSTU_ERROR_SHAPE_MISMATCH, "out.shape[0] = 19"},
      {[](Args& a) { a.residual.shape[1] = 23; }, HSTU_ERROR_SHAPE_MISMATCH, "residual.shape[1] = 23"},
      {[](Args& a) { a.output_weight.shape[0] = 95; }, HSTU_ERROR_SHAPE_MISMATCH, "output_weight.shape[0] = 95"},
      {[](Args& a) { a.options.concat_u = 2; }, HSTU_ERROR_INVALID_ARGUMENT, "norm * u: concat_u = 2"},
      {[](Args& a) { a.u.shape[1] = 31; }, HSTU_ERROR_SHAPE_MISMATCH, "norm * u: u.shape[1] = 31"},
      {[](Args& a) { a.out.dtype = HSTU_DTYPE_BF16; }, HSTU_ERROR_UNSUPPORTED_DTYPE,
       "out.dtype = bf16: it must be that of attn, f32"},
      {[](Args& a) { a.residual.dtype = HSTU_DTYPE_F16; }, HSTU_ERROR_UNSUPPORTED_DTYPE, "residual.dtype = f16"},
      {[](Args& a) { a.output_weight.dtype = HSTU_DTYPE_BF16; }, HSTU_ERROR_UNSUPPORTED_DTYPE,
       "output_weight.dtype = bf16: it must be that of attn, f32"},
      {[](Args& a) { a.norm_weight.shape[0] = 31; }, HSTU_ERROR_SHAPE_MISMATCH, "norm * u: weight.shape[0] = 31"},
      {[](Args& a) { a.norm_bias = {}; }, HSTU_ERROR_INVALID_ARGUMENT, "norm * u: bias is absent"},
      {[](Args& a) { set_code(a.options.norm, 3); }, HSTU_ERROR_INVALID_ARGUMENT, "norm * u: norm = 3"},
      {[](Args& a) { a.options.dropout_ratio = 1; }, HSTU_ERROR_INVALID_ARGUMENT, "norm * u: dropout_ratio = 1"},
      {[](Args& a) { a.norm_weight.shape[0] = a.norm_bias.shape[0] = a.options.num_groups = 5; },
       HSTU_ERROR_INVALID_ARGUMENT, "norm * u: num_groups = 5: it must divide"},
      {[](Args& a) { a.workspace_size = 0; }, HSTU_ERROR_INVALID_ARGUMENT, "workspace_size = 0"},
  };
  for (const auto& c : cases) {
    Args args = output_args();
    c.spoil(args);
    EXPECT_EQ(hstu_compute_output(context_, &args, nullptr), c.status) << c.text << ": " << hstu_last_error();
    EXPECT_NE(std::string(hstu_last_error()).find(c.text), std::string::npos) << hstu_last_error();
  }
}

TEST_F(Layer, PreprocessAndAttentionNamesTheFieldItRefuses) {
  using Args = hstu_preprocess_and_attention_args;
  const Refused<Args> cases[] = {
      {[](Args& a) { a.struct_size = 1; }, HSTU_ERROR_INVALID_ARGUMENT, "args.struct_size"},
      {[](Args& a) { a.uvqk.x = {}; }, HSTU_ERROR_UNSUPPORTED_DTYPE, "x.dtype"},
      {[](Args& a) { a.uvqk.dims.hidden_dim = 0; }, HSTU_ERROR_INVALID_ARGUMENT, "dims.hidden_dim = 0"},
      {[](Args& a) { a.attention.q = a.attention.out; }, HSTU_ERROR_INVALID_ARGUMENT, "attention.q is there"},
      {[](Args& a) { a.attention.k = a.attention.out; }, HSTU_ERROR_INVALID_ARGUMENT, "attention.k is there"},
      {[](Args& a) { a.attention.v = a.attention.out; }, HSTU_ERROR_INVALID_ARGUMENT, "attention.v is there"},
      {[](Args& a) { a.attention.out = {}; }, HSTU_ERROR_INVALID_ARGUMENT, "attention: out is absent"},
      {[](Args& a) { a.attention.out.shape[2] = 15; }, HSTU_ERROR_SHAPE_MISMATCH, "attention: out.shape[2] = 15"},
      {[](Args& a) { a.attention.seq_offsets = {}; }, HSTU_ERROR_INVALID_ARGUMENT, "attention: seq_offsets is absent"},
      {[](Args& a) { a.attention.max_seq_len = 0; }, HSTU_ERROR_INVALID_ARGUMENT, "attention: max_seq_len = 0"},
      {[](Args& a) { a.workspace = nullptr; }, HSTU_ERROR_INVALID_ARGUMENT, "workspace = NULL"},
      {[](Args& a) { a.workspace_size -= 1; }, HSTU_ERROR_INVALID_ARGUMENT, "workspace_size = "},
  };
  for (const auto& c : cases) {
    Args args{};
    args.struct_size = sizeof args;
    args.uvqk = uvqk_args();
    args.attention = attention_args();
    args.attention.out = memory_.poison(kDtype, {kRows, 2, 16});
    ASSERT_EQ(hstu_preprocess_and_attention_workspace_size(&args, &args.workspace_size), HSTU_OK);
    args.workspace = workspace(args.workspace_size);
    c.spoil(args);
    EXPECT_EQ(hstu_preprocess_and_attention(context_, &args, nullptr), c.status) << c.text << ": " << hstu_last_error();
    EXPECT_NE(std::string(hstu_last_error()).find(c.text), std::string::npos) << hstu_last_error();
  }
}

TEST_F(Layer, Fp8LinearNamesTheFieldItRefuses) {
  using Args = hstu_fp8_linear_args;
  const Refused<Args> cases[] = {
      {[](Args& a) { a.struct_size = 1; }, HSTU_ERROR_INVALID_ARGUMENT, "args.struct_size"},
      {[](Args& a) { a.x.rank = 1; }, HSTU_ERROR_INVALID_ARGUMENT, "x.rank = 1"},
      {[](Args& a) { a.x.dtype = HSTU_DTYPE_I32; }, HSTU_ERROR_UNSUPPORTED_DTYPE, "x.dtype = i32"},
      {[](Args& a) { a.w = {}; }, HSTU_ERROR_INVALID_ARGUMENT, "w is absent"},
      {[](Args& a) { a.w.dtype = HSTU_DTYPE_BF16; }, HSTU_ERROR_UNSUPPORTED_DTYPE, "w.dtype = bf16"},
      {[](Args& a) { a.w.shape[1] = 39; }, HSTU_ERROR_SHAPE_MISMATCH, "w.shape[1] = 39"},
      {[](Args& a) { a.w_descale.shape[0] = 7; }, HSTU_ERROR_SHAPE_MISMATCH, "w_descale.shape[0] = 7"},
      {[](Args& a) { a.w_descale.dtype = HSTU_DTYPE_F16; }, HSTU_ERROR_UNSUPPORTED_DTYPE, "w_descale.dtype = f16"},
      {[](Args& a) { a.bias.shape[0] = 7; }, HSTU_ERROR_SHAPE_MISMATCH, "bias.shape[0] = 7"},
      {[](Args& a) { a.out.shape[0] = 7; }, HSTU_ERROR_SHAPE_MISMATCH, "out.shape[0] = 7"},
      {[](Args& a) { a.out.dtype = HSTU_DTYPE_E4M3; }, HSTU_ERROR_UNSUPPORTED_DTYPE, "out.dtype = e4m3"},
      {[](Args& a) { a.x_scaling = HSTU_FP8_BLOCK; }, HSTU_ERROR_INVALID_ARGUMENT, "x_scaling = 3"},
      {[](Args& a) { set_code(a.w_scaling, 4); }, HSTU_ERROR_INVALID_ARGUMENT, "w_scaling = 4"},
      {[](Args& a) { a.workspace_size = 0; }, HSTU_ERROR_INVALID_ARGUMENT, "workspace_size = 0"},
  };
  for (const auto& c : cases) {
    Args args{};
    args.struct_size = sizeof args;
    args.x = random({kRows, 40});
    args.w = memory_.random(HSTU_DTYPE_E4M3, {kEmbedding, 40});
    args.w_descale = random({kEmbedding});
    args.bias = random({kEmbedding});
    args.out = memory_.poison(kDtype, {kRows, kEmbedding});
    args.x_scaling = args.w_scaling = HSTU_FP8_ROW;
    ASSERT_EQ(hstu_fp8_linear_workspace_size(&args, &args.workspace_size), HSTU_OK) << hstu_last_error();
    args.workspace = workspace(args.workspace_size);
    c.spoil(args);
    EXPECT_EQ(hstu_fp8_linear(context_, &args, nullptr), c.status) << c.text << ": " << hstu_last_error();
    EXPECT_NE(std::string(hstu_last_error()).find(c.text), std::string::npos) << hstu_last_error();
  }
}

TEST_F(Layer, StackNamesTheFp8WeightItRefuses) {
  struct Case {
    void (*spoil)(hstu_layer_weights&, hstu_fp8_layer_weights&);
    hstu_status status;
    const char* text;
  };
  using Plain = hstu_layer_weights;
  using Fp8 = hstu_fp8_layer_weights;
  const Case cases[] = {
      {[](Plain& p, Fp8& f) { p.uvqk_weight = f.uvqk_weight; }, HSTU_ERROR_INVALID_ARGUMENT, "uvqk_weight is there"},
      {[](Plain& p, Fp8& f) { p.output_weight = f.output_weight; }, HSTU_ERROR_INVALID_ARGUMENT,
       "output_weight is there"},
      {[](Plain&, Fp8& f) { f.uvqk_weight = {}; }, HSTU_ERROR_INVALID_ARGUMENT, "fp8_layers.uvqk_weight is absent"},
      {[](Plain&, Fp8& f) { f.uvqk_weight.shape[0] -= 1; }, HSTU_ERROR_SHAPE_MISMATCH,
       "fp8_layers.uvqk_weight.shape[0] = 143"},
      {[](Plain&, Fp8& f) { f.uvqk_descale.shape[0] = 7; }, HSTU_ERROR_SHAPE_MISMATCH,
       "fp8_layers.uvqk_descale.shape[0] = 7"},
      {[](Plain&, Fp8& f) { f.output_weight.shape[1] = 48; }, HSTU_ERROR_SHAPE_MISMATCH,
       "fp8_layers.output_weight.shape[1] = 48"},
      {[](Plain&, Fp8& f) { f.output_descale.dtype = HSTU_DTYPE_BF16; }, HSTU_ERROR_UNSUPPORTED_DTYPE,
       "fp8_layers.output_descale.dtype = bf16"},
      {[](Plain&, Fp8& f) { f.output_weight.dtype = HSTU_DTYPE_BF16; }, HSTU_ERROR_UNSUPPORTED_DTYPE,
       "fp8_layers.output_weight.dtype = bf16"},
  };
  const Workload w = workload(2, 16, kFp8);
  const std::unique_ptr<Memory> memory = host_memory();
  const Stack stack(expand_stack(w), *memory, 1);
  const StackArgs stack_args(w, stack);
  for (const Case& c : cases) {
    hstu_stack_args args = stack_args.args();
    std::vector<hstu_layer_weights> plain(args.layers, args.layers + 2);
    std::vector<hstu_fp8_layer_weights> fp8(args.fp8_layers, args.fp8_layers + 2);
    c.spoil(plain[1], fp8[1]);
    args.layers = plain.data();
    args.layer_size = sizeof(hstu_layer_weights);
    args.fp8_layers = fp8.data();
    args.fp8_layer_size = sizeof(hstu_fp8_layer_weights);
    EXPECT_EQ(hstu_stack(context_, &args, nullptr), c.status) << c.text;
    EXPECT_NE(std::string(hstu_last_error()).find(std::string("layers[1]: ") + c.text), std::string::npos)
        << hstu_last_error();
  }
  hstu_stack_args args = stack_args.args();
  args.workspace_size -= 256;
  EXPECT_EQ(hstu_stack(context_, &args, nullptr), HSTU_ERROR_INVALID_ARGUMENT);
  EXPECT_NE(std::string(hstu_last_error()).find("workspace_size"), std::string::npos) << hstu_last_error();
}

TEST_F(Layer, StackNamesTheLayerItRefusesAndWritesNothing) {
  const Workload w = workload(2);
  const std::unique_ptr<Memory> memory = host_memory();
  const Stack stack(expand_stack(w), *memory, 1);
  const StackArgs stack_args(w, stack);
  std::vector<hstu_layer_weights> layers(stack_args.args().layers, stack_args.args().layers + 2);
  layers[1].output_weight.shape[0] = 7;
  hstu_stack_args args = stack_args.args();
  args.layers = layers.data();
  args.layer_size = sizeof(hstu_layer_weights);
  const std::vector<double> before = stack.read("x");
  args.out = args.x;
  EXPECT_EQ(hstu_stack(context_, &args, nullptr), HSTU_ERROR_SHAPE_MISMATCH);
  EXPECT_NE(std::string(hstu_last_error()).find("layers[1]: output_weight.shape[0] = 7"), std::string::npos)
      << hstu_last_error();
  EXPECT_EQ(stack.read("x"), before);  // layer 0 was right, and still nothing ran

  args = stack_args.args();
  args.layers = nullptr;
  args.layer_size = sizeof(hstu_layer_weights);
  EXPECT_EQ(hstu_stack(context_, &args, nullptr), HSTU_ERROR_INVALID_ARGUMENT);
  EXPECT_NE(std::string(hstu_last_error()).find("layers = NULL"), std::string::npos);
  args = stack_args.args();
  args.num_layers = 0;
  EXPECT_EQ(hstu_stack(context_, &args, nullptr), HSTU_ERROR_INVALID_ARGUMENT);
  args = stack_args.args();
  args.attention.q = args.x;
  EXPECT_EQ(hstu_stack(context_, &args, nullptr), HSTU_ERROR_INVALID_ARGUMENT);
  EXPECT_NE(std::string(hstu_last_error()).find("attention.q is there"), std::string::npos) << hstu_last_error();
  args = stack_args.args();
  args.attention.moments = args.x;
  EXPECT_EQ(hstu_stack(context_, &args, nullptr), HSTU_ERROR_INVALID_ARGUMENT);
  EXPECT_NE(std::string(hstu_last_error()).find("attention.moments is there"), std::string::npos) << hstu_last_error();
}

}  // namespace
}  // namespace hstujit
