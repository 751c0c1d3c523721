// The list of operators, the one place to add a line to: X(operator, args struct, C function). From it come the Op
// enum, the typed declarations in operators.hpp, the operator table and the C entry points. New operators go to the
// end, so that the numbers of the others stay.
#pragma once

#define HSTUJIT_OPERATOR_MAP(X)                                                                                    \
  X(layer_norm, hstu_layer_norm_args, hstu_layer_norm)                                                             \
  X(addmm, hstu_addmm_args, hstu_addmm)                                                                            \
  X(attention, hstu_attention_args, hstu_attention)                                                                \
  X(norm_mul, hstu_norm_mul_args, hstu_norm_mul)                                                                   \
  X(fp8_amax, hstu_fp8_amax_args, hstu_fp8_amax)                                                                   \
  X(quantize_fp8, hstu_quantize_fp8_args, hstu_quantize_fp8)                                                       \
  X(dequantize_fp8, hstu_dequantize_fp8_args, hstu_dequantize_fp8)                                                 \
  X(concat_2d_jagged, hstu_concat_2d_jagged_args, hstu_concat_2d_jagged)                                           \
  X(split_2d_jagged, hstu_split_2d_jagged_args, hstu_split_2d_jagged)                                              \
  X(jagged_dense_bmm_broadcast_add, hstu_jagged_dense_bmm_broadcast_add_args, hstu_jagged_dense_bmm_broadcast_add) \
  X(jagged_dense_broadcast_add, hstu_jagged_dense_broadcast_add_args, hstu_jagged_dense_broadcast_add)             \
  X(add_positional_embeddings, hstu_add_positional_embeddings_args, hstu_add_positional_embeddings)                \
  X(add_timestamp_positional_embeddings, hstu_add_timestamp_positional_embeddings_args,                            \
    hstu_add_timestamp_positional_embeddings)                                                                      \
  X(rms_norm, hstu_rms_norm_args, hstu_rms_norm)                                                                   \
  X(swish_layer_norm, hstu_swish_layer_norm_args, hstu_swish_layer_norm)                                           \
  X(group_norm, hstu_group_norm_args, hstu_group_norm)                                                             \
  X(rms_norm_rope, hstu_rms_norm_rope_args, hstu_rms_norm_rope)                                                    \
  X(softmax, hstu_softmax_args, hstu_softmax)                                                                      \
  X(dropout, hstu_dropout_args, hstu_dropout)                                                                      \
  X(delta_attention, hstu_delta_attention_args, hstu_delta_attention)                                              \
  X(paged_attention, hstu_paged_attention_args, hstu_paged_attention)                                              \
  X(append_kv_cache, hstu_append_kv_cache_args, hstu_append_kv_cache)                                              \
  X(flash_attention, hstu_flash_attention_args, hstu_flash_attention)                                              \
  X(complete_cumsum, hstu_complete_cumsum_args, hstu_complete_cumsum)                                              \
  X(concat_1d_jagged, hstu_concat_1d_jagged_args, hstu_concat_1d_jagged)                                           \
  X(split_1d_jagged, hstu_split_1d_jagged_args, hstu_split_1d_jagged)                                              \
  X(expand_1d_jagged_to_dense, hstu_expand_1d_jagged_to_dense_args, hstu_expand_1d_jagged_to_dense)                \
  X(replace_last_n_with_jagged, hstu_replace_last_n_with_jagged_args, hstu_replace_last_n_with_jagged)             \
  X(jagged_transpose_1d, hstu_jagged_transpose_1d_args, hstu_jagged_transpose_1d)                                  \
  X(fp8_gemm, hstu_fp8_gemm_args, hstu_fp8_gemm)                                                                   \
  X(gated_mlp, hstu_gated_mlp_args, hstu_gated_mlp)                                                                \
  X(jagged_reduce_sum, hstu_jagged_reduce_sum_args, hstu_jagged_reduce_sum)                                        \
  X(jagged_to_padded_dense, hstu_jagged_to_padded_dense_args, hstu_jagged_to_padded_dense)                         \
  X(dense_to_jagged, hstu_dense_to_jagged_args, hstu_dense_to_jagged)                                              \
  X(jagged_truncate_history, hstu_jagged_truncate_history_args, hstu_jagged_truncate_history)                      \
  X(sort_kv_pairs, hstu_sort_kv_pairs_args, hstu_sort_kv_pairs)                                                    \
  X(sort_by_length, hstu_sort_by_length_args, hstu_sort_by_length)                                                 \
  X(build_sla_func, hstu_build_sla_func_args, hstu_build_sla_func)                                                 \
  X(attention_fp8, hstu_attention_fp8_args, hstu_attention_fp8)                                                    \
  X(rel_bias, hstu_rel_bias_args, hstu_rel_bias)                                                                   \
  X(jagged_remove_first_or_last_1d, hstu_jagged_remove_first_or_last_1d_args, hstu_jagged_remove_first_or_last_1d) \
  X(gated_addmm, hstu_gated_addmm_args, hstu_gated_addmm)                                                          \
  X(gated_fp8_gemm, hstu_gated_fp8_gemm_args, hstu_gated_fp8_gemm)                                                 \
  X(norm_addmm, hstu_norm_addmm_args, hstu_norm_addmm)                                                             \
  X(layer_norm_backward, hstu_layer_norm_backward_args, hstu_layer_norm_backward)                                  \
  X(attention_backward, hstu_attention_backward_args, hstu_attention_backward)
