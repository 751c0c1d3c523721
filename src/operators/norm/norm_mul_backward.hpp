// The key of norm_mul_backward, its workspace, and how exact its sums can be.
#pragma once

#include "operators/norm/layer_norm_backward.hpp"

#include <algorithm>

namespace hstujit {

#define HSTUJIT_NORM_MUL_BACKWARD_FIELDS(X)                                              \
  X(kDtype, dtype, dtype)                                                                \
  X(kWeightDtype, weight_dtype, dtype)                                                   \
  X(kGradientDtype, gradient_dtype, dtype) /* of dweight and dbias; NONE without both */ \
  X(kDim, dim, exact)                                                                    \
  X(kGroups, groups, exact) /* 0 layer norm */                                           \
  X(kActivation, activation, exact)                                                      \
  X(kConcatU, concat_u, exact)                                                           \
  X(kConcatX, concat_x, exact)                                                           \
  X(kSiluU, silu_u, exact)                                                               \
  X(kNorm, norm, exact)       /* hstu_norm */                                            \
  X(kDropout, dropout, exact) /* 0 none, else 1 + hstu_dropout_stream */                 \
  X(kParts, parts, exact)     /* of moments; 0 without */                                \
  X(kHasDattn, has_dattn, exact)                                                         \
  X(kHasDu, has_du, exact)                                                               \
  X(kHasDweight, has_dweight, exact)                                                     \
  X(kHasDbias, has_dbias, exact)                                                         \
  X(kHasOut, has_out, exact)                                                             \
  X(kVector, vector, exact)                                                              \
  X(kRows, rows, bucket)
HSTUJIT_KEY_FIELDS(norm_mul_backward, HSTUJIT_NORM_MUL_BACKWARD_FIELDS)

namespace norm_mul_backward {

using layer_norm_backward::kMostBlocks;
using layer_norm_backward::padded;

/// Each team of threads has one group of all its rows, so there are as many teams as groups or more.
constexpr int32_t kMostGroups = 1024;

}  // namespace norm_mul_backward

namespace reference {

SizesOfTerms sizes_of_terms(const hstu_norm_mul_backward_args& args);

}  // namespace reference
}  // namespace hstujit
