/**
 * Normalisations of rows, and the HSTU output stage built on one.
 * What all operators have in common stands in hstujit.h.
 */
#ifndef HSTUJIT_NORM_H
#define HSTUJIT_NORM_H

#include <hstujit/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Layer norm over the last dimension: y = (x - mean) / sqrt(var + eps) * weight + bias, var biased (divided by dim).
 *
 * x, y          [rows, dim] f32 or 16-bit, same dtype; row stride free; y may be x itself
 * weight, bias  [dim] f32 or 16-bit, same dtype; both present or both absent
 * eps           0 means 1e-5
 * Source: Ba et al. 2016, arXiv:1607.06450.
 */
typedef struct hstu_layer_norm_args {
  size_t struct_size;
  hstu_tensor x, weight, bias, y;
  float eps;
} hstu_layer_norm_args;
HSTU_API hstu_status hstu_layer_norm(hstu_context* context, const hstu_layer_norm_args* args, hstu_stream stream);

/**
 * The HSTU output stage before its projection: t = norm(attn), out = [u' | attn | act(u) * t], all in f32, rounded
 * once.
 *
 * attn, u       [rows, dim] f32 or 16-bit, same dtype
 * weight, bias  [dim] (num_groups 0: layer norm over the row) or [num_groups] (group norm: statistics over each of the
 *               num_groups equal parts of a row); f32 or 16-bit, both present
 * out           [rows, segments * dim], attn's dtype. Layer norm: a segment u' = silu_u ? silu(u) : u if concat_u, a
 *               segment attn if concat_x, then the product. Group norm: three segments if both flags are set, else one,
 *               and u' is the multiplier.
 * activation    of the multiplier u under layer norm: NONE, SILU, SIGMOID
 * eps           0 means 1e-5
 * Source: meta-recsys/generative-recommenders, HSTU output (the DLRM-v3 layer uses concat_u = concat_x = 1).
 */
typedef struct hstu_norm_mul_args {
  size_t struct_size;
  hstu_tensor attn, u, weight, bias, out;
  float eps;
  hstu_activation activation;
  int32_t concat_u, concat_x, silu_u;
  int32_t num_groups;
} hstu_norm_mul_args;
HSTU_API hstu_status hstu_norm_mul(hstu_context* context, const hstu_norm_mul_args* args, hstu_stream stream);

#ifdef __cplusplus
}
#endif
#endif
