// Golden cases of whole layer stages.
#include "verify/golden_cases.hpp"

namespace hstujit::verify {
namespace {

void compute_output(GoldenCall& call) {
  const hstu_norm_mul_args stage = golden_norm_mul_args(call, "attn", "norm_", "norm_eps");
  hstu_compute_output_args args{};
  args.attn = stage.attn;
  args.u = stage.u;
  args.residual = call.input("x");
  args.norm_weight = stage.weight;
  args.norm_bias = stage.bias;
  args.output_weight = call.input("output_weight");
  args.out = call.output({args.attn.shape[0], args.output_weight.shape[1]});
  args.options = {.eps = stage.eps,
                  .activation = stage.activation,
                  .concat_u = stage.concat_u,
                  .concat_x = stage.concat_x,
                  .silu_u = stage.silu_u,
                  .norm = stage.norm,
                  .dropout_stream = stage.dropout_stream,
                  .dropout_ratio = stage.dropout_ratio,
                  .num_groups = stage.num_groups,
                  .seed = stage.seed};
  call.run_chain(args);
  call.compare("out", args.out);
}

hstu_compute_uvqk_args uvqk_args(GoldenCall& call) {
  hstu_compute_uvqk_args args{};
  args.x = call.input("x");
  args.norm_weight = call.input("norm_weight");
  args.norm_bias = call.input("norm_bias");
  args.uvqk_weight = call.input("uvqk_weight");
  args.uvqk_bias = call.input("uvqk_bias");
  args.dims = {call.integer("num_heads"), call.integer("attn_dim"), call.integer("hidden_dim")};
  args.uvqk = call.output({args.x.shape[0], hstu_uvqk_columns(args.dims)});
  args.eps = call.number("norm_eps");
  return args;
}

void compute_uvqk(GoldenCall& call) {
  const hstu_compute_uvqk_args args = uvqk_args(call);
  call.run_chain(args);
  const int64_t heads = args.dims.num_heads;
  const int64_t value = heads * args.dims.hidden_dim, query = heads * args.dims.attn_dim;
  call.compare("u", columns_of(args.uvqk, 0, value));
  call.compare("v", as_heads(columns_of(args.uvqk, value, value), heads));
  call.compare("q", as_heads(columns_of(args.uvqk, 2 * value, query), heads));
  call.compare("k", as_heads(columns_of(args.uvqk, 2 * value + query, query), heads));
}

void preprocess_and_attention(GoldenCall& call) {
  hstu_preprocess_and_attention_args args{};
  args.uvqk = uvqk_args(call);
  args.attention = golden_attention_args(call, "attn_alpha");
  const hstu_layer_dims& dims = args.uvqk.dims;
  args.attention.out = call.output({args.uvqk.x.shape[0], dims.num_heads, dims.hidden_dim});
  call.run_chain(args);
  call.compare("u", columns_of(args.uvqk.uvqk, 0, dims.num_heads * dims.hidden_dim));
  call.compare("attn", as_matrix(args.attention.out));
}

constexpr GoldenCase kCases[] = {{"hstu_compute_output", compute_output},
                                 {"hstu_compute_uqvk", compute_uvqk},
                                 {"hstu_preprocess_and_attention", preprocess_and_attention}};

}  // namespace

std::span<const GoldenCase> layer_cases() { return kCases; }

}  // namespace hstujit::verify
