// Golden cases of dense products.
#include "verify/golden_cases.hpp"

#include <utility>

namespace hstujit::verify {
namespace {

/// The same memory with rows and columns exchanged.
hstu_tensor transposed(hstu_tensor t) {
  std::swap(t.shape[0], t.shape[1]);
  t.stride[0] = 1;
  t.stride[1] = t.shape[0];
  return t;
}

/// The gradients of a product, where the case has any: of mat1 by a product, of mat2 and a bias by addmm_wgrad. A
/// residual's is dout itself.
void addmm_gradients(GoldenCall& call, const hstu_addmm_args& forward) {
  if (!call.has("dout")) return;
  hstu_addmm_args dx{};
  dx.x = call.input("dout");
  dx.w = transposed(forward.w);
  dx.out = call.output({forward.x.shape[0], forward.x.shape[1]});
  call.run(dx);
  call.compare("d_mat1", dx.out);
  auto wgrad = sized<hstu_addmm_wgrad_args>();
  wgrad.x = forward.x;
  wgrad.dout = dx.x;
  wgrad.dw = call.output({forward.w.shape[0], forward.w.shape[1]});
  if (present(forward.bias)) wgrad.dbias = call.output({forward.w.shape[1]});
  wgrad.workspace_size = operator_of(Op::addmm_wgrad).workspace->bytes(&wgrad);
  wgrad.workspace = call.workspace_of(wgrad.workspace_size);
  call.run(wgrad);
  call.compare("d_mat2", wgrad.dw);
  call.compare("d_input", present(forward.bias) ? wgrad.dbias : wgrad.dout);
}

void addmm(GoldenCall& call) {
  hstu_addmm_args args{};
  args.x = call.input("mat1");
  args.w = call.input("mat2");
  const hstu_tensor added = call.input("input");
  (added.rank == 1 ? args.bias : args.residual) = added;
  args.out = call.output({args.x.shape[0], args.w.shape[1]});
  call.run(args);
  call.compare("out", args.out);
  addmm_gradients(call, args);
}

/// Weights come as [n, k]; the activation is the gate's.
void swiglu(GoldenCall& call) {
  hstu_gated_mlp_args args{};
  args.x = call.input("x");
  args.gate = transposed(call.input("w_gate"));
  args.up = transposed(call.input("w_up"));
  args.out = call.output({args.x.shape[0], args.gate.shape[1]});
  args.activation = HSTU_ACTIVATION_SILU;
  args.activate_gate = 1;
  call.run(args);
  call.compare("out", args.out);
}

constexpr GoldenCase kCases[] = {{"addmm", addmm}, {"swiglu", swiglu}};

}  // namespace

std::span<const GoldenCase> dense_cases() { return kCases; }

}  // namespace hstujit::verify
