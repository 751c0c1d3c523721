// The first stage: layer norm and UVQK projection, fused where the device is faster so.
#include "chain/engine.hpp"
#include "chain/stage_parts.hpp"

namespace hstujit::chain {

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
  calls.project.out = args.uvqk;
  calls.fused = as_fused(calls);
  return calls;
}

void add(Steps& steps, UvqkCalls& calls, const Fusing& fusing) {
  const auto taken = [&](const Problem& product) { return fusing.uvqk(product); };
  if (calls.fused && steps.add_if("layer norm and UVQK projection", *calls.fused, taken)) return;
  steps.add("layer norm", calls.norm);
  add_projection(steps, "UVQK projection", calls);
}

void measure(const hstu_compute_uvqk_args& args, Workspace& space) {
  check_rows("x", args.x);
  columns_of(args.dims);
  take(space, args.x, args.x.shape[1]);
}

using Uvqk = OnePart<hstu_compute_uvqk_args, UvqkCalls, 2>;
HSTUJIT_ON_ENGINE(Uvqk)

}  // namespace hstujit::chain
