// The key of layer_norm_backward, its workspace, and how exact its sums can be.
#pragma once

#include "norm/layer_norm_bwd.h"
#include "operators/key_fields.hpp"
#include "support/ceil_div.hpp"

#include <hstujit/hstujit.h>

#include <cstdint>
#include <vector>

namespace hstujit {

#define HSTUJIT_LAYER_NORM_BACKWARD_FIELDS(X)                                            \
  X(kDtype, dtype, dtype)                                                                \
  X(kWeightDtype, weight_dtype, dtype)                                                   \
  X(kGradientDtype, gradient_dtype, dtype) /* of dweight and dbias; NONE without both */ \
  X(kHasMoments, has_moments, exact)                                                     \
  X(kHasDresidual, has_dresidual, exact)                                                 \
  X(kHasDx, has_dx, exact)                                                               \
  X(kHasDweight, has_dweight, exact)                                                     \
  X(kHasDbias, has_dbias, exact)                                                         \
  X(kDim, dim, exact)                                                                    \
  X(kVector, vector, exact)                                                              \
  X(kRows, rows, bucket)
HSTUJIT_KEY_FIELDS(layer_norm_backward, HSTUJIT_LAYER_NORM_BACKWARD_FIELDS)

namespace layer_norm_backward {

/// Of a launch, on any device: the workspace holds sums of as many.
constexpr int64_t kMostBlocks = 1056;
/// Columns of a block's sum, padded to whole lines.
constexpr int64_t padded(int64_t dim) { return ceil_div(dim, hstu::kPartialsLine) * hstu::kPartialsLine; }

}  // namespace layer_norm_backward

namespace reference {

/// Of each column, the roots of the sums of the squares of what dweight and dbias add up: what they can be wrong by.
struct SizesOfTerms {
  std::vector<double> dweight, dbias;
};
SizesOfTerms sizes_of_terms(const hstu_layer_norm_backward_args& args);

}  // namespace reference
}  // namespace hstujit
