/**
 * Stages of the HSTU layer, the layer, and a stack of layers: chains of operators planned as one call (Zhai et al.
 * 2024, arXiv:2402.17152; meta-recsys/generative-recommenders, DLRM-v3). What all operators have in common stands in
 * hstujit.h.
 *
 *   x - layer norm - projection, SiLU on u -> [u | v | q | k] - attention - norm * u - projection + x -> out
 *
 * The projections of a stack may be in FP8: then the norms quantise what they write, with a scale per row.
 *
 * Every call checks all of its arguments and makes all of its kernels ready before it launches the first. So a call
 * that fails has launched nothing. Once its kernels are loaded (any call of the same problems does that) a call can be
 * captured into a CUDA graph: it neither allocates nor synchronises.
 *
 * A layer is at most 5 launches: layer norm, projection, attention, hstu_norm_mul, projection. A norm and the
 * projection behind it are one launch where the device has an operator for both and there are rows enough for the whole
 * device:
 *
 *   hstu_norm_addmm       for hstu_layer_norm and hstu_addmm, unless uvqk shares memory with x
 *   hstu_gated_addmm      for hstu_norm_mul and hstu_addmm, in hstu_stack
 *   hstu_gated_fp8_gemm   for hstu_norm_mul and hstu_fp8_gemm, in hstu_stack with HSTU_FP8_ACCUMULATE_FAST
 *
 * The last two are for layer norm with concat_u and concat_x and nothing else.
 *
 * The same call always goes the same way. The two ways differ by roundings.
 *
 * Intermediate results lie in the caller's workspace: device memory aligned to 256 bytes, at least as large as the
 * matching ..._workspace_size() says, whose contents are lost. Calls that may run at the same time need workspaces of
 * their own. The size depends only on x's shape and dtype, on the dimensions and on the options; of a stack also on
 * whether fp8_layers is there. Other tensors may still be absent when the size is asked for.
 */
#ifndef HSTUJIT_LAYER_H
#define HSTUJIT_LAYER_H

#include <hstujit/attention.h>
#include <hstujit/base.h>
#include <hstujit/fp8.h>
#include <hstujit/norm.h>
#include <hstujit/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Dimensions of a layer. Columns of the projection, in this order: u and v num_heads * hidden_dim each, q and k
 *  num_heads * attn_dim each; head h of v, q or k begins at h times its dim. All positive. */
typedef struct hstu_layer_dims {
  int64_t num_heads, attn_dim, hidden_dim;
} hstu_layer_dims;

/** Number of columns of the projection, 2 * num_heads * (hidden_dim + attn_dim). */
static inline int64_t hstu_uvqk_columns(hstu_layer_dims dims) {
  return 2 * dims.num_heads * (dims.hidden_dim + dims.attn_dim);
}

/**
 * Layer norm, projection, SiLU on u: uvqk = [silu(u) | v | q | k] = layer_norm(x) w + b.
 *
 * x                       [rows, embedding] f32 or 16-bit
 * norm_weight, norm_bias  [embedding], as hstu_layer_norm takes them
 * uvqk_weight             [embedding, hstu_uvqk_columns(dims)] x's dtype, strides as hstu_addmm takes them
 * uvqk_bias               [hstu_uvqk_columns(dims)], or absent
 * uvqk                    [rows, hstu_uvqk_columns(dims)] x's dtype; u, v, q, k are its columns
 * eps                     of the norm; 0 means 1e-6; HSTU_EXACT_ZERO: 0
 * input_norm              HSTU_NORM_LAYER; HSTU_NORM_RMS is HSTU_ERROR_UNSUPPORTED as yet
 */
