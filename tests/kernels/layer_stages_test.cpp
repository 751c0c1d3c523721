// Stages of a layer, and the layer, as one call each on the device against the device "cpu": they write their results
// and nothing else, in workspaces of exactly the size asked for. And stacks in a graph, replayed on other inputs.
#include "support/device_call.hpp"
#include "support/streams.hpp"
#include "workload/stack.hpp"
#include "workload/stack_args.hpp"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <string>

namespace hstujit {
namespace {

using test::HostMemory;
using test::Tolerance;

constexpr hstu_dtype kF32 = HSTU_DTYPE_F32, kF16 = HSTU_DTYPE_F16, kBf16 = HSTU_DTYPE_BF16, kE4m3 = HSTU_DTYPE_E4M3,
                     kNone = HSTU_DTYPE_NONE;

hstu_context* reference() {
  static hstu_context* const context = [] {
    hstu_context_options options{};
    options.struct_size = sizeof options;
    options.device = "cpu";
    options.store_path = "";
    hstu_context* created = nullptr;
    EXPECT_EQ(hstu_context_create(&created, &options), HSTU_OK) << hstu_last_error();
    return created;
  }();
  return context;
}

/// Of results that are rounded on both sides, and so are those they are made of, now and then to different neighbours.
Tolerance rounded_on_both_sides(hstu_dtype dtype) {
  Tolerance tolerance = test::rounded_once(dtype);
  if (dtype != kF32) tolerance.ulps_of_row = 0.4, tolerance.steps_of_element = 1;
  return tolerance;
}

// ---- What the stages have in common

std::vector<hstu_tensor*> tensors_of(hstu_compute_uvqk_args& a) {
  return {&a.x, &a.norm_weight, &a.norm_bias, &a.uvqk_weight, &a.uvqk_bias, &a.uvqk};
}
std::vector<hstu_tensor*> tensors_of(hstu_attention_args& a) {
  return {&a.out, &a.seq_offsets, &a.mask.num_targets, &a.attn_scale, &a.mask.num_contexts};
}
std::vector<hstu_tensor*> tensors_of(hstu_preprocess_and_attention_args& a) {
  std::vector<hstu_tensor*> all = tensors_of(a.uvqk);
  for (hstu_tensor* t : tensors_of(a.attention)) all.push_back(t);
  return all;
}
std::vector<hstu_tensor*> tensors_of(hstu_compute_output_args& a) {
  return {&a.attn, &a.u, &a.residual, &a.norm_weight, &a.norm_bias, &a.output_weight, &a.out};
}
std::vector<hstu_tensor*> tensors_of(hstu_fp8_linear_args& a) { return {&a.x, &a.w, &a.w_descale, &a.bias, &a.out}; }

/// hstu_layer with the parameter sets that its args point to.
struct LayerArgs : hstu_stack_args {
  hstu_layer_weights weights;
  hstu_fp8_layer_weights fp8_weights;
};
std::vector<hstu_tensor*> tensors_of(LayerArgs& a) {
  hstu_layer_weights& w = a.weights;
  hstu_fp8_layer_weights& f = a.fp8_weights;
  std::vector<hstu_tensor*> all = tensors_of(a.attention);
  for (hstu_tensor* t :
       {&a.x, &a.out, &w.norm_weight, &w.norm_bias, &w.uvqk_weight, &w.uvqk_bias, &w.output_norm_weight,
        &w.output_norm_bias, &w.output_weight, &f.uvqk_weight, &f.uvqk_descale, &f.output_weight, &f.output_descale})
    all.push_back(t);
  return all;
}

hstu_status call(hstu_context* c, const hstu_compute_uvqk_args& a) { return hstu_compute_uvqk(c, &a, nullptr); }
hstu_status call(hstu_context* c, const hstu_preprocess_and_attention_args& a) {
  return hstu_preprocess_and_attention(c, &a, nullptr);
}
hstu_status call(hstu_context* c, const hstu_compute_output_args& a) { return hstu_compute_output(c, &a, nullptr); }
hstu_status call(hstu_context* c, const hstu_fp8_linear_args& a) { return hstu_fp8_linear(c, &a, nullptr); }
hstu_status call(hstu_context* c, LayerArgs a) {
  a.layers = &a.weights;
  a.layer_size = sizeof(hstu_layer_weights);
  if (a.fp8_layers) a.fp8_layers = &a.fp8_weights;
  a.fp8_layer_size = sizeof(hstu_fp8_layer_weights);
  return hstu_layer(c, &a, nullptr);
}

/// Gives the call a workspace of the size that it says it needs.
template <class Args>
void take_workspace(HostMemory& memory, hstu_status (*size)(const Args*, size_t*), Args& args) {
  ASSERT_EQ(size(&args, &args.workspace_size), HSTU_OK) << hstu_last_error();
  args.workspace = memory.slab(static_cast<int64_t>(args.workspace_size)).base();
}

/// The call on copies of the memory's slabs; the tensors given and the workspace are all that it may write.
template <class Args>
class StageCall : public test::DeviceSlabs {
 public:
  StageCall(HostMemory& memory, Args args, std::vector<hstu_tensor> outputs) : DeviceSlabs(memory) {
    outputs.push_back(hstu_vector(args.workspace, kE4m3, static_cast<int64_t>(args.workspace_size)));
    for (hstu_tensor* t : tensors_of(args)) t->data = copy_of(t->data);
    args.workspace = copy_of(args.workspace);
    const hstu_status status = call(test::test_device()->context, args);
    EXPECT_EQ(status, HSTU_OK) << hstu_last_error();
    ran_ = status == HSTU_OK && !test::test_device()->compile_only;
    if (!ran_) return;
    fetch();
    EXPECT_TRUE(wrote_only(outputs));
  }
  /// Not where kernels are compiled only.
  bool ran() const { return ran_; }

