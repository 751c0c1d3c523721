#include "chain/stages.hpp"

#include "chain/stage_parts.hpp"

namespace hstujit::layer {

UvqkCalls calls_of(hstu_compute_uvqk_args& args, Workspace& space) {
  check_rows("x", args.x);
  const Columns c = columns_of(args.dims);
  std::byte* const normed = take(space, args.x, args.x.shape[1]);
  space.check();
  UvqkCalls calls;
  fill(calls, args, c, normed);
  const checks::Tensor uvqk = checks::required<2>("uvqk", args.uvqk);
  checks::extent(uvqk, 0, args.x.shape[0], "x.shape[0]");
  checks::extent(uvqk, 1, c.all, kAllColumns);
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
  std::byte* const gated = take(space, args.attn, gated_columns(args));
  space.check();
  OutputCalls calls;
  fill(calls, args, gated);
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
  take(space, args.attn, gated_columns(args));
}

}  // namespace hstujit::layer