typedef struct hstu_compute_uvqk_args {
  size_t struct_size;
  hstu_tensor x, norm_weight, norm_bias, uvqk_weight, uvqk_bias, uvqk;
  hstu_layer_dims dims;
  float eps;
  hstu_norm input_norm;
  void* workspace;
  size_t workspace_size;
} hstu_compute_uvqk_args;
HSTU_API hstu_status hstu_compute_uvqk(hstu_context* context, const hstu_compute_uvqk_args* args, hstu_stream stream);
HSTU_TYPED_PLAN(compute_uvqk)
HSTU_API hstu_status hstu_compute_uvqk_workspace_size(const hstu_compute_uvqk_args* args, size_t* bytes);

/**
 * hstu_compute_uvqk, then hstu_attention on its q, k and v where they lie.
 *
 * uvqk       as above; workspace and workspace_size in it are not read
 * attention  all but q, k and v, which come from uvqk. attention.out is [rows,
 *            num_heads, hidden_dim]. u, and k and v for a cache, are then columns of uvqk.uvqk.
 */
typedef struct hstu_preprocess_and_attention_args {
  size_t struct_size;
  hstu_compute_uvqk_args uvqk;
  hstu_attention_args attention;
  void* workspace;
  size_t workspace_size;
} hstu_preprocess_and_attention_args;
HSTU_API hstu_status hstu_preprocess_and_attention(hstu_context* context,
                                                   const hstu_preprocess_and_attention_args* args, hstu_stream stream);
HSTU_TYPED_PLAN(preprocess_and_attention)
HSTU_API hstu_status hstu_preprocess_and_attention_workspace_size(const hstu_preprocess_and_attention_args* args,
                                                                  size_t* bytes);

/** Variants of the output stage; the members mean what they mean in hstu_norm_mul, but eps 0 means 1e-6 and
 *  HSTU_EXACT_ZERO 0, and layer i of a stack drops out with seed + i. */
typedef struct hstu_output_options {
  float eps;
  hstu_activation activation;
  int32_t concat_u, concat_x, silu_u;
  hstu_norm norm;
  hstu_dropout_stream dropout_stream;
  float dropout_ratio;
  int64_t num_groups;
  int64_t seed;
} hstu_output_options;

/**
 * The output stage: out = residual + norm_mul(attn, u) w.
 *
 * attn, u                 [rows, dim] f32 or 16-bit
 * norm_weight, norm_bias  [dim], or [num_groups] under group norm; no bias with HSTU_NORM_RMS
 * output_weight           [segments * dim, embedding], strides as hstu_addmm takes them; segments as in hstu_norm_mul
 * residual, out           [rows, embedding] attn's dtype; residual absent: none; out may be residual itself
 */
typedef struct hstu_compute_output_args {
  size_t struct_size;
  hstu_tensor attn, u, residual, norm_weight, norm_bias, output_weight, out;
  hstu_output_options options;
  void* workspace;
  size_t workspace_size;
} hstu_compute_output_args;
HSTU_API hstu_status hstu_compute_output(hstu_context* context, const hstu_compute_output_args* args,
                                         hstu_stream stream);
HSTU_TYPED_PLAN(compute_output)
/** Here the size depends on attn's shape and dtype and on the options. */
HSTU_API hstu_status hstu_compute_output_workspace_size(const hstu_compute_output_args* args, size_t* bytes);

/** The parameters of one layer, with the shapes above. */
typedef struct hstu_layer_weights {
  hstu_tensor norm_weight, norm_bias;
  hstu_tensor uvqk_weight, uvqk_bias;
  hstu_tensor output_norm_weight, output_norm_bias;
  hstu_tensor output_weight;
} hstu_layer_weights;

/**
 * The projections of one layer in FP8: what hstu_quantize_fp8 makes of its transposed weights with HSTU_FP8_ROW, a
 * scale per column of the result.
 *
 * uvqk_weight     [hstu_uvqk_columns(dims), embedding] E4M3, row stride free
 * uvqk_descale    [hstu_uvqk_columns(dims)] f32
 * output_weight   [embedding, segments * dim] E4M3, row stride free; segments and dim as in hstu_compute_output
 * output_descale  [embedding] f32
 */
typedef struct hstu_fp8_layer_weights {
  hstu_tensor uvqk_weight, uvqk_descale, output_weight, output_descale;
} hstu_fp8_layer_weights;

