// The key of norm_mul, and what its gradient shares: checks, and parts of the reference.
#pragma once

#include "operators/checks.hpp"
#include "operators/key_fields.hpp"
#include "operators/norm/norm_rows.hpp"

#include <string_view>

namespace hstujit {

#define HSTUJIT_NORM_MUL_FIELDS(X)                                       \
  X(kDtype, dtype, dtype)                                                \
  X(kWeightDtype, weight_dtype, dtype)                                   \
  X(kFp8, fp8, dtype) /* of out; or none */                              \
  X(kScaling, scaling, exact)                                            \
  X(kDim, dim, exact)                                                    \
  X(kGroups, groups, exact) /* 0 layer norm */                           \
  X(kActivation, activation, exact)                                      \
  X(kConcatU, concat_u, exact)                                           \
  X(kConcatX, concat_x, exact)                                           \
  X(kSiluU, silu_u, exact)                                               \
  X(kNorm, norm, exact)       /* hstu_norm */                            \
  X(kDropout, dropout, exact) /* 0 none, else 1 + hstu_dropout_stream */ \
  X(kVector, vector, exact)                                              \
  X(kRows, rows, bucket)
HSTUJIT_KEY_FIELDS(norm_mul, HSTUJIT_NORM_MUL_FIELDS)

namespace norm_mul {

constexpr std::string_view kNormWords[] = {"layer", "rms", "swish"};
constexpr std::string_view kStreamWords[] = {"compat", "fast", "masks", "rows"};

/// u, like attn.
checks::Tensor check_u(hstu_norm_mul_args& args, const checks::Tensor& attn);
/// Flags that do nothing are cleared, so that equal work has one key.
void check_flags(hstu_norm_mul_args& args);
/// Length of the part of a row that has statistics of its own.
int64_t normed_length(const hstu_norm_mul_args& args, int64_t dim);
/// A matrix of all segments.
void check_segments(const checks::Tensor& matrix, const hstu_norm_mul_args& args, const checks::Tensor& attn);
/// weight, and bias unless the norm has none.
void check_weights(hstu_norm_mul_args& args, const checks::Tensor& attn, const checks::Tensor& out);

/// Segments of a row of out.
inline int segments_of(const hstu_norm_mul_args& args) { return 1 + args.concat_u + args.concat_x; }

}  // namespace norm_mul

namespace reference {

/// x, a segment of a row, through dropout.
void drop(Row& x, const hstu_norm_mul_args& args, int64_t row, int64_t segment, int64_t segments);

}  // namespace reference

}  // namespace hstujit
