/**
 * Dense matrix products.
 * What all operators have in common stands in hstujit.h.
 */
#ifndef HSTUJIT_DENSE_H
#define HSTUJIT_DENSE_H

#include <hstujit/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Matrix product with bias: z = act(x w + y), accumulated, biased and activated in f32, rounded once.
 *
 * x                   [m, k] 16-bit (f32 also on "cpu"), last stride 1
 * w                   [k, n] same dtype; strides (s, 1), or (1, s) for a weight stored [n, k]
 * y                   absent; or [n], a bias row (f32 or 16-bit); or [m, n], a residual (x's dtype); y may be z itself
 * z                   [m, n] x's dtype
 * activation          NONE or SILU
 * activation_columns  the activation covers columns [0, activation_columns) only; 0 means all n
 */
typedef struct hstu_addmm_args {
  size_t struct_size;
  hstu_tensor x, w, y, z;
  hstu_activation activation;
  int64_t activation_columns;
} hstu_addmm_args;
HSTU_API hstu_status hstu_addmm(hstu_context* context, const hstu_addmm_args* args, hstu_stream stream);

#ifdef __cplusplus
}
#endif
#endif
