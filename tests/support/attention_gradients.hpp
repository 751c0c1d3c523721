// Calls of the gradient of attention for tests on the device, and what their results may be wrong by.
#pragma once

#include "support/attention_cases.hpp"

#include <vector>

namespace hstujit::test {

/// A case of attention and which gradients of it are wanted.
struct AttentionGradientCase {
  AttentionCase forward;
  bool dq = true, dk = true, dv = true;
  bool drab = false, d_attn_scale = false;  ///< where there is a bias, or a scale
  bool accumulate = false;
  bool in_one_buffer = false;  ///< dv, dq and dk are columns of one
};
std::string name_of_case(const AttentionGradientCase& c);
void PrintTo(const AttentionGradientCase& c, std::ostream* out);

/// The call; all its tensors lie in `memory`. What softmax heads need of the forward is the reference's.
hstu_attention_backward_args attention_gradient_args(HostMemory& memory, const AttentionGradientCase& c);

/// The outputs that are there. An element may be wrong by 4 * 2^-24 * sqrt(terms) times the root of the squares of its
/// terms and, in 16 bits, by twice their rounding; by its own rounding; and in f32 by that of scores and dP, which are
/// sums over the head dims.
std::vector<Expected<hstu_attention_backward_args>> expected_gradients(const hstu_attention_backward_args& args);

}  // namespace hstujit::test
