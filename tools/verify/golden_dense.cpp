// Golden cases of dense products.
#include "verify/golden_cases.hpp"

#include <utility>

namespace hstujit::verify {
namespace {

void addmm(GoldenCall& call) {
  hstu_addmm_args args{};
  args.x = call.input("mat1");
  args.w = call.input("mat2");
  const hstu_tensor added = call.input("input");
  (added.rank == 1 ? args.bias : args.residual) = added;
  args.out = call.output({args.x.shape[0], args.w.shape[1]});
  call.run(args);
  call.compare("out", args.out);
}

/// Weights come as [n, k]; the activation is the gate's.
hstu_tensor transposed(hstu_tensor t) {
  std::swap(t.shape[0], t.shape[1]);
  t.stride[0] = 1;
  t.stride[1] = t.shape[0];
  return t;
}

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