/**
 * Layers one behind another: x -> out.
 *
 * x, out      [rows, embedding] f32 or 16-bit; out may be x itself
 * layers      num_layers parameter sets, on the host, read during the call
 * layer_size  sizeof(hstu_layer_weights), the distance from one set to the next
 * eps         of the input norm; 0 means 1e-6; HSTU_EXACT_ZERO: 0
 * input_norm  as in hstu_compute_uvqk
 * attention   of every layer; q, k, v, out and moments in it must be absent
 * output      variant of the output stage; DLRM-v3 sets concat_u and concat_x
 * fp8_layers  NULL; or num_layers more parameter sets, on the host, read during the call. Both projections of every
 *             layer are then hstu_fp8_gemm, behind an hstu_layer_norm and an hstu_norm_mul that quantise their results
 *             to E4M3 with HSTU_FP8_ROW; the second may be hstu_gated_fp8_gemm, as above. uvqk_weight and output_weight
 *             of `layers` must be absent then
 * fp8_layer_size
 *             sizeof(hstu_fp8_layer_weights), likewise; not read where fp8_layers is NULL
 * fp8_accumulation
 *             of these products
 * saved, saved_size, recompute
 *             for gradients. NULL and 0; all else is HSTU_ERROR_UNSUPPORTED as yet
 */
typedef struct hstu_stack_args {
  size_t struct_size;
  hstu_tensor x, out;
  const hstu_layer_weights* layers;
  size_t layer_size;
  int64_t num_layers;
  hstu_layer_dims dims;
  float eps;
  hstu_norm input_norm;
  hstu_attention_args attention;
  hstu_output_options output;
  void* workspace;
  size_t workspace_size;
  const hstu_fp8_layer_weights* fp8_layers;
  size_t fp8_layer_size;
  hstu_fp8_accumulation fp8_accumulation;
  uint32_t recompute;
  void* saved;
  size_t saved_size;
} hstu_stack_args;
HSTU_API hstu_status hstu_stack(hstu_context* context, const hstu_stack_args* args, hstu_stream stream);
HSTU_TYPED_PLAN(stack)
HSTU_API hstu_status hstu_stack_workspace_size(const hstu_stack_args* args, size_t* bytes);

/** One layer: hstu_stack with num_layers = 1; num_layers in args is not read. */
HSTU_API hstu_status hstu_layer(hstu_context* context, const hstu_stack_args* args, hstu_stream stream);

/**
 * A linear layer in FP8: out = x w^T + bias. The caller quantises w once; the call quantises x to E4M3 (2 launches).
 * Behind a norm that quantises its results itself (hstu_layer_norm with a y in FP8) call hstu_fp8_gemm instead.
 *
 * x          [rows, k] f32 or 16-bit, row stride free
 * w          [n, k] E4M3 or E5M2, row stride free; what hstu_quantize_fp8 makes of a weight
 * w_descale  f32, for w and w_scaling
 * bias       absent, or [n] f32 or 16-bit
 * out        [rows, n] f32 or 16-bit, row stride free
 * x_scaling  HSTU_FP8_ROW, or HSTU_FP8_GROUP, a scale per 128 columns of a row
 * w_scaling  of w
 */
typedef struct hstu_fp8_linear_args {
  size_t struct_size;
  hstu_tensor x, w, w_descale, bias, out;
  hstu_fp8_scaling x_scaling, w_scaling;
  void* workspace;
  size_t workspace_size;
} hstu_fp8_linear_args;
HSTU_API hstu_status hstu_fp8_linear(hstu_context* context, const hstu_fp8_linear_args* args, hstu_stream stream);
HSTU_TYPED_PLAN(fp8_linear)
/** Here the size depends on x's shape and on x_scaling alone. */
HSTU_API hstu_status hstu_fp8_linear_workspace_size(const hstu_fp8_linear_args* args, size_t* bytes);

#ifdef __cplusplus
}
#endif
#endif
