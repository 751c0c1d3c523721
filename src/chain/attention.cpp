// The first stage and attention on what it projects.
#include "chain/engine.hpp"
#include "chain/stage_parts.hpp"

namespace hstujit::chain {

AttentionCalls calls_of(hstu_preprocess_and_attention_args& args, Workspace& space) {
  checks::embedded_size("uvqk.struct_size", args.uvqk.struct_size, sizeof args.uvqk);
  checks::embedded_size("attention.struct_size", args.attention.struct_size, sizeof args.attention);
  AttentionCalls calls{calls_of(args.uvqk, space), {}};
  const Columns c = columns_of(args.uvqk.dims);
  fill(calls.attention, args.attention, args.uvqk.uvqk, c.value, args.uvqk.dims, c);
  return calls;
}

void add(Steps& steps, AttentionCalls& calls, const Fusing& fusing) {
  add(steps, calls.uvqk, fusing);
  steps.add("attention", calls.attention);
}

void measure(const hstu_preprocess_and_attention_args& args, Workspace& space) { measure(args.uvqk, space); }

using Attention = OnePart<hstu_preprocess_and_attention_args, AttentionCalls, 3>;
HSTUJIT_ON_ENGINE(Attention)

}  // namespace hstujit::chain
