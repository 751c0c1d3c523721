#include "layer/stages.hpp"

#include "layer/one_product.hpp"
#include "layer/quantised.hpp"
#include "problem/checks.hpp"
#include "problem/fp8_scales.hpp"
#include "problem/operators.hpp"
#include "problem/output_rows.hpp"
#include "support/error.hpp"

#include <algorithm>

namespace hstujit::layer {
namespace {

constexpr float kLayerEps = 1e-6f;  ///< what upstream's layers are built with

template <class Args>
Args sized() {
  Args args{};
  args.struct_size = sizeof args;
  return args;
}

float eps_or_default(float eps) { return eps == 0 ? kLayerEps : eps; }

/// Of the projection's output, which is u, v, q and k.
struct Columns {
  int64_t value = 0;  ///< of u and of v: num_heads * hidden_dim
  int64_t query = 0;  ///< of q and of k
  int64_t all = 0;
};

Columns columns_of(const hstu_layer_dims& dims) {
  const struct {
    const char* name;
    int64_t value;
  } members[] = {{"num_heads", dims.num_heads}, {"attn_dim", dims.attn_dim}, {"hidden_dim", dims.hidden_dim}};
  constexpr int64_t kMost = 1 << 20;  // products of two stay far from 64 bits
  for (const auto& member : members)
    if (member.value < 1 || member.value > kMost)
      fail(HSTU_ERROR_INVALID_ARGUMENT, "dims.{} = {}: it must lie in 1 to {}", member.name, member.value, kMost);
  Columns c;
  c.value = dims.num_heads * dims.hidden_dim;
  c.query = dims.num_heads * dims.attn_dim;
  c.all = 2 * (c.value + c.query);
  return c;
}

int64_t segments_of(const hstu_output_options& options) {
  return output_segments(options.concat_u != 0, options.concat_x != 0, options.num_groups > 0);
}

/// Columns [first, first + heads * dim) of a matrix as [rows, heads, dim].
hstu_tensor heads_of(const hstu_tensor& matrix, int64_t first, int64_t heads, int64_t dim) {
  hstu_tensor t = hstu_heads(matrix.data, matrix.dtype, matrix.shape[0], heads, dim);
  t.stride[0] = matrix.stride[0];
  if (t.data) t.data = static_cast<std::byte*>(t.data) + first * checks::element_bytes(t.dtype);
  return t;
}

/// Columns [first, first + columns) of a contiguous matrix.
hstu_tensor part_of(const hstu_tensor& matrix, int64_t first, int64_t columns) {
  hstu_tensor t = matrix;
  t.stride[0] = matrix.shape[1];
  t.stride[1] = 1;
  t.shape[1] = columns;
  if (t.data) t.data = static_cast<std::byte*>(t.data) + first * checks::element_bytes(t.dtype);
  return t;
}

/// Scratch of a stage, before anything but x is known to be right.
std::byte* take(Workspace& space, const hstu_tensor& x, int64_t columns) {
  return space.take(matrix_bytes(x.dtype, x.shape[0], columns));
}

/// x as the workspace needs it: its rows and dtype.
void check_rows(const char* name, const hstu_tensor& x) {
  const int dtype = checks::code(x.dtype);
  if (dtype < HSTU_DTYPE_F32 || dtype > HSTU_DTYPE_BF16)
    fail(HSTU_ERROR_UNSUPPORTED_DTYPE, "{}.dtype = {}: use f32, f16 or bf16", name, dtype);
  if (x.rank != 2) fail(HSTU_ERROR_INVALID_ARGUMENT, "{}.rank = {}: it must be 2", name, x.rank);
  if (x.shape[0] < 0 || x.shape[1] < 0)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "{}.shape = [{}, {}]: extents must not be negative", name, x.shape[0],
         x.shape[1]);
}

/// The weight of a projection of `like` under the caller's names.
void check_projection(const char* weight_name, hstu_tensor& weight, const checks::Tensor& like, int64_t k, int64_t n,
                      const char* k_what, const char* n_what) {
  const checks::Tensor w = checks::required_any_strides<2>(weight_name, weight);
  checks::same_dtype(w, like);
  checks::extent(w, 0, k, k_what);
  checks::extent(w, 1, n, n_what);
}

void check_vector(const char* name, hstu_tensor& t, int64_t length, const char* what) {
  checks::extent(checks::required<1>(name, t), 0, length, what);
}

void require_absent(const char* name, const hstu_tensor& t) {
  if (checks::given(name, t))
    fail(HSTU_ERROR_INVALID_ARGUMENT, "{} is there: the layer provides it; leave it absent", name);
}

// What messages call the extents of the projections' weights.
constexpr const char *kAllColumns = "2 * num_heads * (hidden_dim + attn_dim)", *kEmbedding = "embedding = x.shape[1]",
                     *kGatedColumns = "segments * attn.shape[1]", *kOutColumns = "embedding = out.shape[1]";

/// x, and the parameters of the norm and of the projection's bias.
void fill(hstu_layer_norm_args& norm, hstu_compute_uvqk_args& args, const Columns& c) {
  const int64_t embedding = checks::required<2>("x", args.x).t.shape[1];
  check_vector("norm_weight", args.norm_weight, embedding, kEmbedding);
  check_vector("norm_bias", args.norm_bias, embedding, kEmbedding);
  if (checks::given("uvqk_bias", args.uvqk_bias)) check_vector("uvqk_bias", args.uvqk_bias, c.all, kAllColumns);
  norm = sized<hstu_layer_norm_args>();
  norm.x = args.x;
  norm.weight = args.norm_weight;
  norm.bias = args.norm_bias;
  norm.eps = eps_or_default(args.eps);
}

/// All but the tensors that the projection goes to.
void fill(UvqkCalls& calls, hstu_compute_uvqk_args& args, const Columns& c, std::byte* normed) {
  fill(calls.norm, args, c);
  const int64_t embedding = args.x.shape[1];
  check_projection("uvqk_weight", args.uvqk_weight, {"x", args.x}, embedding, c.all, kEmbedding, kAllColumns);
  calls.norm.y = hstu_matrix(normed, args.x.dtype, args.x.shape[0], embedding);
  calls.project = sized<hstu_addmm_args>();
  calls.project.x = calls.norm.y;
  calls.project.w = args.uvqk_weight;
  calls.project.y = args.uvqk_bias;
  calls.project.activation = HSTU_ACTIVATION_SILU;
  calls.project.activation_columns = c.value;
}

bool share_memory(const hstu_tensor& a, const hstu_tensor& b) {
  const auto first = reinterpret_cast<uintptr_t>(a.data), second = reinterpret_cast<uintptr_t>(b.data);
  return first < second + static_cast<uintptr_t>(extent_bytes(b)) &&
         second < first + static_cast<uintptr_t>(extent_bytes(a));
}

/// The same of x, once it is known where the projection goes. The two calls may write it on x, which is read by then.
std::optional<hstu_norm_addmm_args> as_one_product(const UvqkCalls& calls) {
  const hstu_layer_norm_args& norm = calls.norm;
  const hstu_addmm_args& project = calls.project;
  if (!one_product_has(norm.x.dtype) || share_memory(norm.x, project.z)) return std::nullopt;
  auto product = sized<hstu_norm_addmm_args>();
  product.x = norm.x;
  product.norm_weight = norm.weight;
  product.norm_bias = norm.bias;
  product.eps = norm.eps;
  product.w = project.w;
  product.y = project.y;
  product.z = project.z;
  product.z1 = project.z1;
  product.activation = project.activation;
  product.activation_columns = project.activation_columns;
  return product;
}

/// v, q and k are columns of `projected` from `first` on.
void fill(hstu_attention_args& call, const hstu_attention_args& given, const hstu_tensor& projected, int64_t first,
          const hstu_layer_dims& dims, const Columns& c) {
  require_absent("attention.q", given.q);
  require_absent("attention.k", given.k);
  require_absent("attention.v", given.v);
  call = given;
  call.struct_size = sizeof call;
  call.v = heads_of(projected, first, dims.num_heads, dims.hidden_dim);
  call.q = heads_of(projected, first + c.value, dims.num_heads, dims.attn_dim);
  call.k = heads_of(projected, first + c.value + c.query, dims.num_heads, dims.attn_dim);
}

/// All but where the gate writes; the residual and out of the projection are checked here.
void fill(hstu_norm_mul_args& gate, hstu_compute_output_args& args) {
  const checks::Tensor attn = checks::required<2>("attn", args.attn), out = checks::required<2>("out", args.out);
  const int64_t rows = attn.t.shape[0];
  checks::same_dtype(out, attn);
  checks::extent(out, 0, rows, "attn.shape[0]");
  if (checks::given("x", args.x)) {
    const checks::Tensor x = checks::required<2>("x", args.x);
    checks::same_dtype(x, attn);
    checks::extent(x, 0, rows, "attn.shape[0]");
    checks::extent(x, 1, out.t.shape[1], kOutColumns);
  }
  gate = sized<hstu_norm_mul_args>();
  gate.attn = args.attn;
  gate.u = args.u;
  gate.weight = args.norm_weight;
  gate.bias = args.norm_bias;
  gate.eps = eps_or_default(args.options.eps);
  gate.activation = args.options.activation;
  gate.concat_u = args.options.concat_u;
  gate.concat_x = args.options.concat_x;
  gate.silu_u = args.options.silu_u;
  gate.num_groups = args.options.num_groups;
  gate.norm = args.options.norm;
  gate.dropout_stream = args.options.dropout_stream;
  gate.dropout_ratio = args.options.dropout_ratio;
  gate.seed = args.options.seed;
}

int64_t gated_columns(const hstu_compute_output_args& args) { return segments_of(args.options) * args.attn.shape[1]; }

void fill(OutputCalls& calls, hstu_compute_output_args& args, std::byte* gated) {
  fill(calls.gate, args);
  const int64_t inner = gated_columns(args);
  check_projection("output_weight", args.output_weight, {"attn", args.attn}, inner, args.out.shape[1], kGatedColumns,
                   kOutColumns);
  calls.gate.out = hstu_matrix(gated, args.attn.dtype, args.attn.shape[0], inner);
  calls.project = sized<hstu_addmm_args>();
  calls.project.x = calls.gate.out;
  calls.project.w = args.output_weight;
  calls.project.y = args.x;
  calls.project.z = args.out;
}

/// The same of attn and u, by statistics of attn's rows.
template <class Args>
Args gated_by(const hstu_norm_mul_args& gate, const hstu_tensor& moments) {
  auto product = sized<Args>();
  product.attn = gate.attn;
  product.u = gate.u;
  product.moments = moments;
  product.weight = gate.weight;
  product.bias = gate.bias;
  product.eps = gate.eps;
  return product;
}

hstu_gated_addmm_args as_one_product(const OutputCalls& calls, const hstu_tensor& moments) {
  auto product = gated_by<hstu_gated_addmm_args>(calls.gate, moments);
  product.w = calls.project.w;
  product.x = calls.project.y;
  product.out = calls.project.z;
  return product;
}

hstu_gated_fp8_gemm_args as_one_fp8_product(const OutputCalls& calls, const hstu_tensor& moments) {
  auto product = gated_by<hstu_gated_fp8_gemm_args>(calls.gate, moments);
  product.w = calls.product->b;
  product.w_descale = calls.product->b_descale;
  product.x = calls.product->bias;
  product.out = calls.product->out;
  return product;
}

// ---- Projections in FP8: the steps in front of them quantise what they write

/// Of what the products take, a scale a row. Scales of 128 columns are slower to multiply with and hardly closer: five
/// layers of DLRM-v3 are 4.73 % from those that quantise nothing, with them 4.64 %: E4M3's own rounding counts most.
constexpr hstu_fp8_scaling kScaling = HSTU_FP8_ROW;

/// The parameters of a product: a weight [n, k] in place of the layer's own, and a scale for each of the n.
struct ProductWeights {
  const char *name, *fp8_name, *descale_name;
  const hstu_tensor& replaced;
  hstu_tensor weight, descale;
};

hstu_fp8_gemm_args product_of(const Quantised& x, ProductWeights w, int64_t n, const char* n_what, const char* k_what,
                              hstu_fp8_accumulation accumulation) {
  if (checks::given(w.name, w.replaced))
    fail(HSTU_ERROR_INVALID_ARGUMENT, "{} is there: fp8_layers has the projections; leave it absent", w.name);
  const checks::Tensor weight = checks::required<2>(w.fp8_name, w.weight);
  fp8::is_fp8(weight);
  checks::extent(weight, 0, n, n_what);
  checks::extent(weight, 1, x.q.shape[1], k_what);
  fp8::check_descale(w.descale_name, w.descale, kScaling, n, x.q.shape[1]);
  auto product = sized<hstu_fp8_gemm_args>();
  product.a = x.q;
  product.a_descale = x.descale;
  product.b = w.weight;
  product.b_descale = w.descale;
  product.a_scaling = product.b_scaling = kScaling;
  product.accumulation = accumulation;
  return product;
}

/// As the fill() without products; `normed` is in FP8.
void fill(UvqkCalls& calls, hstu_compute_uvqk_args& args, const Columns& c, const Quantised& normed,
          const hstu_fp8_layer_weights& weights, hstu_fp8_accumulation accumulation) {
  fill(calls.norm, args, c);
  calls.norm.y = normed.q;
  calls.norm.descale = normed.descale;
  calls.norm.scaling = kScaling;
  calls.product = product_of(normed,
                             {"uvqk_weight", "fp8_layers.uvqk_weight", "fp8_layers.uvqk_descale", args.uvqk_weight,
                              weights.uvqk_weight, weights.uvqk_descale},
                             c.all, kAllColumns, kEmbedding, accumulation);
  calls.product->bias = args.uvqk_bias;
  calls.product->activation = HSTU_ACTIVATION_SILU;
  calls.product->activation_columns = c.value;
}

void fill(OutputCalls& calls, hstu_compute_output_args& args, const Quantised& gated,
          const hstu_fp8_layer_weights& weights, hstu_fp8_accumulation accumulation) {
  fill(calls.gate, args);
  calls.gate.out = gated.q;
  calls.gate.descale = gated.descale;
  calls.gate.scaling = kScaling;
  calls.product = product_of(gated,
                             {"output_weight", "fp8_layers.output_weight", "fp8_layers.output_descale",
                              args.output_weight, weights.output_weight, weights.output_descale},
                             args.out.shape[1], kOutColumns, kGatedColumns, accumulation);
  calls.product->bias = args.x;
  calls.product->out = args.out;
}

// ---- A layer of a stack

/// Whether u and attn are written where the output stage's rows want them: not where that quantises them.
bool in_place(const hstu_stack_args& args, const Columns& c) {
  const hstu_output_options& options = args.output;
  return !args.fp8_layers && output_written_in_place(options.concat_u != 0, options.concat_x != 0,
                                                     options.silu_u != 0 || options.dropout_ratio != 0, c.value);
}

/// Where a layer's intermediate results lie.
struct LayerSpace {
  std::byte *normed, *gated;
  Quantised fp8_normed, fp8_gated;  ///< in their place where projections are in FP8
  hstu_tensor u, attn;
  hstu_tensor projected;  ///< of the projection what is not u, or all of it, u first
  int64_t first_v;        ///< columns of it in front of v
  hstu_tensor moments;    ///< of attn's rows, if the output stage may be one product
};

/// Absent where the output stage is never one product. In FP8 there is room for them whatever sums are asked for.
hstu_tensor take_moments(const hstu_stack_args& args, Workspace& space) {
  if (!one_product_has(args.output, args.x.dtype)) return {};
  const int64_t rows = args.x.shape[0], heads = args.dims.num_heads;
  std::byte* const moments = space.take(matrix_bytes(HSTU_DTYPE_F32, rows, 2 * heads));
  const bool exact = args.fp8_layers && args.fp8_accumulation != HSTU_FP8_ACCUMULATE_FAST;
  return exact ? hstu_tensor{} : hstu_heads(moments, HSTU_DTYPE_F32, rows, heads, 2);
}

LayerSpace take_layer(const hstu_stack_args& args, const Columns& c, Workspace& space) {
  const int64_t rows = args.x.shape[0], width = segments_of(args.output) * c.value;
  const auto matrix = [&](std::byte* data, int64_t columns) { return hstu_matrix(data, args.x.dtype, rows, columns); };
  LayerSpace at{};
  if (in_place(args, c)) {
    at.normed = take(space, args.x, args.x.shape[1]);
    at.gated = take(space, args.x, width);
    at.u = part_of(matrix(at.gated, width), 0, c.value);
    at.attn = part_of(matrix(at.gated, width), c.value, c.value);
    at.first_v = 0;
    at.projected = matrix(take(space, args.x, c.all - c.value), c.all - c.value);
    at.moments = take_moments(args, space);
  } else {  // the normed input is dead when the gated output comes to life
    const int64_t widest = std::max(args.x.shape[1], width);
    if (args.fp8_layers) {
      const QuantisedSpace both = QuantisedSpace::take(space, rows, widest, kScaling);
      at.fp8_normed = both.matrix(rows, args.x.shape[1], kScaling);
      at.fp8_gated = both.matrix(rows, width, kScaling);
      at.moments = take_moments(args, space);
    } else {
      at.normed = at.gated = take(space, args.x, widest);
    }
    at.projected = matrix(take(space, args.x, c.all), c.all);
    at.first_v = c.value;
    at.u = part_of(at.projected, 0, c.value);
    at.attn = matrix(take(space, args.x, c.value), c.value);
  }
  return at;
}

}  // namespace

