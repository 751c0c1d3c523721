// The key of attention_backward, and how exact its sums can be.
#pragma once

#include "operators/attention/attention.hpp"

#include <vector>

namespace hstujit {

#define HSTUJIT_ATTENTION_BACKWARD_FIELDS(X)                                   \
  HSTUJIT_JAGGED_ATTENTION_FIELDS(X)                                           \
  X(kSoftmaxHeads, softmax_heads, exact) /* attention_extras::kNoSoftmax... */ \
  X(kRab, rab, exact)                    /* attention_extras::kBias... */      \
  X(kHeadsPerKv, heads_per_kv, exact)                                          \
  X(kHasDq, has_dq, exact)                                                     \
  X(kHasDk, has_dk, exact)                                                     \
  X(kHasDv, has_dv, exact)                                                     \
  X(kDrab, drab, exact) /* 0 none, 1 of heads, 2 their sum */                  \
  X(kHasDattnScale, has_d_attn_scale, exact)
HSTUJIT_KEY_FIELDS(attention_backward, HSTUJIT_ATTENTION_BACKWARD_FIELDS)

namespace attention_backward {
enum : int32_t { kNoDrab = 0, kDrabOfHeads = 1, kDrabOfAll = 2 };
}

namespace reference {

/// Of each element of the gradients, in their layout without gaps, the root of the sum of the squares of its terms:
/// what it can be wrong by. A term that is a small difference of large numbers counts as they do. In f32, where a term
/// is as wrong as the scores and products that it comes of, these count as their own terms do; in 16 bits the rounding
/// of a term hides that. Empty for absent ones; of elements that are not written 0.
struct SizesOfAttentionTerms {
  std::vector<double> dq, dk, dv, drab, d_attn_scale;
};
SizesOfAttentionTerms sizes_of_terms(const hstu_attention_backward_args& args);

}  // namespace reference
}  // namespace hstujit
