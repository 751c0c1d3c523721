// Golden cases of normalisations and of the output stage before its projection.
#include "support/error.hpp"
#include "verify/golden_cases.hpp"

#include <fmt/format.h>

namespace hstujit::verify {
namespace {

hstu_activation activation_of(const std::string& word) {
  if (word == "none") return HSTU_ACTIVATION_NONE;
  if (word == "silu") return HSTU_ACTIVATION_SILU;
  if (word == "sigmoid") return HSTU_ACTIVATION_SIGMOID;
  fail(HSTU_ERROR_INVALID_ARGUMENT, "mul_u_activation_type = \"{}\": it must be none, silu or sigmoid", word);
}

/// The expectations were made without dropout: the cases say so, and hold no random bits.
void refuse_dropout(const GoldenCall& call) {
  if (call.integer("training") != 0 && call.number("dropout_ratio") != 0)
    throw Skip{"dropout: the case does not say which random bits it used"};
}

/// x, y, eps; and weight and bias where the args have them.
template <class Args>
Args norm_args(GoldenCall& call) {
  Args args{};
  args.x = call.input("x");
  args.weight = call.input("weight");
  if constexpr (requires { args.bias; }) args.bias = call.input("bias");
  args.out = call.output({args.x.shape[0], args.x.shape[1]});
  args.eps = call.number("eps");
  return args;
}

template <class Args>
void run_norm(GoldenCall& call, const Args& args) {
  call.run(args);
  call.compare("out", args.out);
}

/// And its gradients, where the case has any.
void layer_norm(GoldenCall& call) {
  const auto forward = norm_args<hstu_layer_norm_args>(call);
  run_norm(call, forward);
  if (!call.has("dout")) return;
  auto args = sized<hstu_layer_norm_backward_args>();
  args.forward = forward;
  args.dout = call.input("dout");
  args.dx = call.output({forward.x.shape[0], forward.x.shape[1]});
  for (hstu_tensor* gradient : {&args.dweight, &args.dbias})
    *gradient = call.output({forward.x.shape[1]}, static_cast<hstu_dtype>(forward.weight.dtype));
  args.workspace_size = operator_of(Op::layer_norm_backward).workspace->bytes(&args);
  args.workspace = call.workspace_of(args.workspace_size);
  call.run(args);
  call.compare("d_x", args.dx);
  call.compare("d_weight", args.dweight);
  call.compare("d_bias", args.dbias);
}

void norm(GoldenCall& call) {
  const std::string& kind = call.text("kind");
  if (kind == "layer") return layer_norm(call);
  if (kind == "swish") return run_norm(call, norm_args<hstu_swish_layer_norm_args>(call));
  if (kind != "rms" && kind != "rms_silu")
    fail(HSTU_ERROR_INVALID_ARGUMENT, "kind = \"{}\": it must be layer, swish, rms or rms_silu", kind);
  auto args = norm_args<hstu_rms_norm_args>(call);
  args.activation = kind == "rms_silu" ? HSTU_ACTIVATION_SILU : HSTU_ACTIVATION_NONE;
  run_norm(call, args);
}

void norm_mul(GoldenCall& call) {
  const hstu_norm_mul_args args = golden_norm_mul_args(call, "x", "", "eps");
  call.run(args);
  call.compare("out", args.out);
}

constexpr GoldenCase kCases[] = {{"norm", norm}, {"norm_mul_dropout", norm_mul}};

}  // namespace

hstu_norm_mul_args golden_norm_mul_args(GoldenCall& call, std::string_view attn, std::string_view weights,
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

std::span<const GoldenCase> norm_cases() { return kCases; }

}  // namespace hstujit::verify
