// What the output stages of a layer in one product share: operands but for w, and their checks.
#pragma once

#include "operators/checks.hpp"
#include "operators/problem.hpp"

#include <hstujit/hstujit.h>

namespace hstujit::gated_stage {

/// Of the args struct, in place.
struct Operands {
  hstu_tensor &attn, &u, &moments, &weight, &bias, &x, &out;
  float& eps;
};
template <class Args>
Operands operands_of(Args& a) {
  return {a.attn, a.u, a.moments, a.weight, a.bias, a.x, a.out, a.eps};
}

/// What is left to know once they are checked.
struct Stage {
  checks::Tensor attn, weight, out;
  int64_t k = 0;  ///< 3 dim, of w
  bool residual = false;
  int32_t vector = 0;  ///< elements an access, of all but moments
};
Stage check(const Operands& operands);

/// Bytes of all but w.
double bytes_of(const hstu_tensor& attn, const hstu_tensor& moments, const hstu_tensor& weight, const hstu_tensor& x,
                const hstu_tensor& out);

void make_edge_case(const Operands& operands);

}  // namespace hstujit::gated_stage
