/**
 * FP8: quantisation, its inverse, and matrix products of quantised operands.
 * What all operators have in common stands in hstujit.h.
 *
 * HSTU_DTYPE_E4M3 has no infinity and reaches 448, HSTU_DTYPE_E5M2 reaches 57344. Conversion rounds to nearest even and
 * saturates: finite numbers and infinities beyond the largest value become the largest value, NaN stays NaN.
 *
 * A descale is the f32 factor that turns quantised values back: x = q * descale. One belongs to each "unit", and the
 * tensor of them has one element a unit:
 *
 *   HSTU_FP8_TENSOR  the whole matrix                  [1]
 *   HSTU_FP8_ROW     a row                             [rows]
 *   HSTU_FP8_GROUP   128 columns of a row              [rows, ceil(columns / 128)]
 *   HSTU_FP8_BLOCK   128 rows by 128 columns           [ceil(rows / 128), ceil(columns / 128)]
 *
 * The last group or block of a row, and the last row of blocks, may be smaller. Descales of groups and blocks may have
 * any strides, so that they can be stored transposed.
 * Sources: FBGEMM and DeepGEMM (conventions of scales); NVIDIA PTX ISA (conversions).
 */
#ifndef HSTUJIT_FP8_H
#define HSTUJIT_FP8_H

#include <hstujit/base.h>
#include <hstujit/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hstu_fp8_scaling {
  HSTU_FP8_TENSOR = 0,
  HSTU_FP8_ROW = 1,
  HSTU_FP8_GROUP = 2,
  HSTU_FP8_BLOCK = 3
} hstu_fp8_scaling;

/** Parts into which hstu_fp8_amax divides a matrix. */
#define HSTU_FP8_AMAX_PARTS 256

/**
 * The greatest magnitude of each of 256 parts of a matrix: what hstu_quantize_fp8 needs to scale a tensor as a whole.
 * Part i holds elements [i * s, (i + 1) * s) in row-major order, s = 16 * ceil(rows * columns / 4096); parts without
 * elements give 0, parts with a NaN give NaN.
 *
 * x     [rows, columns] f32 or 16-bit, row stride free
 * amax  [256] f32
 */
typedef struct hstu_fp8_amax_args {
  size_t struct_size;
  hstu_tensor x, amax;
} hstu_fp8_amax_args;
HSTU_API hstu_status hstu_fp8_amax(hstu_context* context, const hstu_fp8_amax_args* args, hstu_stream stream);
HSTU_TYPED_PLAN(fp8_amax)

/**
 * Quantisation to FP8: in each unit, descale = greatest / L and q = round(x * (L / greatest)), with L the largest FP8
 * value and greatest = max(min(greatest magnitude, amax_bound), amin). Quotients and products are f32, each rounded
 * once, so that q has the same bits on every device. NaN in a unit makes its descale and all its elements NaN; an
 * infinity makes the descale infinite.
 *
 * x               [rows, columns] f32 or 16-bit, row stride free
 * q               [rows, columns] E4M3 or E5M2, row stride free
 * descale         f32, written, of the shape that `scaling` asks for
 * amax            HSTU_FP8_TENSOR with a dynamic scale: what hstu_fp8_amax gave for x; its greatest element counts
 * static_descale  HSTU_FP8_TENSOR with a given scale: f32 [1], may be `descale` itself. q = round(x * (1 /
 *                 static_descale)). For HSTU_FP8_TENSOR give one of amax and static_descale, for the others neither
 * scaling         the unit
 * amin            least greatest magnitude, at least 1e-30; 0 means 1e-12; HSTU_EXACT_ZERO: 0, where a unit whose
 *                 quotient L / greatest overflows, of zeros for one, has a descale of 0 and elements of 0
 * amax_bound      greatest magnitudes count as this at most; 0 means no bound
 * power_of_two    1: descale is rounded up to a power of two, and q = round(x * (1 / descale)); not with a static scale
 */