UvqkCalls calls_of(hstu_compute_uvqk_args& args, Workspace& space) {
  check_rows("x", args.x);
  const Columns c = columns_of(args.dims);
  std::byte* const normed = take(space, args.x, args.x.shape[1]);
  space.check();
  UvqkCalls calls;
  fill(calls, args, c, normed);
  const checks::Tensor uvqk = checks::required<2>("uvqk", args.uvqk);
  checks::extent(uvqk, 0, args.x.shape[0], "x.shape[0]");
  checks::extent(uvqk, 1, c.all, "2 * num_heads * (hidden_dim + attn_dim)");
  calls.project.z = args.uvqk;
  calls.both = as_one_product(calls);
  return calls;
}

AttentionCalls calls_of(hstu_preprocess_and_attention_args& args, Workspace& space) {
  AttentionCalls calls{calls_of(args.uvqk, space), {}};
  const Columns c = columns_of(args.uvqk.dims);
  fill(calls.attention, args.attention, args.uvqk.uvqk, c.value, args.uvqk.dims, c);
  return calls;
}

OutputCalls calls_of(hstu_compute_output_args& args, Workspace& space) {
  check_rows("attn", args.attn);
  std::byte* const gated = take(space, args.attn, segments_of(args.options) * args.attn.shape[1]);
  space.check();
  OutputCalls calls;
  fill(calls, args, gated);
  return calls;
}