 private:
  bool ran_ = false;
};

/// Compares `out` with what the reference makes of it in the host's memory, which is then written.
template <class Args>
void expect_as_reference(StageCall<Args>& on_device, const Args& args, const hstu_tensor& out,
                         const Tolerance& tolerance) {
  ASSERT_EQ(call(reference(), args), HSTU_OK) << hstu_last_error();
  EXPECT_TRUE(test::close(on_device.after(out), test::values(out), tolerance));
}

// ---- u, v, q and k

struct UvqkCase {
  hstu_dtype dtype = kBf16;
  int64_t rows = 216, embedding = 128;
  hstu_layer_dims dims{2, 32, 64};
  hstu_dtype parameters = kBf16;  ///< of the norm's
  bool bias = true;
};
std::string name_of_uvqk(const UvqkCase& c) {
  return fmt::format("{}_{}x{}_h{}_{}_{}_{}_b{}", name_of(c.dtype), c.rows, c.embedding, c.dims.num_heads,
                     c.dims.attn_dim, c.dims.hidden_dim, name_of(c.parameters), int{c.bias});
}
void PrintTo(const UvqkCase& c, std::ostream* out) { *out << name_of_uvqk(c); }

hstu_compute_uvqk_args uvqk_args(HostMemory& memory, const UvqkCase& c) {
  const int64_t columns = hstu_uvqk_columns(c.dims);
  hstu_compute_uvqk_args args{};
  args.struct_size = sizeof args;
  args.x = memory.random(c.dtype, {c.rows, c.embedding}, {.row_padding = 8}, 0.1);
  args.norm_weight = memory.random(c.parameters, {c.embedding}, {}, 1, 0.3);
  args.norm_bias = memory.random(c.parameters, {c.embedding}, {}, 0, 0.3);
  args.uvqk_weight =
      memory.random(c.dtype, {c.embedding, columns}, {}, 0, 1 / std::sqrt(static_cast<double>(c.embedding)));
  if (c.bias) args.uvqk_bias = memory.random(c.dtype, {columns});
  args.uvqk = memory.poison(c.dtype, {c.rows, columns});
  args.dims = c.dims;
  return args;
}

class ComputeUvqkOnDevice : public testing::TestWithParam<UvqkCase> {};

TEST_P(ComputeUvqkOnDevice, EqualsTheReference) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  hstu_compute_uvqk_args args = uvqk_args(memory, GetParam());
  take_workspace(memory, &hstu_compute_uvqk_workspace_size, args);
  StageCall on_device(memory, args, {args.uvqk});
  if (!on_device.ran()) GTEST_SKIP() << "compiled, not run";
  expect_as_reference(on_device, args, args.uvqk, rounded_on_both_sides(GetParam().dtype));
}

INSTANTIATE_TEST_SUITE_P(Cases, ComputeUvqkOnDevice,
                         testing::Values(UvqkCase{}, UvqkCase{.dtype = kF16, .parameters = kF16, .bias = false},
                                         UvqkCase{.dtype = kF32, .parameters = kF32},
                                         UvqkCase{.rows = 1, .parameters = kF32}, UvqkCase{.rows = 0},
                                         UvqkCase{.embedding = 50, .dims = {3, 9, 7}},
                                         UvqkCase{.dtype = kF32, .embedding = 50, .dims = {3, 9, 7}, .bias = false},
                                         // So many rows that norm and projection are one product where it is had.
                                         UvqkCase{.rows = 34001, .embedding = 64, .dims = {1, 32, 32}}),
                         [](const auto& c) { return name_of_uvqk(c.param); });

// ---- Attention on them

/// Empty sequences at the end and inside, one of a single row, and rows behind the last that are in none.
const std::vector<int64_t> kLengths{65, 0, 1, 130, 17, 0};
constexpr int64_t kRows = 216;

struct Masking {
  const char* name;
  int64_t contextual = 0, window = 0, full = 0;
  bool targets = false;
  hstu_dtype offsets = HSTU_DTYPE_I64;
  bool scale = false;  ///< of each row
  hstu_mask mask = HSTU_MASK_CAUSAL;
  bool own_contexts = false;
};

/// All but q, k, v and out.
hstu_attention_args attention_options(HostMemory& memory, const Masking& m) {
  hstu_attention_args args{};
  args.seq_offsets = memory.integers(m.offsets, test::offsets_of(kLengths));
  if (m.targets) args.mask.num_targets = memory.integers(HSTU_DTYPE_I32, {20, 0, 1, 7, 0, 0});
  if (m.scale) args.attn_scale = memory.random(kF32, {kRows}, {}, 0.15, 0.03);
  if (m.own_contexts) args.mask.num_contexts = memory.integers(HSTU_DTYPE_I32, {3, 2, 0, 9, 17, 0});
  args.max_seq_len = 130;
  args.scaling_seqlen = 7;  // results of order one: they weigh in the output stage as u does
  args.mask.contextual_seq_len = m.contextual;
  args.mask.max_attn_len = m.window;
  args.mask.min_full_attn_seq_len = m.full;
  args.mask.kind = m.mask;
  return args;
}

struct AttentionCase {
  Masking masking;
  hstu_dtype dtype = kBf16;
  hstu_layer_dims dims{2, 32, 64};
};
std::string name_of_attention(const AttentionCase& c) {
  return fmt::format("{}_{}_h{}_{}_{}", c.masking.name, name_of(c.dtype), c.dims.num_heads, c.dims.attn_dim,
                     c.dims.hidden_dim);
}
void PrintTo(const AttentionCase& c, std::ostream* out) { *out << name_of_attention(c); }

class PreprocessAndAttentionOnDevice : public testing::TestWithParam<AttentionCase> {};

TEST_P(PreprocessAndAttentionOnDevice, EqualsTheReferenceAndTheOracleOfItsColumns) {
  HSTU_NEEDS_DEVICE();
  const AttentionCase& c = GetParam();
  const int64_t heads = c.dims.num_heads, value = heads * c.dims.hidden_dim, query = heads * c.dims.attn_dim;
  HostMemory memory;
  hstu_preprocess_and_attention_args args{};
  args.struct_size = sizeof args;
  args.uvqk = uvqk_args(memory, {.dtype = c.dtype, .rows = kRows, .dims = c.dims, .parameters = c.dtype});
  args.attention = attention_options(memory, c.masking);
  args.attention.out = memory.poison(c.dtype, {kRows, heads, c.dims.hidden_dim});
  take_workspace(memory, &hstu_preprocess_and_attention_workspace_size, args);
  StageCall on_device(memory, args, {args.uvqk.uvqk, args.attention.out});
  if (!on_device.ran()) GTEST_SKIP() << "compiled, not run";

  hstu_attention_args attention = args.attention;
  attention.struct_size = sizeof attention;
  const hstu_tensor uvqk = on_device.after(args.uvqk.uvqk);
  attention.v = test::as_heads(test::columns_of(uvqk, value, value), heads);
  attention.q = test::as_heads(test::columns_of(uvqk, 2 * value, query), heads);
  attention.k = test::as_heads(test::columns_of(uvqk, 2 * value + query, query), heads);
  EXPECT_TRUE(test::close(on_device.after(args.attention.out), test::exact_result(attention, &hstu_attention_args::out),
                          test::attention_tolerance(c.dtype)));
  expect_as_reference(on_device, args, args.uvqk.uvqk, rounded_on_both_sides(c.dtype));
}

const Masking kCausal{.name = "causal"}, kTargets{.name = "targets", .contextual = 5, .targets = true},
    kWindow{.name = "window", .contextual = 3, .window = 20, .full = 10, .targets = true, .offsets = HSTU_DTYPE_I32},
    kScale{.name = "scale", .scale = true}, kFull{.name = "full", .mask = HSTU_MASK_FULL},
    kOwnContexts{.name = "own_contexts", .targets = true, .own_contexts = true};

std::vector<AttentionCase> attention_cases() {
  std::vector<AttentionCase> all;
  for (const Masking& masking : {kCausal, kTargets, kWindow, kScale, kFull, kOwnContexts}) all.push_back({masking});
  for (const hstu_dtype dtype : {kF16, kF32}) all.push_back({kTargets, dtype});
  all.push_back({kTargets, kBf16, {3, 24, 20}});
  return all;
}
INSTANTIATE_TEST_SUITE_P(Cases, PreprocessAndAttentionOnDevice, testing::ValuesIn(attention_cases()),
                         [](const auto& c) { return name_of_attention(c.param); });

// ---- The output stage

enum class Residual { absent, apart, in_place };

/// hstu_output_options; by default those of DLRM-v3.
struct Options {
  float eps = 0;
  hstu_activation activation = HSTU_ACTIVATION_NONE;
  int32_t concat_u = 1, concat_x = 1, silu_u = 0;
  int32_t num_groups = 0;
  hstu_norm norm = HSTU_NORM_LAYER;
  hstu_dropout_stream dropout_stream = HSTU_DROPOUT_COMPAT;
  float dropout_ratio = 0;

