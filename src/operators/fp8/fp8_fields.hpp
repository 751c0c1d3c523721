// Key fields of the FP8 operators: indices into Problem::field, in the order of fields_of(op).
#pragma once

namespace hstujit {

namespace fp8_amax {
enum : int { kDtype, kColumns, kVector, kDense /* rows lie one behind another */, kRows };
}
namespace quantize_fp8 {
enum : int {
  kDtype,
  kFp8,
  kScaling /* hstu_fp8_scaling */,
  kColumns,
  kVector /* elements: up to 32 bytes of x */,
  kStatic,
  kPowerOfTwo,
  kRows
};
}
namespace dequantize_fp8 {
enum : int { kDtype, kFp8, kScaling, kColumns, kVector, kRows };
}
namespace fp8_gemm {
enum : int {
  kDtype /* of out */,
  kDtypeA,
  kDtypeB,
  kN,
  kK,
  kScalingA /* hstu_fp8_scaling */,
  kScalingB,
  kBias /* 0 none, 1 row, 2 residual */,
  kBiasDtype /* NONE without bias */,
  kActivation,
  kActColumns,
  kVectorA /* bytes, up to 16 */,
  kVectorB,
  kVectorOut /* all of out and a residual */,
  kFast /* sums of all of k may stay in the tensor cores */,
  kSplit /* as addmm's */,
  kM
};
}
namespace gated_fp8_gemm {
enum : int {
  kDtype,
  kWeightDtype,
  kDim,
  kN,
  kParts,
  kResidual /* 0|1 */,
  kVector /* attn, u, weight, bias, x and out */,
  kVectorW /* bytes, up to 16 */,
  kM
};
}

}  // namespace hstujit
