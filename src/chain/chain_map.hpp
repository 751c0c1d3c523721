// The chains: X(name, args, function). A chain is a line here and a file that says which steps it has, see engine.hpp.
#pragma once

#define HSTUJIT_CHAIN_MAP(X)                                                                     \
  X(compute_uvqk, hstu_compute_uvqk_args, hstu_compute_uvqk)                                     \
  X(preprocess_and_attention, hstu_preprocess_and_attention_args, hstu_preprocess_and_attention) \
  X(compute_output, hstu_compute_output_args, hstu_compute_output)                               \
  X(stack, hstu_stack_args, hstu_stack)                                                          \
  X(fp8_linear, hstu_fp8_linear_args, hstu_fp8_linear)