  hstu_output_options args() const {
    return {eps, activation, concat_u, concat_x, silu_u, norm, dropout_stream, dropout_ratio, num_groups, 77};
  }
  int64_t segments() const {
    if (num_groups > 0) return concat_u && concat_x ? 3 : 1;
    return 1 + concat_u + concat_x;
  }
  /// Elements of the norm's weight.
  int64_t weights(int64_t dim) const { return num_groups > 0 ? num_groups : dim; }
};

struct OutputCase {
  const char* name;
  Options options{};
  hstu_dtype dtype = kBf16;
  Residual residual = Residual::apart;
  int64_t rows = 216, dim = 128, embedding = 96;
};
void PrintTo(const OutputCase& c, std::ostream* out) { *out << c.name; }

hstu_compute_output_args output_args(HostMemory& memory, const OutputCase& c) {
  const bool rms = c.options.norm == HSTU_NORM_RMS;
  const int64_t inner = c.options.segments() * c.dim, weights = c.options.weights(c.dim);
  hstu_compute_output_args args{};
  args.struct_size = sizeof args;
  args.attn = memory.random(c.dtype, {c.rows, c.dim}, {}, 0.1);
  args.u = memory.random(c.dtype, {c.rows, c.dim}, {.row_padding = 3 * c.dim});  // as columns of a projection
  args.norm_weight = memory.random(c.dtype, {weights}, {}, 1, 0.3);
  if (!rms) args.norm_bias = memory.random(c.dtype, {weights}, {}, 0, 0.3);
  args.output_weight = memory.random(c.dtype, {inner, c.embedding}, {}, 0, 1 / std::sqrt(static_cast<double>(inner)));
  if (c.residual == Residual::in_place)
    args.residual = args.out = memory.random(c.dtype, {c.rows, c.embedding});
  else
    args.out = memory.poison(c.dtype, {c.rows, c.embedding});
  if (c.residual == Residual::apart) args.residual = memory.random(c.dtype, {c.rows, c.embedding}, {.row_padding = 8});
  args.options = c.options.args();
  return args;
}

class ComputeOutputOnDevice : public testing::TestWithParam<OutputCase> {};

TEST_P(ComputeOutputOnDevice, EqualsTheReference) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  hstu_compute_output_args args = output_args(memory, GetParam());
  take_workspace(memory, &hstu_compute_output_workspace_size, args);
  StageCall on_device(memory, args, {args.out});
  if (!on_device.ran()) GTEST_SKIP() << "compiled, not run";
  expect_as_reference(on_device, args, args.out, rounded_on_both_sides(GetParam().dtype));
}

