// The linear layer in FP8 as calls of operators: x is quantised into the workspace, then multiplied.
#include "chain/engine.hpp"
#include "chain/quantised.hpp"
#include "chain/stages.hpp"
#include "operators/checks.hpp"
#include "operators/fp8/fp8_scales.hpp"
#include "operators/operators.hpp"
#include "support/error.hpp"

namespace hstujit::chain {
namespace {

/// x in E4M3, and its scales.
Quantised take(const hstu_fp8_linear_args& args, Workspace& space) {
  const hstu_tensor& x = args.x;
  if (x.rank != 2) fail(HSTU_ERROR_INVALID_ARGUMENT, "x.rank = {}: it must be 2", x.rank);
  if (x.shape[0] < 0 || x.shape[1] < 0)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "x.shape = [{}, {}]: extents must not be negative", x.shape[0], x.shape[1]);
  const int scaling = checks::code(args.x_scaling);
  if (scaling != HSTU_FP8_ROW && scaling != HSTU_FP8_GROUP)
    fail(HSTU_ERROR_INVALID_ARGUMENT, "x_scaling = {}: use ROW (1) or GROUP (2)", scaling);
  return QuantisedSpace::take(space, x.shape[0], x.shape[1], args.x_scaling)
      .matrix(x.shape[0], x.shape[1], args.x_scaling);
}

/// The parameters under the caller's names; the two calls have names of their own for them.
void check_parameters(hstu_fp8_linear_args& args) {
  const checks::Tensor x = checks::required<2>("x", args.x), w = checks::required<2>("w", args.w);
  const checks::Tensor out = checks::required<2>("out", args.out);
  checks::floating(x);
  checks::floating(out);
  fp8::is_fp8(w);
  checks::extent(w, 1, x.t.shape[1], "k = x.shape[1]");
  checks::extent(out, 0, x.t.shape[0], "the rows of x");
  checks::extent(out, 1, w.t.shape[0], "n = w.shape[0]");
  fp8::check_scaling("w_scaling", args.w_scaling);
  fp8::check_descale("w_descale", args.w_descale, args.w_scaling, w.t.shape[0], w.t.shape[1]);
  if (!checks::given("bias", args.bias)) return;
  const checks::Tensor bias = checks::required<1>("bias", args.bias);
  checks::floating(bias);
  checks::extent(bias, 0, w.t.shape[0], "n = w.shape[0]");
}

}  // namespace

Fp8LinearCalls calls_of(hstu_fp8_linear_args& args, Workspace& space) {
  const Quantised x = take(args, space);
  space.check();
  check_parameters(args);
  Fp8LinearCalls calls{sized<hstu_quantize_fp8_args>(), sized<hstu_fp8_gemm_args>()};
  calls.quantise.x = args.x;
  calls.quantise.q = x.q;
  calls.quantise.descale = x.descale;
  calls.quantise.scaling = args.x_scaling;
  calls.product.x = x.q;
  calls.product.x_descale = x.descale;
  calls.product.x_scaling = args.x_scaling;
  calls.product.w = args.w;
  calls.product.w_descale = args.w_descale;
  calls.product.w_scaling = args.w_scaling;
  calls.product.bias = args.bias;
  calls.product.out = args.out;
  return calls;
}

void add(Steps& steps, Fp8LinearCalls& calls, const Fusing&) {
  steps.add("quantisation", calls.quantise);
  steps.add("product", calls.product);
}

void measure(const hstu_fp8_linear_args& args, Workspace& space) { take(args, space); }

using Fp8Linear = OnePart<hstu_fp8_linear_args, Fp8LinearCalls, 2>;
HSTUJIT_ON_ENGINE(Fp8Linear)

}  // namespace hstujit::chain
