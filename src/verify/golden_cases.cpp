// How each kind of golden case becomes calls of this library's operators; upstream's fused operators become chains.
#include "support/error.hpp"
#include "verify/golden_call.hpp"

#include <fmt/format.h>

namespace hstujit::verify {
namespace {

using Run = void (*)(GoldenCall&);

hstu_activation activation_of(const std::string& word) {
  if (word == "none") return HSTU_ACTIVATION_NONE;
  if (word == "silu") return HSTU_ACTIVATION_SILU;
  if (word == "sigmoid") return HSTU_ACTIVATION_SIGMOID;
  fail(HSTU_ERROR_INVALID_ARGUMENT, "mul_u_activation_type = \"{}\": it must be none, silu or sigmoid", word);
}

void refuse_dropout(const GoldenCall& call) {
  if (call.integer("training") != 0 && call.number("dropout_ratio") != 0)
    throw Skip{"dropout: this library has inference only"};
}

void norm(GoldenCall& call) {
  if (call.text("kind") != "layer") throw Skip{fmt::format("norm kind {}: no such operator", call.text("kind"))};
  hstu_layer_norm_args args{};
  args.x = call.input("x");
  args.weight = call.input("weight");
  args.bias = call.input("bias");
  args.y = call.output({args.x.shape[0], args.x.shape[1]});
  args.eps = call.number("eps");
  call.run(args);
  call.compare("out", args.y);
}

void addmm(GoldenCall& call) {
  hstu_addmm_args args{};
  args.x = call.input("mat1");
  args.w = call.input("mat2");
  args.y = call.input("input");
  args.z = call.output({args.x.shape[0], args.w.shape[1]});
  call.run(args);
  call.compare("out", args.z);
}

/// Attributes and integer tensors; q, k, v and out are the caller's business.
hstu_attention_args attention_args(GoldenCall& call, std::string_view alpha) {
  hstu_attention_args args{};
  args.seq_offsets = call.input("seq_offsets");
  args.num_targets = call.input("num_targets");
  args.attn_scale = call.input("attn_scale");
  args.alpha = call.number(alpha);
  args.max_seq_len = call.integer("max_seq_len");
  args.contextual_seq_len = call.integer("contextual_seq_len");
  args.max_attn_len = call.integer("max_attn_len");
  return args;
}

void attention(GoldenCall& call) {
  hstu_attention_args args = attention_args(call, "alpha");
  args.mask = call.integer("causal") != 0 ? HSTU_MASK_CAUSAL : HSTU_MASK_FULL;
  args.min_full_attn_seq_len = call.integer("min_full_attn_seq_len");
  args.q = call.input("q");
  args.k = call.input("k");
  args.v = call.input("v");
  args.out = call.output({args.v.shape[0], args.v.shape[1], args.v.shape[2]});
  call.run(args);
  call.compare("out", args.out);
}

/// attn, weights and flags from the metadata; out by the flags.
hstu_norm_mul_args norm_mul_args(GoldenCall& call, std::string_view attn, std::string_view weights,
                                 std::string_view eps) {
  refuse_dropout(call);
  hstu_norm_mul_args args{};
  args.attn = call.input(attn);
  args.u = call.input("u");
  args.weight = call.input(fmt::format("{}weight", weights));
  args.bias = call.input(fmt::format("{}bias", weights));
  args.eps = call.number(eps);
  args.activation = activation_of(call.text("mul_u_activation_type"));
  args.concat_u = static_cast<int32_t>(call.integer("concat_u"));
  args.concat_x = static_cast<int32_t>(call.integer("concat_x"));
  args.silu_u = static_cast<int32_t>(call.integer("silu_u"));
  if (call.integer("group_norm") != 0) args.num_groups = static_cast<int32_t>(call.integer("num_heads"));
  const bool one = args.num_groups > 0 && !(args.concat_u && args.concat_x);
  const int64_t segments = one ? 1 : 1 + args.concat_u + args.concat_x;
  args.out = call.output({args.attn.shape[0], segments * args.attn.shape[1]});
  return args;
}

void norm_mul(GoldenCall& call) {
  const hstu_norm_mul_args args = norm_mul_args(call, "x", "", "eps");
  call.run(args);
  call.compare("out", args.out);
}

/// Norm, multiply and concatenate; then the projection with the residual.
void compute_output(GoldenCall& call) {
  const hstu_norm_mul_args stage = norm_mul_args(call, "attn", "norm_", "norm_eps");
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
  hstu_attention_args args = attention_args(call, "attn_alpha");
  args.q = all.q;
  args.k = all.k;
  args.v = all.v;
  args.out = call.output({args.v.shape[0], args.v.shape[1], args.v.shape[2]});
  call.run(args);
  call.compare("u", all.u);
  call.compare("attn", as_matrix(args.out));
}

struct Entry {
  std::string_view op;
  Run run;
};
constexpr Entry kEntries[] = {{"norm", norm},
                              {"addmm", addmm},
                              {"hstu_attention", attention},
                              {"norm_mul_dropout", norm_mul},
                              {"hstu_compute_output", compute_output},
                              {"hstu_compute_uqvk", compute_uqvk},
                              {"hstu_preprocess_and_attention", preprocess_and_attention}};

}  // namespace

void run_case(const Safetensors& file, GoldenCall& call) {
  for (const Entry& entry : kEntries)
    if (entry.op == file.text("op")) return entry.run(call);
  throw Skip{fmt::format("{}: no such operator", file.text("op"))};
}

}  // namespace hstujit::verify