std::vector<OutputCase> output_cases() {
  const Options neither{.concat_u = 0, .concat_x = 0};
  return {{"both"},
          {"both_f16", {}, kF16},
          {"both_f32", {}, kF32},
          {"both_in_place", {}, kBf16, Residual::in_place},
          {"both_without_residual", {}, kBf16, Residual::absent},
          {"neither", neither},
          {"neither_f32", {.eps = 1e-3f, .concat_u = 0, .concat_x = 0}, kF32, Residual::absent},
          {"u_only", {.activation = HSTU_ACTIVATION_SIGMOID, .concat_x = 0, .silu_u = 1}},
          {"x_only", {.activation = HSTU_ACTIVATION_SILU, .concat_u = 0}, kF16},
          {"rms", {.norm = HSTU_NORM_RMS}},
          {"swish", {.norm = HSTU_NORM_SWISH}},
          {"groups", {.num_groups = 2}},
          {"one_segment_of_groups", {.concat_u = 0, .concat_x = 0, .silu_u = 1, .num_groups = 4}, kF32},
          {"dropout", {.dropout_ratio = 0.3f}},
          {"dropout_of_rows", {.concat_x = 0, .dropout_stream = HSTU_DROPOUT_ROWS, .dropout_ratio = 0.3f}, kF32},
          {"one_row", {}, kBf16, Residual::apart, 1},
          {"no_rows", {}, kBf16, Residual::apart, 0},
          {"odd", {}, kBf16, Residual::apart, 45, 42, 50},
          {"odd_f32", {.concat_u = 0}, kF32, Residual::in_place, 45, 21, 35}};
}
INSTANTIATE_TEST_SUITE_P(Cases, ComputeOutputOnDevice, testing::ValuesIn(output_cases()),
                         [](const auto& c) { return std::string(c.param.name); });

