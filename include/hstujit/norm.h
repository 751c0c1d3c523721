/**
 * Normalisations of rows, and the HSTU output stage built on one.
 * What all operators have in common stands in hstujit.h.
 */
#ifndef HSTUJIT_NORM_H
#define HSTUJIT_NORM_H

#include <hstujit/base.h>
#include <hstujit/fp8.h>
#include <hstujit/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Layer norm over the last dimension: out = (x - mean) / sqrt(var + eps) * weight + bias, var biased (divided by
 * dim).
 *
 * x, out        [rows, dim] f32 or 16-bit, same dtype; row stride free; out may be x itself. Or out is E4M3 or E5M2, as
 *               hstu_fp8_gemm takes it: the f32 results, not rounded in between, are quantised as hstu_quantize_fp8
 *               does with its defaults. Fastest with aligned rows of at most 16384 elements, a multiple of 4
 * weight, bias  [dim] f32 or 16-bit, same dtype; both present or both absent
 * eps           0 means 1e-5; HSTU_EXACT_ZERO: 0
 * descale       present with an out in FP8 only: f32, written, of the shape that `scaling` asks for
 * scaling       of an out in FP8: HSTU_FP8_ROW or HSTU_FP8_GROUP; else 0
 * moments       absent; or f32 [rows, 1, 2], contiguous, aligned to 8 bytes, written: mean, and sum of squared
 *               deviations from it, of each row of x, for hstu_layer_norm_backward. Then dim is at least 1
 * Source: Ba et al. 2016, arXiv:1607.06450.
 */
typedef struct hstu_layer_norm_args {
  size_t struct_size;
  hstu_tensor x, weight, bias, out;
  float eps;
  hstu_fp8_scaling scaling;
  hstu_tensor descale;
  hstu_tensor moments;
} hstu_layer_norm_args;
HSTU_API hstu_status hstu_layer_norm(hstu_context* context, const hstu_layer_norm_args* args, hstu_stream stream);
HSTU_TYPED_PLAN(layer_norm)

/**
 * Gradient of layer norm. With g = dout * weight and xhat = (x - mean) / sqrt(var + eps):
 * dx = (g - mean(g) - xhat * mean(g * xhat)) / sqrt(var + eps) + dresidual, means over the row; dweight = sum over rows
 * of dout * xhat; dbias = sum over rows of dout. Only what is asked for is computed; where nothing is, nothing runs.
 *
 * forward      the call that this is the gradient of; out, scaling, descale and moments are not read. Its struct_size
 *              is 0 or its size
 * dout, dx     [rows, dim], x's dtype; row strides free; dx may be x, dout or dresidual itself
 * moments      f32 [rows, 1, 2], mean and sum of squared deviations of each row, as hstu_layer_norm leaves
 *              them; absent: computed again from x, which may change the last bits
 * dresidual    absent, or like dx: added to it before its one rounding
 * dweight, dbias  [dim], both of weight's dtype or both f32; absent without weight
 * valid_rows   absent, or i32 or i64 [1] on the device, read when the kernel runs: rows from there on enter neither
 *              dweight nor dbias, whatever they hold. Their dx is written like any other
 * accumulate   1: dweight and dbias are added to what is there, with one rounding. 0: what is there is not read
 * determinism  both give the same bits in each run of a plan
 * workspace, workspace_size  device memory aligned to 256 bytes, at least what the function below says; NULL and 0
 *              where that is 0. Its contents are lost. Calls that may run at the same time need one each
 * Source: Ba et al. 2016, arXiv:1607.06450; meta-recsys/generative-recommenders, layer_norm.
 */
typedef struct hstu_layer_norm_backward_args {
  size_t struct_size;
  hstu_layer_norm_args forward;
  hstu_tensor dout, moments, dresidual, dx, dweight, dbias, valid_rows;
  int32_t accumulate;
  hstu_determinism determinism;
  void* workspace;
  size_t workspace_size;
} hstu_layer_norm_backward_args;
HSTU_API hstu_status hstu_layer_norm_backward(hstu_context* context, const hstu_layer_norm_backward_args* args,
                                              hstu_stream stream);
HSTU_TYPED_PLAN(layer_norm_backward)
/** Bytes of workspace for the call on this context; reads extents and which tensors are there. */
HSTU_API hstu_status hstu_layer_norm_backward_workspace_size(hstu_context* context,
                                                             const hstu_layer_norm_backward_args* args, size_t* bytes);

/**
 * RMS norm over the last dimension: out = act(x / sqrt(mean(x^2) + eps) * weight).
 *
 * x, out      [rows, dim] f32 or 16-bit, same dtype; row stride free; out may be x itself; or out in FP8, as in
 *             hstu_layer_norm
 * weight      [dim] f32 or 16-bit; absent: 1
 * activation  NONE or SILU, of the f32 value before it is rounded
 * eps         0 means 1e-5; HSTU_EXACT_ZERO: 0
 * descale, scaling  of an out in FP8, as in hstu_layer_norm
 * Source: Zhang, Sennrich 2019, arXiv:1910.07467.
 */