typedef struct hstu_quantize_fp8_args {
  size_t struct_size;
  hstu_tensor x, q, descale, amax, static_descale;
  hstu_fp8_scaling scaling;
  float amin, amax_bound;
  int32_t power_of_two;
} hstu_quantize_fp8_args;
HSTU_API hstu_status hstu_quantize_fp8(hstu_context* context, const hstu_quantize_fp8_args* args, hstu_stream stream);
HSTU_TYPED_PLAN(quantize_fp8)

/** Quantises a tensor as a whole with a dynamic scale: two launches, with args->amax as the memory between them. */
HSTU_API hstu_status hstu_quantize_fp8_dynamic(hstu_context* context, const hstu_quantize_fp8_args* args,
                                               hstu_stream stream);

/**
 * The inverse: x = q * descale, the product in f32 and rounded to x's type.
 *
 * q        [rows, columns] E4M3 or E5M2, row stride free
 * descale  f32, of the shape that `scaling` asks for
 * x        [rows, columns] f32 or 16-bit, row stride free
 * scaling  the unit, one of hstu_fp8_scaling
 */
typedef struct hstu_dequantize_fp8_args {
  size_t struct_size;
  hstu_tensor q, descale, x;
  int64_t scaling;
} hstu_dequantize_fp8_args;
HSTU_API hstu_status hstu_dequantize_fp8(hstu_context* context, const hstu_dequantize_fp8_args* args,
                                         hstu_stream stream);
HSTU_TYPED_PLAN(dequantize_fp8)

/**
 * How the sums of an FP8 product are accumulated where the device multiplies FP8 itself, whose sums keep 14 bits and
 * are cut, not rounded. Relative error by k, without the rounding of results (bf16's alone is 1.7e-3):
 *
 *                             k =            512     1024     4096
 *   HSTU_FP8_ACCUMULATE_128   normal data 1.2e-4, data of one sign 6e-4, whatever k is
 *   HSTU_FP8_ACCUMULATE_FAST  normal data    3.3e-4           1.3e-3
 *                             of one sign    6e-3    1.5e-2   7e-2, all of it too small
 *
 * The default is therefore 128: its error stays far under the rounding of 16-bit results on any data. FAST is for
 * operands of both signs, as after a norm.
 *
 * The error of quantising both operands to E4M3 comes on top. It is the same on every device, and for scales per row,
 * per 128 columns and per block: 3.7e-2 on normal data whatever k is. On data of one sign it is 2.3e-3 at k = 512, and
 * 1.6e-3 at 4096.
 */
typedef enum hstu_fp8_accumulation {
  HSTU_FP8_ACCUMULATE_128 = 0, /**< sums of 128 k are added up in f32 */
  HSTU_FP8_ACCUMULATE_FAST = 1 /**< sums of all of k stay in the tensor cores */
} hstu_fp8_accumulation;

/**
 * Product of FP8 matrices: out = act(descaled(x) descaled(w)^T + bias + residual), all in f32, rounded once.
 *
 * Each operand has its own scaling, of the shape that hstu_quantize_fp8 gives it; w's rows are out's columns. Scales
 * that change along k are applied to sums of at most 128 k, the others at the end. Devices of compute capability 8.9
 * and 9.0 multiply FP8 itself and accumulate as `accumulation` says. On 9.0 they do so for 16-bit and FP8 results,
 * residuals of 16 bits, tensors aligned to 16 bytes (rows of a residual beside FP8 to 32), results in parts of whole 64
 * columns, and scales other than HSTU_FP8_GROUP of w. Other cases, and all other devices, multiply in f16, which holds
 * both formats exactly. The log and hstu-tune say so where they name such a kernel.
 *
 * x                   [m, k] E4M3 or E5M2, row stride free
 * w                   [n, k] E4M3 or E5M2, row stride free
 * x_descale           f32, for x and x_scaling
 * w_descale           f32, for w and w_scaling
 * bias                absent; or [n], a row (f32 or 16-bit)
 * residual            absent; or [m, n] out's dtype, row stride free; it may be out itself when out is all of the
 *                     result. With out in FP8 it is f32 or 16-bit
 * out                 [m, n] f32, 16-bit, E4M3 or E5M2, row stride free
 * accumulation        HSTU_FP8_ACCUMULATE_FAST allows sums of all of k in the tensor cores; without effect where a
 *                     scale changes along k
 * activation          NONE, SILU, GELU or GELU_TANH
 * activation_columns  the activation covers columns [0, activation_columns) only; 0 means all n
 * out1, out2, out3    absent; or [m, n1], [m, n2], [m, n3] of out's dtype, row strides free: out has the first columns
 *                     of the result, out1 the next ones, and so on, n in all
 * out_descale         absent; with out in FP8: f32 [1], for all of the result; out = round(result * (1 / out_descale))
 */