// ---- The linear layer in FP8

struct LinearCase {
  hstu_dtype dtype = kBf16, out = kBf16, w = kE4m3, bias = kBf16;
  hstu_fp8_scaling x_scaling = HSTU_FP8_ROW, w_scaling = HSTU_FP8_ROW;
  int64_t rows = 216, k = 256, n = 192;
};
std::string name_of_linear(const LinearCase& c) {
  return fmt::format("{}_{}_{}_{}_s{}{}_{}x{}x{}", name_of(c.dtype), name_of(c.out), name_of(c.w), name_of(c.bias),
                     static_cast<int>(c.x_scaling), static_cast<int>(c.w_scaling), c.rows, c.k, c.n);
}
void PrintTo(const LinearCase& c, std::ostream* out) { *out << name_of_linear(c); }

hstu_tensor descale_of(HostMemory& memory, const LinearCase& c) {
  const auto spans = [](int64_t extent) { return (extent + 127) / 128; };
  switch (c.w_scaling) {
    case HSTU_FP8_TENSOR:
      return memory.floats({0.75f});
    case HSTU_FP8_ROW:
      return memory.random(kF32, {c.n}, {}, 1, 0.25);
    case HSTU_FP8_GROUP:
      return memory.random(kF32, {c.n, spans(c.k)}, {}, 1, 0.25);
    default:
      return memory.random(kF32, {spans(c.n), spans(c.k)}, {}, 1, 0.25);
  }
}

