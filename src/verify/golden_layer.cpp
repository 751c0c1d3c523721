// Golden cases of whole layer stages.
#include "verify/golden_cases.hpp"

namespace hstujit::verify {
namespace {

/// Norm, multiply and concatenate; then the projection with the residual.
void compute_output(GoldenCall& call) {
  const hstu_norm_mul_args stage = golden_norm_mul_args(call, "attn", "norm_", "norm_eps");
  call.run(stage);
  hstu_addmm_args args{};
  args.x = stage.out;
  args.w = call.input("output_weight");
  args.y = call.input("x");
  args.z = call.output({args.x.shape[0], args.w.shape[1]});
  call.run(args);
  call.compare("out", args.z);
}

/// Layer norm, then one projection whose columns are u (through SiLU), v, q and k.
struct Uvqk {
  hstu_tensor u, v, q, k;
};

Uvqk uvqk(GoldenCall& call) {
  hstu_layer_norm_args norm{};
  norm.x = call.input("x");
  norm.weight = call.input("norm_weight");
  norm.bias = call.input("norm_bias");
  norm.y = call.output({norm.x.shape[0], norm.x.shape[1]});
  norm.eps = call.number("norm_eps");
  call.run(norm);
  const int64_t heads = call.integer("num_heads");
  const int64_t linear = heads * call.integer("hidden_dim"), attn = heads * call.integer("attn_dim");
  hstu_addmm_args args{};
  args.x = norm.y;
  args.w = call.input("uvqk_weight");
  args.y = call.input("uvqk_bias");
  args.z = call.output({args.x.shape[0], args.w.shape[1]});
  args.activation = HSTU_ACTIVATION_SILU;
  args.activation_columns = linear;
  call.run(args);
  return {columns_of(args.z, 0, linear), as_heads(columns_of(args.z, linear, linear), heads),
          as_heads(columns_of(args.z, 2 * linear, attn), heads),
          as_heads(columns_of(args.z, 2 * linear + attn, attn), heads)};
}

void compute_uqvk(GoldenCall& call) {
  const Uvqk all = uvqk(call);
  call.compare("u", all.u);
  call.compare("v", all.v);
  call.compare("q", all.q);
  call.compare("k", all.k);
}

/// The same, then attention on the columns where they lie.
void preprocess_and_attention(GoldenCall& call) {
  const Uvqk all = uvqk(call);
  hstu_attention_args args = golden_attention_args(call, "attn_alpha");
  args.q = all.q;
  args.k = all.k;
  args.v = all.v;
  args.out = call.output({args.v.shape[0], args.v.shape[1], args.v.shape[2]});
  call.run(args);
  call.compare("u", all.u);
  call.compare("attn", as_matrix(args.out));
}

constexpr GoldenCase kCases[] = {{"hstu_compute_output", compute_output},
                                 {"hstu_compute_uqvk", compute_uqvk},
                                 {"hstu_preprocess_and_attention", preprocess_and_attention}};

}  // namespace

std::span<const GoldenCase> layer_cases() { return kCases; }

}  // namespace hstujit::verify
