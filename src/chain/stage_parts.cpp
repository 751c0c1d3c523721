#include "chain/stage_parts.hpp"

#include "chain/fused.hpp"
#include "chain/output_rows.hpp"
#include "support/error.hpp"

namespace hstujit::chain {
namespace {

constexpr float kLayerEps = 1e-6f;  ///< what upstream's layers are built with

float eps_or_default(float eps) { return checks::given_or(eps, kLayerEps); }

/// The weight of a projection of `like` under the caller's names.
void check_projection(const char* weight_name, hstu_tensor& weight, const checks::Tensor& like, int64_t k, int64_t n,
                      const char* k_what, const char* n_what) {
  const checks::Tensor w = checks::required_any_strides<2>(weight_name, weight);
  checks::same_dtype(w, like);
  checks::extent(w, 0, k, k_what);
  checks::extent(w, 1, n, n_what);
}

/// As the operator counts groups.
int32_t group_count(int64_t num_groups) {
  if (num_groups < 0 || num_groups > INT32_MAX)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "num_groups = {}: it must lie in 0 to 2^31 - 1", num_groups);
  return static_cast<int32_t>(num_groups);
}

void check_input_norm(const hstu_norm& input_norm) {
  const int norm = checks::code(input_norm);
  if (norm == HSTU_NORM_LAYER) return;
  if (norm == HSTU_NORM_RMS)
    fail(HSTU_ERROR_UNSUPPORTED, "input_norm = RMS (1): layers begin with a layer norm as yet; use LAYER (0)");
  fail(HSTU_ERROR_INVALID_ARGUMENT, "input_norm = {}: use LAYER (0)", norm);
}

bool share_memory(const hstu_tensor& a, const hstu_tensor& b) {
  const auto first = reinterpret_cast<uintptr_t>(a.data), second = reinterpret_cast<uintptr_t>(b.data);
  return first < second + static_cast<uintptr_t>(extent_bytes(b)) &&
         second < first + static_cast<uintptr_t>(extent_bytes(a));
}

}  // namespace

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

int64_t gated_columns(const hstu_compute_output_args& args) {
  int64_t columns = 0;
  if (__builtin_mul_overflow(segments_of(args.options), args.attn.shape[1], &columns))
    fail(HSTU_ERROR_INVALID_ARGUMENT, "attn.shape[1] = {}: its segments overflow 64 bits", args.attn.shape[1]);
  return columns;
}

hstu_tensor heads_of(const hstu_tensor& matrix, int64_t first, int64_t heads, int64_t dim) {
  hstu_tensor t = hstu_heads(matrix.data, matrix.dtype, matrix.shape[0], heads, dim);
  t.stride[0] = matrix.stride[0];
  if (t.data) t.data = static_cast<std::byte*>(t.data) + first * checks::element_bytes(t.dtype);
  return t;
}

std::byte* take(Workspace& space, const hstu_tensor& x, int64_t columns) {
  return space.take(matrix_bytes(x.dtype, x.shape[0], columns));
}

void check_rows(const char* name, const hstu_tensor& x) {
  const int dtype = checks::code(x.dtype);
  if (dtype < HSTU_DTYPE_F32 || dtype > HSTU_DTYPE_BF16)
    fail(HSTU_ERROR_UNSUPPORTED_DTYPE, "{}.dtype = {}: use f32, f16 or bf16", name, dtype);
  if (x.rank != 2) fail(HSTU_ERROR_INVALID_ARGUMENT, "{}.rank = {}: it must be 2", name, x.rank);
  if (x.shape[0] < 0 || x.shape[1] < 0)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "{}.shape = [{}, {}]: extents must not be negative", name, x.shape[0],
         x.shape[1]);
}

void check_vector(const char* name, hstu_tensor& t, int64_t length, const char* what) {
  checks::extent(checks::required<1>(name, t), 0, length, what);
}

