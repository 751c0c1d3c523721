// Golden cases of attention.
#include "verify/golden_cases.hpp"

namespace hstujit::verify {
namespace {

void attention(GoldenCall& call) {
  hstu_attention_args args = golden_attention_args(call, "alpha");
  args.mask = call.integer("causal") != 0 ? HSTU_MASK_CAUSAL : HSTU_MASK_FULL;
  args.min_full_attn_seq_len = call.integer("min_full_attn_seq_len");
  args.q = call.input("q");
  args.k = call.input("k");
  args.v = call.input("v");
  args.out = call.output({args.v.shape[0], args.v.shape[1], args.v.shape[2]});
  call.run(args);
  call.compare("out", args.out);
}

void delta_attention(GoldenCall& call) {
  hstu_delta_attention_args args{};
  args.q = call.input("delta_q");
  args.k = call.input("k");
  args.v = call.input("v");
  args.out = call.output({args.q.shape[0], args.q.shape[1], args.v.shape[2]});
  args.seq_offsets = call.input("seq_offsets");
  args.num_targets = call.input("num_targets");
  args.alpha = call.number("alpha");
  args.max_seq_len = call.integer("max_seq_len");
  args.contextual_seq_len = call.integer("contextual_seq_len");
  args.max_attn_len = call.integer("max_attn_len");
  call.run(args);
  call.compare("out", args.out);
}

constexpr GoldenCase kCases[] = {{"hstu_attention", attention}, {"delta_hstu_attention", delta_attention}};

}  // namespace

hstu_attention_args golden_attention_args(GoldenCall& call, std::string_view alpha) {
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

std::span<const GoldenCase> attention_cases() { return kCases; }

}  // namespace hstujit::verify