class Fp8LinearOnDevice : public testing::TestWithParam<LinearCase> {};

TEST_P(Fp8LinearOnDevice, EqualsTheReference) {
  HSTU_NEEDS_DEVICE();
  const LinearCase& c = GetParam();
  HostMemory memory;
  hstu_fp8_linear_args args{};
  args.struct_size = sizeof args;
  args.x = memory.random(c.dtype, {c.rows, c.k}, {.row_padding = 8});
  args.w = memory.random(c.w, {c.n, c.k}, {}, 0, 1 / std::sqrt(static_cast<double>(c.k)));
  args.w_descale = descale_of(memory, c);
  if (c.bias != kNone) args.bias = memory.random(c.bias, {c.n});
  args.out = memory.poison(c.out, {c.rows, c.n}, {.row_padding = 8});
  args.x_scaling = c.x_scaling;
  args.w_scaling = c.w_scaling;
  take_workspace(memory, &hstu_fp8_linear_workspace_size, args);
  StageCall on_device(memory, args, {args.out});
  if (!on_device.ran()) GTEST_SKIP() << "compiled, not run";
  // The quantised bits are the same everywhere. Sums of f16 products are cut off rather than rounded by tensor cores.
  expect_as_reference(on_device, args, args.out, c.out == kF32 ? Tolerance{2e-5, 300} : rounded_on_both_sides(c.out));
}

std::vector<LinearCase> linear_cases() {
  constexpr auto kRow = HSTU_FP8_ROW, kGroup = HSTU_FP8_GROUP, kBlock = HSTU_FP8_BLOCK;
  return {{},
          {.bias = kNone, .x_scaling = kGroup, .w_scaling = kBlock},
          {.bias = kF32, .w_scaling = HSTU_FP8_TENSOR},
          {.dtype = kF16, .out = kF16, .w = HSTU_DTYPE_E5M2, .bias = kF16, .w_scaling = kBlock},
          {.dtype = kF32, .out = kF32, .bias = kF32, .x_scaling = kGroup, .w_scaling = kGroup},
          {.dtype = kF32, .x_scaling = kGroup, .k = 200, .n = 77},  // a pitch of its own
          {.rows = 1, .k = 77},
          {.rows = 0},
          {.x_scaling = kRow, .rows = 3000, .k = 512, .n = 512}};
}
INSTANTIATE_TEST_SUITE_P(Cases, Fp8LinearOnDevice, testing::ValuesIn(linear_cases()),
                         [](const auto& c) { return name_of_linear(c.param); });

// ---- A whole layer

struct LayerCase {
  const char* name;
  hstu_dtype dtype = kBf16;
  Masking masking = kTargets;
  Options output{};
  hstu_layer_dims dims{2, 32, 64};
  bool fp8 = false, fast = false, in_place = false;
};
void PrintTo(const LayerCase& c, std::ostream* out) { *out << c.name; }

hstu_tensor weight(HostMemory& memory, hstu_dtype dtype, int64_t k, int64_t n) {
  return memory.random(dtype, {k, n}, {}, 0, 1 / std::sqrt(static_cast<double>(k)));
}

constexpr double kLargeInE4m3 = 16;  ///< deviation of weights in FP8, far from its least values
hstu_tensor fp8_weight(HostMemory& memory, int64_t k, int64_t n) {
  return memory.random(kE4m3, {n, k}, {}, 0, kLargeInE4m3);
}
hstu_tensor fp8_descale(HostMemory& memory, int64_t k, int64_t n) {
  const double size = 1 / std::sqrt(static_cast<double>(k)) / kLargeInE4m3;
  return memory.random(kF32, {n}, {}, size, size / 4);
}