typedef struct hstu_fp8_gemm_args {
  size_t struct_size;
  hstu_tensor x, w, x_descale, w_descale, bias, residual, out;
  hstu_fp8_scaling x_scaling, w_scaling;
  hstu_fp8_accumulation accumulation;
  hstu_activation activation;
  int64_t activation_columns;
  hstu_tensor out1, out2, out3;
  hstu_tensor out_descale;
} hstu_fp8_gemm_args;
HSTU_API hstu_status hstu_fp8_gemm(hstu_context* context, const hstu_fp8_gemm_args* args, hstu_stream stream);
HSTU_TYPED_PLAN(fp8_gemm)

/**
 * The output stage of an HSTU layer as one FP8 product: out = residual + [u | attn | g] descaled(w)^T with g =
 * layer_norm(attn) * u, as hstu_gated_addmm has it. u, attn and g are quantised to E4M3 on their way into the product,
 * and the quantised values are never stored.
 *
 * A row of [u | attn | g] has one scale. It is a power of two, so that it changes no digit. It brings the bound of the
 * row to 128 or more, and below 256. The bound is the greatest of three: of attn |mean| + sqrt(dim) standard
 * deviations; of u four times the greatest |u| of the first 64 or 128 columns; of g (sqrt(dim) max |weight| + max
 * |bias|) times the bound of u. Where a |u| in later columns passes the bound, the scale of the row grows from there
 * on. Values more than 2^13 below the bound lose digits, and beyond 2^17 all of them.
 *
 * Sums of all of k stay in the tensor cores, as with HSTU_FP8_ACCUMULATE_FAST. The relative error, for normal data and
 * dim 512, is 1.6e-2 without the quantisation of w. Nearly all of it is that of u, attn and g. Moments that are not
 * attn's make values saturate.
 *
 * attn, u       [m, dim] f32 or 16-bit, last stride 1
 * moments       f32 [m, parts, 2], contiguous, aligned to 8 bytes: mean, and sum of squared deviations from it, of each
 *               of the equal parts of attn's rows; parts divides dim
 * weight, bias  [dim] of the norm, f32 or 16-bit, of one type
 * w             [n, 3 dim] E4M3, row stride free: the weight as hstu_quantize_fp8 gives it with HSTU_FP8_ROW
 * w_descale     f32 [n]
 * residual      absent; or [m, n] attn's dtype, last stride 1; may be out itself
 * out           [m, n] attn's dtype, last stride 1
 * eps           of the norm; 0 means 1e-5; HSTU_EXACT_ZERO: 0
 *
 * For compute capability 9.0: 16-bit types, weight and bias in f32 or attn's dtype, dim a multiple of 128 from 384 to
 * 1024, n of 256, parts 2, 4, 8 or 16, all of it aligned to 16 bytes. HSTU_ERROR_UNSUPPORTED elsewhere. The device
 * "cpu" takes everything.
 * Source: derived, hstu_norm_mul, hstu_quantize_fp8 and hstu_fp8_gemm fused, as in hstu_gated_addmm.
 */
typedef struct hstu_gated_fp8_gemm_args {
  size_t struct_size;
  hstu_tensor attn, u, moments, weight, bias;
  hstu_tensor w, w_descale, residual, out;
  double eps;
} hstu_gated_fp8_gemm_args;
HSTU_API hstu_status hstu_gated_fp8_gemm(hstu_context* context, const hstu_gated_fp8_gemm_args* args,
                                         hstu_stream stream);
HSTU_TYPED_PLAN(gated_fp8_gemm)

#ifdef __cplusplus
}
#endif
#endif
