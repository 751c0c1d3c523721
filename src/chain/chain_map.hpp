// The chains: X(name, args, function). A chain is a line here and a file that says which steps it has, see engine.hpp.
#pragma once

#define HSTUJIT_FORWARD_CHAIN_MAP(X)                                                             \
  X(compute_uvqk, hstu_compute_uvqk_args, hstu_compute_uvqk)                                     \
  X(preprocess_and_attention, hstu_preprocess_and_attention_args, hstu_preprocess_and_attention) \
  X(compute_output, hstu_compute_output_args, hstu_compute_output)                               \
  X(stack, hstu_stack_args, hstu_stack)                                                          \
  X(fp8_linear, hstu_fp8_linear_args, hstu_fp8_linear)

// Those of which a context is asked how much workspace they need.
#define HSTUJIT_GRADIENT_CHAIN_MAP(X) X(stack_backward, hstu_stack_backward_args, hstu_stack_backward)

#define HSTUJIT_CHAIN_MAP(X) HSTUJIT_FORWARD_CHAIN_MAP(X) HSTUJIT_GRADIENT_CHAIN_MAP(X)