LayerArgs layer_args(HostMemory& memory, const LayerCase& c) {
  constexpr int64_t kEmbedding = 96;
  const int64_t columns = hstu_uvqk_columns(c.dims), value = c.dims.num_heads * c.dims.hidden_dim;
  const int64_t inner = c.output.segments() * value, weights = c.output.weights(value);
  LayerArgs args{};
  args.struct_size = sizeof(hstu_stack_args);
  args.x = memory.random(c.dtype, {kRows, kEmbedding});
  args.out = c.in_place ? args.x : memory.poison(c.dtype, {kRows, kEmbedding});
  args.dims = c.dims;
  args.attention = attention_options(memory, c.masking);
  args.output = c.output.args();
  hstu_layer_weights& w = args.weights;
  w.norm_weight = memory.random(c.dtype, {kEmbedding}, {}, 1, 0.3);
  w.norm_bias = memory.random(c.dtype, {kEmbedding}, {}, 0, 0.3);
  w.uvqk_bias = memory.random(c.dtype, {columns}, {}, 0, 0.3);
  w.output_norm_weight = memory.random(c.dtype, {weights}, {}, 1, 0.3);
  if (c.output.norm != HSTU_NORM_RMS) w.output_norm_bias = memory.random(c.dtype, {weights}, {}, 0, 0.3);
  if (c.fp8) {
    args.fp8_weights = {fp8_weight(memory, kEmbedding, columns), fp8_descale(memory, kEmbedding, columns),
                        fp8_weight(memory, inner, kEmbedding), fp8_descale(memory, inner, kEmbedding)};
    args.fp8_layers = &args.fp8_weights;
    args.fp8_layer_size = sizeof(hstu_fp8_layer_weights);
    args.fp8_accumulation = c.fast ? HSTU_FP8_ACCUMULATE_FAST : HSTU_FP8_ACCUMULATE_128;
  } else {
    w.uvqk_weight = weight(memory, c.dtype, kEmbedding, columns);
    w.output_weight = weight(memory, c.dtype, inner, kEmbedding);
  }
  return args;
}

/// Of elements what attention is wrong by, on both sides, and a rounding; all of them as workload/stack_check.cpp has
/// it. A value between two of E4M3's that goes to the other is a step of one term of a sum.
Tolerance tolerance_of(const LayerCase& c) {
  if (c.fp8) return c.dtype == kBf16 ? Tolerance{1.5e-2, 8} : Tolerance{5e-3, 64};
  const double all = c.dtype == kBf16 ? 1e-2 : c.dtype == kF16 ? 2e-3 : 2e-6;
  return {all, c.dtype == kF32 ? test::attention_tolerance(kF32).ulps_of_row : 3};
}

class LayerOnDevice : public testing::TestWithParam<LayerCase> {};

TEST_P(LayerOnDevice, EqualsTheReference) {
  HSTU_NEEDS_DEVICE();
  HostMemory memory;
  LayerArgs args = layer_args(memory, GetParam());
  take_workspace<hstu_stack_args>(memory, &hstu_stack_workspace_size, args);
  StageCall on_device(memory, args, {args.out});
  if (!on_device.ran()) GTEST_SKIP() << "compiled, not run";
  // Rows in no sequence have no attention, and their results no meaning.
  const int64_t rows = test::offsets_of(kLengths).back();
  const hstu_tensor out = test::rows_of(args.out, 0, rows);
  expect_as_reference(on_device, args, out, tolerance_of(GetParam()));
}

std::vector<LayerCase> layer_cases() {
  return {
      {"bf16"},
      {"f16", kF16},
      {"f32", kF32},
      {"window", kBf16, kWindow},
      {"in_place", kBf16, kTargets, {}, {2, 32, 64}, false, false, true},
      {"apart", kBf16, kTargets, {}, {3, 24, 20}},
      {"product_alone", kF16, kCausal, {.concat_u = 0, .concat_x = 0}},
      {"groups", kBf16, kScale, {.num_groups = 2}},
      {"rms", kBf16, kTargets, {.norm = HSTU_NORM_RMS}},
      {"dropout", kF32, kTargets, {.dropout_ratio = 0.2f}},
      {"fp8", kBf16, kTargets, {}, {2, 32, 64}, true},
      {"fp8_f16", kF16, kTargets, {}, {2, 32, 64}, true},
      {"fp8_fast", kBf16, kWindow, {}, {2, 32, 64}, true, true},
      {"fp8_in_place", kBf16, kTargets, {.concat_u = 0, .concat_x = 0, .silu_u = 1}, {3, 24, 20}, true, false, true}};
}
INSTANTIATE_TEST_SUITE_P(Cases, LayerOnDevice, testing::ValuesIn(layer_cases()),
                         [](const auto& c) { return std::string(c.param.name); });

