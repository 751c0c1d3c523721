// What hstu_attention takes beyond masks and scales: heads under softmax, their log-sum-exp, and a relative bias.
#pragma once

#include "operators/checks.hpp"

namespace hstujit::attention_extras {

enum : int32_t { kNoSoftmax = 0, kAllSoftmax = 1, kSomeSoftmax = 2 };

/// kBiasInChunks: rows, heads and sequences begin at multiples of 16 bytes, and none lies over another.
enum : int32_t { kNoBias = 0, kBias = 1, kBiasInChunks = 2 };

/// rab, if it is there: a number for each pair of positions of the sequences, for q's heads or for all. Returns which
/// of these it is.
int32_t bias(hstu_tensor& t, int64_t batch, const checks::Tensor& q, const checks::Tensor& out);

/// Checks num_softmax_heads, lse, rab and sort_by_length against the others and fills the key's fields.
void check(hstu_attention_args& args, const checks::Tensor& q, const checks::Tensor& out, Problem& problem);

}  // namespace hstujit::attention_extras