LayerCalls calls_of(hstu_stack_args& args, int64_t index, Workspace& space) {
  check_rows("x", args.x);
  const Columns c = columns_of(args.dims);
  const LayerSpace at = take_layer(args, c, space);
  space.check();
  require_absent("attention.out", args.attention.out);
  require_absent("attention.moments", args.attention.moments);
  const hstu_layer_weights& weights = args.layers[index];
  const hstu_tensor& input = index == 0 ? args.x : args.out;

  hstu_compute_uvqk_args uvqk{};
  uvqk.x = input;
  uvqk.norm_weight = weights.norm_weight;
  uvqk.norm_bias = weights.norm_bias;
  uvqk.uvqk_weight = weights.uvqk_weight;
  uvqk.uvqk_bias = weights.uvqk_bias;
  uvqk.eps = args.eps;
  const bool placed = in_place(args, c);
  LayerCalls calls;
  if (args.fp8_layers) {
    fill(calls.attention.uvqk, uvqk, c, at.fp8_normed, args.fp8_layers[index], args.fp8_accumulation);
    calls.attention.uvqk.product->out = at.projected;
  } else {
    fill(calls.attention.uvqk, uvqk, c, at.normed);
    calls.attention.uvqk.project.z = placed ? at.u : at.projected;
    if (placed) calls.attention.uvqk.project.z1 = at.projected;
    calls.attention.uvqk.both = as_one_product(calls.attention.uvqk);
  }
  if (index == 0) {
    hstu_attention_args& attention = calls.attention.attention;
    fill(attention, args.attention, at.projected, at.first_v, args.dims, c);
    attention.out = heads_of(at.attn, 0, args.dims.num_heads, args.dims.hidden_dim);
    attention.moments = at.moments;
  }

  hstu_compute_output_args output{};
  output.attn = at.attn;
  output.u = at.u;
  output.x = input;
  output.norm_weight = weights.output_norm_weight;
  output.norm_bias = weights.output_norm_bias;
  output.output_weight = weights.output_weight;
  output.out = args.out;
  output.options = args.output;
  // Wraps around where seed + index leaves 64 bits.
  output.options.seed = static_cast<int64_t>(static_cast<uint64_t>(args.output.seed) + static_cast<uint64_t>(index));
  if (args.fp8_layers)
    fill(calls.output, output, at.fp8_gated, args.fp8_layers[index], args.fp8_accumulation);
  else
    fill(calls.output, output, at.gated);
  if (placed) {
    calls.output.gate.concat_u = calls.output.gate.concat_x = 0;
    calls.output.gate.out = part_of(calls.output.project.x, 2 * c.value, c.value);
  }
  if (args.fp8_layers)
    calls.gated_fp8 = as_one_fp8_product(calls.output, at.moments);
  else
    calls.gated = as_one_product(calls.output, at.moments);
  return calls;
}

void measure(const hstu_compute_uvqk_args& args, Workspace& space) {
  check_rows("x", args.x);
  columns_of(args.dims);
  take(space, args.x, args.x.shape[1]);
}

void measure(const hstu_preprocess_and_attention_args& args, Workspace& space) { measure(args.uvqk, space); }

void measure(const hstu_compute_output_args& args, Workspace& space) {
  check_rows("attn", args.attn);
  take(space, args.attn, segments_of(args.options) * args.attn.shape[1]);
}

void measure(const hstu_stack_args& args, Workspace& space) {
  check_rows("x", args.x);
  take_layer(args, columns_of(args.dims), space);
}

}  // namespace hstujit::layer
