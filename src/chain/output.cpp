// The output stage: norm, gate and output projection.
#include "chain/engine.hpp"
#include "chain/stage_parts.hpp"

namespace hstujit::chain {

OutputCalls calls_of(hstu_compute_output_args& args, Workspace& space) {
  check_rows("attn", args.attn);
  std::byte* const gated = take(space, args.attn, gated_columns(args));
  space.check();
  OutputCalls calls;
  fill(calls, args, gated);
  return calls;
}

void add(Steps& steps, OutputCalls& calls, const Fusing&) {
  steps.add("norm * u", calls.gate);
  add_projection(steps, "output projection", calls);
}

void measure(const hstu_compute_output_args& args, Workspace& space) {
  check_rows("attn", args.attn);
  take(space, args.attn, gated_columns(args));
}

using Output = OnePart<hstu_compute_output_args, OutputCalls, 2>;
HSTUJIT_ON_ENGINE(Output)

}  // namespace hstujit::chain
