// The list of operators, the one place to add a line to: X(operator, args struct, C function). From it come the Op
// enum, the typed declarations in operators.hpp, the operator table and the C entry points. New operators go to the
// end, so that the numbers of the others stay.
#pragma once

#define HSTUJIT_OPERATOR_MAP(X)                              \
  X(layer_norm, hstu_layer_norm_args, hstu_layer_norm)       \
  X(addmm, hstu_addmm_args, hstu_addmm)                      \
  X(hstu_attention, hstu_attention_args, hstu_attention)     \
  X(norm_mul, hstu_norm_mul_args, hstu_norm_mul)             \
  X(fp8_amax, hstu_fp8_amax_args, hstu_fp8_amax)             \
  X(quantize_fp8, hstu_quantize_fp8_args, hstu_quantize_fp8) \
  X(dequantize_fp8, hstu_dequantize_fp8_args, hstu_dequantize_fp8)
