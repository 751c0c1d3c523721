// The key of addmm_wgrad, its workspace, and how exact its sums can be.
#pragma once

#include "operators/key_fields.hpp"

#include <hstujit/hstujit.h>

#include <cstdint>
#include <vector>

namespace hstujit {

#define HSTUJIT_ADDMM_WGRAD_FIELDS(X)                                                \
  X(kDtype, dtype, dtype)                                                            \
  X(kGradientDtype, gradient_dtype, dtype) /* of dw; NONE without it */              \
  X(kBiasDtype, bias_dtype, dtype)         /* of dbias; NONE without it */           \
  X(kN, n, exact)                                                                    \
  X(kK, k, exact)                                                                    \
  X(kTransposed, transposed, exact)   /* dw is [n, k] */                             \
  X(kXAlongRows, x_along_rows, exact) /* contiguous along m, or gathered */          \
  X(kDoutAlongRows, dout_along_rows, exact)                                          \
  X(kVectorX, vector_x, exact) /* 0: contiguous along neither dimension; 0 unread */ \
  X(kVectorDout, vector_dout, exact)                                                 \
  X(kVectorDw, vector_dw, exact)                                                     \
  X(kAllowTf32, allow_tf32, exact)                                                   \
  X(kM, m, bucket)
HSTUJIT_KEY_FIELDS(addmm_wgrad, HSTUJIT_ADDMM_WGRAD_FIELDS)

namespace addmm_wgrad {

/// Parts of the rows, each with sums of its own, at most; of at least so many rows.
constexpr int64_t kMostParts = 64, kLeastRows = 256;
/// The same of the bias alone, whose sums are few.
constexpr int64_t kMostBiasParts = 256, kLeastBiasRows = 64;
/// The largest tile's side: to multiples of it are sums padded that lie in the workspace.
constexpr int64_t kLargestTile = 256;

/// Parts that the rows of a product may be cut into, on any device and in any configuration: so many have a place in
/// the workspace.
int64_t most_parts(int64_t m, int64_t k, int64_t n);
/// The same where the bias is all that is asked for.
int64_t most_bias_parts(int64_t m);

}  // namespace addmm_wgrad

namespace reference {

/// Row-major in the shapes of dw and dbias, the roots of the sums of the squares of what they add up: what they can be
/// wrong by. Empty where they are absent.
struct WgradSizes {
  std::vector<double> dw, dbias;
};
WgradSizes sizes_of_terms(const hstu_addmm_wgrad_args& args);

}  // namespace reference
}  // namespace hstujit
