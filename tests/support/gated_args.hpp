// What tests of gated products make alike, of arguments with u, attn, moments, weight, bias, x and out.
#pragma once

#include "support/host_tensor.hpp"

namespace hstujit::test {

/// Where the residual of a product lies.
enum class Residual { absent, apart, in_place };

/// Statistics of the parts of attn's rows: [rows, parts, 2].
hstu_tensor moments_of(HostMemory& memory, const hstu_tensor& attn, int64_t parts);

/// Weight and bias of the norm of args.attn.
template <class Args>
void set_norm(HostMemory& memory, hstu_dtype dtype, Args& args) {
  args.weight = memory.random(dtype, {args.attn.shape[1]}, {}, 1, 0.3);
  args.bias = memory.random(dtype, {args.attn.shape[1]}, {}, 0, 0.3);
}

/// The result, of n columns, and what is added to it.
template <class Args>
void set_result(HostMemory& memory, int64_t n, Residual residual, Args& args) {
  const hstu_dtype dtype = static_cast<hstu_dtype>(args.attn.dtype);
  const int64_t m = args.attn.shape[0];
  args.out = residual == Residual::in_place ? memory.random(dtype, {m, n}) : memory.poison(dtype, {m, n});
  if (residual == Residual::in_place) args.residual = args.out;
  if (residual == Residual::apart) args.residual = memory.random(dtype, {m, n});
}

}  // namespace hstujit::test
