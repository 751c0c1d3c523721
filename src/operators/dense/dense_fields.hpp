// Key fields of the dense products: indices into Problem::field, in the order of fields_of(op).
#pragma once

namespace hstujit {

namespace addmm {
enum : int {
  kDtype,
  kN,
  kK,
  kBias /* 0 none, 1 row, 2 residual */,
  kBiasDtype,
  kActivation,
  kActColumns,
  kXTransposed /* stored [k, m] */,
  kWeightTransposed /* stored [n, k] */,
  kVectorX /* 0: contiguous along neither dimension */,
  kVectorW,
  kVectorZ /* z and residual y */,
  kGatherY /* elements of y's rows lie apart */,
  kAllowTf32,
  kSplit /* the power of two, 64 at most, that cuts the result into z, z1, ...; 0: z is all of it */,
  kZDtype /* in FP8; NONE where z has x's */,
  kM
};
}
namespace gated_mlp {
enum : int {
  kDtype,
  kN,
  kK,
  kActivation /* hstu_activation */,
  kActivateGate,
  kXTransposed,
  kWeightTransposed /* gate and up stored [n, k] */,
  kVectorX,
  kVectorW /* gate and up; 0: contiguous along neither dimension, or not both along the same */,
  kVectorOut,
  kAllowTf32,
  kOutDtype /* in FP8; NONE where out has x's */,
  kM
};
}
namespace gated_addmm {
enum : int {
  kDtype,
  kWeightDtype,
  kDim,
  kN,
  kParts,
  kResidual /* 0|1 */,
  kWeightTransposed /* w stored [n, k] */,
  kVector /* attn, u, weight, bias, x and out */,
  kVectorW,
  kM
};
}
namespace norm_addmm {
enum : int {
  kDtype,
  kWeightDtype /* of the norm */,
  kN,
  kK,
  kBias /* 0 none, 1 row */,
  kBiasDtype,
  kActivation,
  kActColumns,
  kWeightTransposed /* w stored [n, k] */,
  kVector /* x, z and the norm's weight and bias */,
  kVectorW,
  kSplit /* as addmm's */,
  kM
};
}

}  // namespace hstujit
