// Golden cases of attention.
#include "operators/operators.hpp"
#include "verify/golden_cases.hpp"

#include <utility>

namespace hstujit::verify {
namespace {

void gradients(GoldenCall& call, const hstu_attention_args& forward) {
  auto args = sized<hstu_attention_backward_args>();
  args.forward = forward;
  args.dout = call.input("dout");
  for (const auto& [gradient, of] : {std::pair{&args.dq, &forward.q}, {&args.dk, &forward.k}, {&args.dv, &forward.v}})
    *gradient = call.output({of->shape[0], of->shape[1], of->shape[2]});
  call.run(args);
  call.compare("d_q", args.dq);
  call.compare("d_k", args.dk);
  call.compare("d_v", args.dv);
}

void attention(GoldenCall& call) {
  hstu_attention_args args = golden_attention_args(call, "alpha");
  args.mask.kind = call.integer("causal") != 0 ? HSTU_MASK_CAUSAL : HSTU_MASK_FULL;
  args.mask.min_full_attn_seq_len = call.integer("min_full_attn_seq_len");
  args.q = call.input("q");
  args.k = call.input("k");
  args.v = call.input("v");
  args.out = call.output({args.v.shape[0], args.v.shape[1], args.v.shape[2]});
  call.run(args);
  call.compare("out", args.out);
  if (call.has("dout")) gradients(call, args);
}

void delta_attention(GoldenCall& call) {
  hstu_delta_attention_args args{};
  args.q = call.input("delta_q");
  args.k = call.input("k");
  args.v = call.input("v");
  args.out = call.output({args.q.shape[0], args.q.shape[1], args.v.shape[2]});
  args.seq_offsets = call.input("seq_offsets");
  args.mask.num_targets = call.input("num_targets");
  args.alpha = call.number("alpha");
  args.max_seq_len = call.integer("max_seq_len");
  args.mask.contextual_seq_len = call.integer("contextual_seq_len");
  args.mask.max_attn_len = call.integer("max_attn_len");
  call.run(args);
  call.compare("out", args.out);
}

constexpr GoldenCase kCases[] = {{"hstu_attention", attention}, {"delta_hstu_attention", delta_attention}};

}  // namespace

hstu_attention_args golden_attention_args(GoldenCall& call, std::string_view alpha) {
  hstu_attention_args args{};
  args.seq_offsets = call.input("seq_offsets");
  args.mask.num_targets = call.input("num_targets");
  args.attn_scale = call.input("attn_scale");
  args.alpha = call.number(alpha);
  args.max_seq_len = call.integer("max_seq_len");
  args.mask.contextual_seq_len = call.integer("contextual_seq_len");
  args.mask.max_attn_len = call.integer("max_attn_len");
  return args;
}

std::span<const GoldenCase> attention_cases() { return kCases; }

}  // namespace hstujit::verify