// ---- Stacks in graphs

struct GraphCase {
  const char *name, *dtype, *layers;
  int batch = 40;
};
void PrintTo(const GraphCase& c, std::ostream* out) { *out << c.name; }

class StackInAGraph : public testing::TestWithParam<GraphCase> {};

TEST_P(StackInAGraph, GivesTheBitsOfTheCallOnWhateverItsInputHolds) {
  HSTU_NEEDS_GPU();
  const test::TestDevice& device = *test::test_device();
  if (device.cpu || device.compile_only) GTEST_SKIP() << "only a GPU has graphs";
  const Workload w = parse_workload(fmt::format(
      R"({{"format": "hstujit-workload-1", "name": "t", "dtype": "{}",
    "sequences": {{"batch": {}, "history": {{"kind": "uniform", "from": 0, "to": 120, "seed": 1}}, "targets": 3}},
    "stack": {{"layers": 3, "embedding_dim": 256, "num_heads": 1, "attn_dim": 32, "hidden_dim": 64{}}}}})",
      GetParam().dtype, GetParam().batch, GetParam().layers));
  const std::unique_ptr<Memory> memory = device.memory();
  const Stack stack(stack_on(device.facts(), w), *memory, 1), other(stack_on(device.facts(), w), *memory, 2);
  const StackArgs args(w, stack);
  stack.set_up(device.context, nullptr);
  const hstu_tensor &x = args.args().x, &out = args.args().out;
  const auto x_bytes = static_cast<size_t>(extent_bytes(x)), out_bytes = static_cast<size_t>(extent_bytes(out));
  const std::string poison(out_bytes, '\xff');
  std::string inputs[2] = {std::string(x_bytes, '\0'), std::string(x_bytes, '\0')};
  memory->download(inputs[0].data(), x.data, x_bytes);
  memory->download(inputs[1].data(), other.base("x"), x_bytes);

  const test::Streams streams(1);
  const auto queue = [&] {
    ASSERT_EQ(hstu_stack(device.context, &args.args(), streams[0]), HSTU_OK) << hstu_last_error();
  };
  /// What the work makes of an input.
  const auto result = [&](const std::string& input, const std::function<void()>& work) {
    memory->upload(x.data, input.data(), x_bytes);
    memory->upload(out.data, poison.data(), out_bytes);
    memory->synchronise();
    work();
    streams.wait();
    std::string bytes(out_bytes, '\0');
    memory->download(bytes.data(), out.data, out_bytes);
    return bytes;
  };
  const std::string direct[2] = {result(inputs[0], queue), result(inputs[1], queue)};
  ASSERT_TRUE(direct[0] != direct[1] && direct[0] != poison);
  const test::BranchedGraph graph(streams, queue);
  for (const int input : {0, 1, 0})
    EXPECT_TRUE(result(inputs[input], [&] { graph.launch(streams[0]); }) == direct[input]) << "input " << input;
  EXPECT_TRUE(result(inputs[1], queue) == direct[1]) << "a call behind the graph";
}

INSTANTIATE_TEST_SUITE_P(Cases, StackInAGraph,
                         testing::Values(GraphCase{"f32", "f32", ""}, GraphCase{"bf16", "bf16", ""},
                                         GraphCase{"fp8", "bf16", R"(, "projections": "e4m3", "accumulation": "fast")"},
                                         GraphCase{"fused", "bf16", "",
                                                   700}),  // rows enough for norm and projection in one
                         [](const auto& c) { return std::string(c.param.name); });

}  // namespace
}  // namespace hstujit