typedef struct hstu_rms_norm_args {
  size_t struct_size;
  hstu_tensor x, weight, out;
  double eps;
  hstu_activation activation;
  hstu_fp8_scaling scaling;
  hstu_tensor descale;
} hstu_rms_norm_args;
HSTU_API hstu_status hstu_rms_norm(hstu_context* context, const hstu_rms_norm_args* args, hstu_stream stream);
HSTU_TYPED_PLAN(rms_norm)

/**
 * Swish layer norm: out = x * sigmoid(layer_norm(x)), x being the raw input.
 *
 * x, out, weight, bias, eps  as in hstu_layer_norm
 * Source: meta-recsys/generative-recommenders, swish_layer_norm.
 */
typedef struct hstu_swish_layer_norm_args {
  size_t struct_size;
  hstu_tensor x, weight, bias, out;
  double eps;
} hstu_swish_layer_norm_args;
HSTU_API hstu_status hstu_swish_layer_norm(hstu_context* context, const hstu_swish_layer_norm_args* args,
                                           hstu_stream stream);
HSTU_TYPED_PLAN(swish_layer_norm)

/**
 * Group norm of rows: each of num_groups equal parts of a row is normalised by its own mean and biased variance, then
 * scaled and shifted by its own weight and bias.
 *
 * x, out        [rows, dim] f32 or 16-bit, same dtype; row stride free; out may be x itself
 * weight, bias  [num_groups], one value for all elements of a group; f32 or 16-bit, same dtype; both or neither
 * num_groups    divides dim (heads, in an HSTU layer)
 * eps           0 means 1e-5; HSTU_EXACT_ZERO: 0
 * Source: Wu, He 2018, arXiv:1803.08494.
 */
typedef struct hstu_group_norm_args {
  size_t struct_size;
  hstu_tensor x, weight, bias, out;
  float eps;
  int32_t num_groups;
} hstu_group_norm_args;
HSTU_API hstu_status hstu_group_norm(hstu_context* context, const hstu_group_norm_args* args, hstu_stream stream);
HSTU_TYPED_PLAN(group_norm)

/**
 * RMS norm over whole rows, then rotary position embedding of each head: with n = x / sqrt(mean(x^2) + eps) * weight,
 * c = cosine[s, d], z = sine[s, d] and d in the first half of a head,
 * out[d] = n[d] c - n[d + half] z and out[d + half] = n[d + half] c + n[d] z. n is not rounded in between.
 *
 * x, out        [batch, length, hidden] f32 or 16-bit, same dtype; batch and row stride free; out may be x itself; or
 *               out in FP8, as in hstu_layer_norm, fastest where halves of heads are of whole 4 elements, too
 * weight        [hidden] f32 or 16-bit
 * cosine, sine  [length, head_dim] or [length, head_dim / 2], f32 or 16-bit, same dtype; only the first half of the
 *               columns is read
 * head_dim      even, divides hidden; 0 means cosine.shape[1]
 * eps           0 means 1e-6; HSTU_EXACT_ZERO: 0
 * descale, scaling  of an out in FP8, as in hstu_layer_norm, of out as a matrix [batch * length, hidden]; GROUP is
 *               fastest with head dims that divide 128 or are multiples of 256
 * Source: Su et al. 2021, arXiv:2104.09864, rotating halves as GPT-NeoX does.
 */
typedef struct hstu_rms_norm_rope_args {
  size_t struct_size;
  hstu_tensor x, weight, cosine, sine, out;
  float eps;
  hstu_fp8_scaling scaling;
  int64_t head_dim;
  hstu_tensor descale;
} hstu_rms_norm_rope_args;
HSTU_API hstu_status hstu_rms_norm_rope(hstu_context* context, const hstu_rms_norm_rope_args* args, hstu_stream stream);
HSTU_TYPED_PLAN(rms_norm_rope)

/**
 * Softmax of rows: out = e^(x - max) / sum, or its logarithm, x - max - log(sum), with log.
 *
 * x, out           [rows, dim] f32 or 16-bit, same dtype; dim at least 1; row stride free; out may be x itself. An
 *                  element of -inf has weight 0.
 * log              1: log-softmax
 * zero_empty_rows  for rows of nothing but -inf. 0: out is NaN. 1: weights are 0, and logarithms -inf
 * Source: triton-lang/triton, tutorial 02 (fused softmax); PyTorch, softmax and log_softmax (rows of -inf).
 */
typedef struct hstu_softmax_args {
  size_t struct_size;
  hstu_tensor x, out;
  int32_t log;
  int32_t zero_empty_rows;
} hstu_softmax_args;
HSTU_API hstu_status hstu_softmax(hstu_context* context, const hstu_softmax_args* args, hstu_stream stream);
HSTU_TYPED_PLAN(softmax)