void require_absent(const char* name, hstu_tensor t) {
  if (checks::given(name, t))
    fail(HSTU_ERROR_INVALID_ARGUMENT, "{} is there: the layer provides it; leave it absent", name);
}

void fill(hstu_layer_norm_args& norm, hstu_compute_uvqk_args& args, const Columns& c) {
  const int64_t embedding = checks::required<2>("x", args.x).t.shape[1];
  check_input_norm(args.input_norm);
  check_vector("norm_weight", args.norm_weight, embedding, kEmbedding);
  check_vector("norm_bias", args.norm_bias, embedding, kEmbedding);
  if (checks::given("uvqk_bias", args.uvqk_bias)) check_vector("uvqk_bias", args.uvqk_bias, c.all, kAllColumns);
  norm = sized<hstu_layer_norm_args>();
  norm.x = args.x;
  norm.weight = args.norm_weight;
  norm.bias = args.norm_bias;
  norm.eps = eps_or_default(args.eps);
}

void fill(UvqkCalls& calls, hstu_compute_uvqk_args& args, const Columns& c, std::byte* normed) {
  fill(calls.norm, args, c);
  const int64_t embedding = args.x.shape[1];
  check_projection("uvqk_weight", args.uvqk_weight, {"x", args.x}, embedding, c.all, kEmbedding, kAllColumns);
  calls.norm.out = hstu_matrix(normed, args.x.dtype, args.x.shape[0], embedding);
  calls.project = sized<hstu_addmm_args>();
  calls.project.x = calls.norm.out;
  calls.project.w = args.uvqk_weight;
  calls.project.bias = args.uvqk_bias;
  calls.project.activation = HSTU_ACTIVATION_SILU;
  calls.project.activation_columns = c.value;
}

std::optional<hstu_norm_addmm_args> as_fused(const UvqkCalls& calls) {
  const hstu_layer_norm_args& norm = calls.norm;
  const hstu_addmm_args& project = calls.project;
  if (!fused_has(norm.x.dtype) || share_memory(norm.x, project.out)) return std::nullopt;
  auto product = sized<hstu_norm_addmm_args>();
  product.x = norm.x;
  product.norm_weight = norm.weight;
  product.norm_bias = norm.bias;
  product.eps = norm.eps;
  product.w = project.w;
  product.bias = project.bias;
  product.out = project.out;
  product.out1 = project.out1;
  product.activation = project.activation;
  product.activation_columns = project.activation_columns;
  return product;
}

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

void fill(hstu_norm_mul_args& gate, hstu_compute_output_args& args) {
  const checks::Tensor attn = checks::required<2>("attn", args.attn), out = checks::required<2>("out", args.out);
  const int64_t rows = attn.t.shape[0];
  checks::same_dtype(out, attn);
  checks::extent(out, 0, rows, "attn.shape[0]");
  if (checks::given("residual", args.residual)) {
    const checks::Tensor residual = checks::required<2>("residual", args.residual);
    checks::same_dtype(residual, attn);
    checks::extent(residual, 0, rows, "attn.shape[0]");
    checks::extent(residual, 1, out.t.shape[1], kOutColumns);
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
  gate.num_groups = group_count(args.options.num_groups);
  gate.norm = args.options.norm;
  gate.dropout_stream = args.options.dropout_stream;
  gate.dropout_ratio = args.options.dropout_ratio;
  gate.seed = args.options.seed;
}

void fill(OutputCalls& calls, hstu_compute_output_args& args, std::byte* gated) {
  fill(calls.gate, args);
  const int64_t inner = gated_columns(args);
  check_projection("output_weight", args.output_weight, {"attn", args.attn}, inner, args.out.shape[1], kGatedColumns,
                   kOutColumns);
  calls.gate.out = hstu_matrix(gated, args.attn.dtype, args.attn.shape[0], inner);
  calls.project = sized<hstu_addmm_args>();
  calls.project.x = calls.gate.out;
  calls.project.w = args.output_weight;
  calls.project.residual = args.residual;
  calls.project.out = args.out;
}

}  // namespace hstujit::chain
