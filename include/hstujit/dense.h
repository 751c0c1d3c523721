/**
 * Dense matrix products.
 * What all operators have in common stands in hstujit.h.
 */
#ifndef HSTUJIT_DENSE_H
#define HSTUJIT_DENSE_H

#include <hstujit/base.h>
#include <hstujit/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Matrix product with bias and residual: out = act(x w + bias + residual), all in f32, rounded once.
 *
 * x                   [m, k] f32 or 16-bit, any strides: (s, 1) and (1, s) are read fast, others element by element
 * w                   [k, n] same dtype, any strides likewise: (1, s) is a weight stored [n, k]
 * bias                absent; or [n], a row (f32 or 16-bit), any stride
 * residual            absent; or [m, n] x's dtype, any strides; it may be out itself when out is all of the result and
 *                     not in FP8
 * out                 [m, n] x's dtype, or E4M3 or E5M2, last stride 1
 * out1, out2, out3    absent; or [m, n1], [m, n2], [m, n3] likewise: out has the first columns of the result, out1 the
 *                     next ones, and so on, n in all. So u, v, q and k can lie where their readers want them
 * activation          NONE, SILU, GELU or GELU_TANH
 * activation_columns  the activation covers columns [0, activation_columns) only; 0 means all n
 * allow_tf32          f32 only. 0: products as exact as f32 sums, from three products of tf32, in which an infinity
 *                     becomes NaN. 1: x and w are rounded to tf32, three times as fast
 * out_descale         absent; with out in FP8: f32 [1], for all of it; out = round(result * (1 / out_descale)) as in
 *                     fp8.h. On compute capability 9.0 such results have kernels of that generation for x of 16 bits,
 *                     with all tensors aligned to 16 bytes and rows of a residual to 32. Other cases run the kernels of
 *                     8.0
 * Source: meta-recsys/generative-recommenders, triton_addmm; SiLU and parts: the uvqk projection of an HSTU layer.
 */
typedef struct hstu_addmm_args {
  size_t struct_size;
  hstu_tensor x, w, bias, residual, out;
  hstu_activation activation;
  int32_t allow_tf32;
  int64_t activation_columns;
  hstu_tensor out1, out2, out3;
  hstu_tensor out_descale;
} hstu_addmm_args;
HSTU_API hstu_status hstu_addmm(hstu_context* context, const hstu_addmm_args* args, hstu_stream stream);
HSTU_TYPED_PLAN(addmm)

/**
 * Gated products: out = (x gate) * act(x up), or act(x gate) * (x up) with activate_gate, in f32, rounded once. Both
 * products are made in one kernel and share the reading of x.
 *
 * x              [m, k] f32 or 16-bit, any strides
 * gate, up       [k, n] same dtype, any strides: (1, s) is a weight stored [n, k]
 * out            [m, n] x's dtype, or E4M3 or E5M2, last stride 1
 * activation     SILU, GELU or GELU_TANH
 * activate_gate  0: the activation is up's. 1: it is gate's, as in SwiGLU (Shazeer 2020, arXiv:2002.05202)
 * allow_tf32     as in hstu_addmm
 * out_descale    absent; with out in FP8: f32 [1], as in hstu_addmm
 * Source: LessUp/triton-fused-ops, the gated MLP.
 */
typedef struct hstu_gated_mlp_args {
  size_t struct_size;
  hstu_tensor x, gate, up, out;
  hstu_activation activation;
  int32_t activate_gate;
  int64_t allow_tf32;
  hstu_tensor out_descale;
} hstu_gated_mlp_args;
HSTU_API hstu_status hstu_gated_mlp(hstu_context* context, const hstu_gated_mlp_args* args, hstu_stream stream);
HSTU_TYPED_PLAN(gated_mlp)

/**
 * The output stage of an HSTU layer as one product: out = residual + [u | attn | g] w with g = layer_norm(attn) * u.
 * g is rounded to attn's type and never stored. The same as hstu_norm_mul with concat_u and concat_x, then hstu_addmm.
 * The rows of attn are normalised by moments that hstu_attention wrote.
 *
 * attn, u       [m, dim] f32 or 16-bit, last stride 1
 * moments       f32 [m, parts, 2], contiguous, aligned to 8 bytes: mean, and sum of squared deviations from it, of each
 *               of the equal parts of attn's rows; parts divides dim
 * weight, bias  [dim] of the norm, f32 or 16-bit, of one type
 * w             [3 dim, n] attn's dtype, any strides: (1, s) is a weight stored [n, 3 dim]
 * residual      absent; or [m, n] attn's dtype, last stride 1; may be out itself
 * out           [m, n] attn's dtype, last stride 1
 * eps           of the norm; 0 means 1e-5; HSTU_EXACT_ZERO: 0
 *
 * For compute capability 9.0: 16-bit types, weight and bias in f32 or attn's dtype, dim a multiple of 64, n of 128,
 * parts up to 16, all of it aligned to 16 bytes. HSTU_ERROR_UNSUPPORTED elsewhere. The device "cpu" takes everything.
 * Source: derived, hstu_norm_mul and hstu_addmm fused; hstu_compute_output of meta-recsys/generative-recommenders.
 */
typedef struct hstu_gated_addmm_args {
  size_t struct_size;
  hstu_tensor attn, u, moments, weight, bias;
  hstu_tensor w, residual, out;
  double eps;
} hstu_gated_addmm_args;
HSTU_API hstu_status hstu_gated_addmm(hstu_context* context, const hstu_gated_addmm_args* args, hstu_stream stream);
HSTU_TYPED_PLAN(gated_addmm)

/**
 * Layer norm and the product behind it in one kernel: out = act(layer_norm(x) w + bias). The normed rows are rounded to
 * x's type and never stored. The same as hstu_layer_norm, then hstu_addmm.
 *
 * x                       [m, k] f32 or 16-bit, last stride 1
 * norm_weight, norm_bias  [k], f32 or 16-bit, of one type
 * w                       [k, n] x's dtype, any strides: (1, s) is a weight stored [n, k]
 * bias                    absent; or [n], a row (f32 or 16-bit), any stride
 * out, out1, out2, out3   [m, n] x's dtype in one to four parts, as in hstu_addmm; apart from all that is read
 * activation              NONE or SILU
 * activation_columns      the activation covers columns [0, activation_columns) only; 0 means all n
 * eps                     of the norm; 0 means 1e-5; HSTU_EXACT_ZERO: 0
 *
 * For compute capability 9.0: 16-bit types, norm_weight and norm_bias in f32 or x's dtype, k a multiple of 64 up to
 * 512, n up to 20,000 with a bias, all but bias aligned to 16 bytes, parts of the result but for the last of whole 64
 * columns. HSTU_ERROR_UNSUPPORTED elsewhere. The device "cpu" takes everything.
 * Source: derived, hstu_layer_norm and hstu_addmm fused; hstu_compute_uvqk of meta-recsys/generative-recommenders.
 */
typedef struct hstu_norm_addmm_args {
  size_t struct_size;
  hstu_tensor x, norm_weight, norm_bias, w, bias, out;
  hstu_activation activation;
  float eps;
  int64_t activation_columns;
  hstu_tensor out1, out2, out3;
} hstu_norm_addmm_args;
HSTU_API hstu_status hstu_norm_addmm(hstu_context* context, const hstu_norm_addmm_args* args, hstu_stream stream);
HSTU_TYPED_PLAN(norm_addmm)

#ifdef __cplusplus
}
#endif
#endif
