// How each kind of golden case becomes calls of this library's operators, one file a group: golden_norm.cpp and its
// like. Upstream's fused operators become chains.
#pragma once

#include "verify/golden_call.hpp"

#include <span>
#include <string_view>

namespace hstujit::verify {

/// Makes the calls for cases of one upstream operator and compares the outputs. Throws Skip or Error.
struct GoldenCase {
  std::string_view op;
  void (*run)(GoldenCall&);
};

std::span<const GoldenCase> norm_cases();
std::span<const GoldenCase> dense_cases();
std::span<const GoldenCase> attention_cases();
std::span<const GoldenCase> layer_cases();
std::span<const GoldenCase> jagged_cases();

// Args of operators that several groups' cases call; q, k, v and outputs of attention are the caller's business.

/// Attributes and integer tensors.
hstu_attention_args golden_attention_args(GoldenCall& call, std::string_view alpha);
/// Inputs by name, flags from the metadata; out by the flags.
hstu_norm_mul_args golden_norm_mul_args(GoldenCall& call, std::string_view attn, std::string_view weights,
                                        std::string_view eps);

}  // namespace hstujit::verify