/**
 * Seeded dropout: out = keep ? x / (1 - ratio) : 0. The decision over an element depends on the seed and on its index
 * in row-major order alone, never on strides, tuning or device; the same call on a gradient is the backward pass.
 *
 * Element i is kept when u > ratio, u = (w < 0 ? -w - 1 : w) * 2^-31 in f32 for a word w of Philox4x32-10 with key
 * seed: word 0 of counter i, or with words_per_counter 4 word i % 4 of counter i / 4.
 *
 * x, out             [rows, dim] f32 or 16-bit, same dtype; row stride free; out may be x itself
 * ratio              in [0, 1); 0 copies
 * seed               any
 * words_per_counter  0 or 1: the bits of other frameworks. 4: other bits for a quarter of the arithmetic, with which
 *                    16-bit tensors are as fast as a copy
 * Source: Salmon et al. 2011 (Philox); Triton's tl.rand, and its rand4x for 4 words.
 */
typedef struct hstu_dropout_args {
  size_t struct_size;
  hstu_tensor x, out;
  float ratio;
  int32_t words_per_counter;
  int64_t seed;
} hstu_dropout_args;
HSTU_API hstu_status hstu_dropout(hstu_context* context, const hstu_dropout_args* args, hstu_stream stream);
HSTU_TYPED_PLAN(dropout)

/** The norm inside hstu_norm_mul. */
typedef enum hstu_norm {
  HSTU_NORM_LAYER = 0, /* layer norm */
  HSTU_NORM_RMS = 1,   /* RMS norm: no bias */
  HSTU_NORM_SWISH = 2  /* swish layer norm: attn * sigmoid(layer_norm(attn)) */
} hstu_norm;

/**
 * Which random bits decide over column c of segment s of row r: word and counter of Philox, see hstu_dropout. D is dim,
 * P the smallest power of two that is at least D, S the number of segments; 64-bit counters.
 */
typedef enum hstu_dropout_stream {
  HSTU_DROPOUT_COMPAT = 0, /* word 0 of 3 P r + D s + c; under group norm of S D r + D s + c */
  HSTU_DROPOUT_FAST = 1,   /* word s of 3 P r + c */
  HSTU_DROPOUT_MASKS = 2,  /* word r % 4 of S P (r / 4) + P (S - 1 - s) + c */
  HSTU_DROPOUT_ROWS = 3    /* word 0 of P r + D s + c */
} hstu_dropout_stream;

/**
 * The HSTU output stage before its projection: t = norm(attn), out = dropout([u' | attn | act(u) * t]), all in f32,
 * rounded once.
 *
 * attn, u          [rows, dim] f32 or 16-bit, same dtype
 * weight, bias     [dim] (num_groups 0: statistics over the row) or [num_groups] (group norm: statistics over each of
 *                  the num_groups equal parts of a row); f32 or 16-bit, same dtype. Both present, but no bias with RMS.
 * out              [rows, segments * dim], attn's dtype. num_groups 0: a segment u' = silu_u ? silu(u) : u if concat_u,
 *                  a segment attn if concat_x, then the product. Group norm: three segments if both flags are set, else
 *                  one, and u' is the multiplier. Or out is E4M3 or E5M2, as hstu_fp8_gemm takes it: the f32 results,
 *                  not rounded in between, quantised as hstu_quantize_fp8 does with its defaults; fastest with
 *                  HSTU_FP8_ROW without group norm, at most 8192 columns a segment, and lines of whole 4, aligned;
 *                  at most 1024 groups
 * activation       of the multiplier u when num_groups is 0: NONE, SILU, SIGMOID
 * norm             of the row or of each group
 * dropout_ratio    in [0, 1), over all segments; 0, as in inference: none
 * seed             of the dropout, any
 * eps              0 means 1e-5; HSTU_EXACT_ZERO: 0
 * scaling          of an out in FP8: HSTU_FP8_ROW, one scale for all segments of a row, or HSTU_FP8_GROUP, one for 128
 *                  columns, counted from the row's first; else 0
 * descale          present with an out in FP8 only: f32, written, of the shape that `scaling` asks for
 * Source: meta-recsys/generative-recommenders, HSTU output (the DLRM-v3 layer uses concat_u = concat_x = 1); streams:
 * COMPAT and FAST are its row kernels', MASKS its mask kernel's, ROWS that of recsys-examples.
 */
typedef struct hstu_norm_mul_args {
  size_t struct_size;
  hstu_tensor attn, u, weight, bias, out;
  float eps;
  hstu_activation activation;
  int32_t concat_u, concat_x, silu_u;
  int32_t num_groups;
  hstu_norm norm;
  hstu_dropout_stream dropout_stream;
  float dropout_ratio;
  hstu_fp8_scaling scaling;
  int64_t seed;
  hstu_tensor descale;
} hstu_norm_mul_args;
HSTU_API hstu_status hstu_norm_mul(hstu_context* context, const hstu_norm_mul_args* args, hstu_stream stream);
HSTU_TYPED_PLAN(norm_mul)

#ifdef __cplusplus
}
#endif
#endif
